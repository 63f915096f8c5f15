-- schema: 0001_schema.sql
-- Written by `python -m tests.upgrade.record`.
SET session_replication_role = replica;
CREATE TABLE chunks_1 PARTITION OF chunks FOR VALUES IN (1);
CREATE INDEX chunks_1_graph ON public.chunks_1 USING hnsw (((dense)::halfvec(32)) halfvec_cosine_ops) WITH (m='24', ef_construction='128') WHERE (vector_dims(dense) = 32);
CREATE INDEX chunks_1_terms ON public.chunks_1 USING gin (lexical_terms(lexical)) WITH (fastupdate=off);
DELETE FROM asked_questions;
DELETE FROM audiences;
INSERT INTO audiences (audience_key, tenant, allowed_tokens) OVERRIDING SYSTEM VALUE VALUES
('1', 'acme', '{tenant,owner:ada}'),
('10', 'beta', '{tenant,owner:bea}'),
('11', 'acme', '{tenant}'),
('2', 'acme', '{public,owner:ada}'),
('3', 'acme', '{user:ada,owner:ada}'),
('4', 'acme', '{group:crew,owner:ada}'),
('5', 'acme', '{group:sales,owner:ada}'),
('6', 'acme', '{user:ana,owner:ana}'),
('7', 'acme', '{user:ana,user:ben,owner:ana}'),
('8', 'beta', '{owner:bea}'),
('9', 'beta', '{public,owner:bea}');
DELETE FROM audit_log;
INSERT INTO audit_log (tenant, number, at, subject, key_id, action, target, details, nonce, hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '1', '2026-11-27 05:24:11.671424+00', NULL, 'operator', 'tenant.create', 'acme', '{}', '9251b15a-6fca-43a8-9619-9448a1396a23', E'\\xc132b2e85771dd9ff045e1daead4f1bc469b1612a6286d6d0d67ec20f8a3e9d2'),
('acme', '10', '2026-11-27 05:24:12.15584+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"salaries": "added"}}', 'bc54c549-e86f-4868-9198-1e26fc1ab060', E'\\x680cf9a2cf893085302755f8100e0d7ad668d08bf5c51180656603e3feb6c77b'),
('acme', '11', '2026-11-27 05:24:12.20957+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"pump": "added"}}', '191efb3c-9cc8-4e23-ae0a-42fcf06fc154', E'\\x5461d171dc926d3835bcf03b0193b092dd04e5b06cac9aa79fe27c177aa42f36'),
('acme', '12', '2026-11-27 05:24:12.259917+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log1": "added"}}', '996e8999-9507-419c-990b-850ef7768004', E'\\xd9a8615df846bd9c07b1d79f152ffc7ec966769893ec0a1da201309edd8571d6'),
('acme', '13', '2026-11-27 05:24:12.307238+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log2": "added"}}', '6d0887e0-2032-498c-aa39-255da9e2a7b6', E'\\x46eb88c8d442e4fed9d8ac6589e405d754a07bab830cb6a29e8c696c5c6e2f50'),
('acme', '14', '2026-11-27 05:24:12.352605+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log3": "added"}}', '9fd20f2a-f4b7-44e0-b3f6-2eb1f42a3a03', E'\\x8ca6ae6b8cdf1db0be307ff6aab87595863afba7bfcc2b97056ae361620fbeee'),
('acme', '15', '2026-11-27 05:24:12.396038+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log4": "added"}}', 'c4397476-12a6-4af9-9a4d-f1a567cf356c', E'\\x25a3915bd2e7fb1032fccbf06d388709e2224377d94910576c04d300cd4a4cc5'),
('acme', '16', '2026-11-27 05:24:12.44397+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log5": "added"}}', '52b79d23-cbce-4464-a69c-e6bec5b5bd3f', E'\\x7b0a091a147d203550af9f9378f874fa30d2b1ea9037b9f4b4d866cd080fe28e'),
('acme', '17', '2026-11-27 05:24:12.504601+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log6": "added"}}', '10ff796a-40ec-47ae-ab19-25291c5a3c44', E'\\xd10b4f4e808d2f19dbf3a0519c3ce3584e18fe96504d6d4f39cbb9509df7677b'),
('acme', '18', '2026-11-27 05:24:12.560649+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log7": "added"}}', '01db11fb-8b8d-4e4f-9d18-ebc0f86e38c3', E'\\x7f1613af3d1e3016fbd3fad245dd1757d0ac9329f51e0679a6b5f3853e6e1866'),
('acme', '19', '2026-11-27 05:24:12.610701+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"log8": "added"}}', '4c35d078-1f06-4c16-b1db-ecf6e8579b90', E'\\x1ad95e543d72c5bcaf124716f205acc55db3eae7d8440b08458f00ec26ca880d'),
('acme', '2', '2026-11-27 05:24:11.706996+00', NULL, 'operator', 'key.create', 'key_39e6af903585a94b', '{"roles": ["reader", "writer", "admin", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', '36f91a3f-711d-41bb-91a3-62c31cf29c36', E'\\xa3d3c9b44eae7411a7aa0c3a929901bed7a15e86d44362593938f6190baa53d8'),
('acme', '20', '2026-11-27 05:24:12.668614+00', 'ana', 'key_8cf16ae7b1a1b222', 'documents.write', '', '{"documents": {"notes": "added"}}', 'd4b34902-3edc-4dc1-b92c-f83c6b1bf0b0', E'\\x0e896515312629f0e48fbbb39f5db07e5e1221c7f0e4b7f183aa2a5d794e56b0'),
('acme', '21', '2026-11-27 05:24:12.732611+00', 'ana', 'key_8cf16ae7b1a1b222', 'documents.write', '', '{"documents": {"list": "added"}}', '6ea32c9c-be83-4821-a4a8-bc8422ed363b', E'\\x308aab64c55d58ae46bda90b584d16f3054669769390a864091c2ecb92563182'),
('acme', '22', '2026-11-27 05:24:13.049183+00', 'ana', 'key_8cf16ae7b1a1b222', 'documents.write', '', '{"documents": {"notes": "changed"}}', '202917fa-0fc4-4b7e-aa65-e5764a27876b', E'\\xf3569d14904106d8eb2186540f623e4f4d42045473fc12110aad325806cb284f'),
('acme', '23', '2026-11-27 05:24:13.081098+00', 'ada', 'key_39e6af903585a94b', 'documents.remove', '', '{"documents": {"log8": "removed"}}', '9cda714d-4c8f-4dd4-8af4-61ec4a9f3c1e', E'\\x6dcf95bda8529fcb3d3bbee1c6cb324a26d7bba4b66334cf643b569489a546e8'),
('acme', '24', '2026-11-27 05:24:13.158182+00', NULL, 'operator', 'key.create', 'key_95e3333a7319e850', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', '5827c6c1-a882-4d51-9064-de8da83bd827', E'\\x30b92c34228da0c8ad6b1033b606a6db66c8258243b54425ba40f58158045e8e'),
('acme', '25', '2026-11-27 05:24:13.173996+00', 'receiving-admin', 'key_95e3333a7319e850', 'receives_public.put', 'acme', '{"receives_public": true}', 'd6f8d80c-18ff-494e-a623-c8423454b2f2', E'\\x67faf2947d1f7bb96167327c1e997e607d593a0793ed8ae5219d6311c164442d'),
('acme', '26', '2026-11-27 05:24:13.413078+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', '99d8aed7-123c-47b3-af91-48535c6f04d1', E'\\xd6641515e9f9370cc2647f96eefc13aa92952847f2e9b7bf536d5b700bc4d802'),
('acme', '3', '2026-11-27 05:24:11.725273+00', NULL, 'operator', 'key.create', 'key_8cf16ae7b1a1b222', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', 'fbe14a9d-7fee-4760-970d-ac7a9dc7b684', E'\\x7ba86aca30e71e8aadb3b3a5afeccfa2b4cd3855a8983b1dc09aa64333c22439'),
('acme', '4', '2026-11-27 05:24:11.740594+00', NULL, 'operator', 'key.create', 'key_4663edd1686af7e1', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', '33f16335-b2c9-4c26-bd3a-a50f21d1b1a9', E'\\xc1ba6db81b0b331fd04a969a6230f77f1237be63fe435910febae4cc6ba710a6'),
('acme', '5', '2026-11-27 05:24:11.794057+00', 'ada', 'key_39e6af903585a94b', 'member.add', 'crew', '{"member": "ana"}', 'cf1a17ef-a780-4e19-becd-2d9e4e62251a', E'\\x9931b03e09c3ca2dae79f6f12c331d2a93cea4229d1f76a72375112ac06778cd'),
('acme', '6', '2026-11-27 05:24:11.850576+00', 'ada', 'key_39e6af903585a94b', 'confidence.put', 'acme', '{"sources": {"log": 0.95}, "score_min": 0.1}', 'ba6afa05-3466-47e8-982d-3a6cac9a4749', E'\\x320c45a71b6a3e4cb3232c97d7a4ab43183242108170d6382c949e2b57acff59'),
('acme', '7', '2026-11-27 05:24:11.905779+00', 'ada', 'key_39e6af903585a94b', 'gate.put', 'lamps', '{"custom": true}', '5d6c819d-317c-4b1f-bccf-91bb12969271', E'\\xba225f9bfcbd41b5461a73adbe9db6096afc09f2c1cb06a266f50de5112a5144'),
('acme', '8', '2026-11-27 05:24:12.032668+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"guide": "added"}}', '0718a8e1-17ec-42fa-9fd2-141b3df37911', E'\\x8d51ddb37069593130a91291aa08fa87a02f692108482b75c9b65fa3a3d456da'),
('acme', '9', '2026-11-27 05:24:12.101181+00', 'ada', 'key_39e6af903585a94b', 'documents.write', '', '{"documents": {"prices": "added"}}', '3491d934-5ae2-4e2e-9362-3a34d9c362e5', E'\\x624b1a6f961e962b29e1d2a271357432ca3eb1bf5084a65ea2d4bc0890ceace3'),
('beta', '1', '2026-11-27 05:24:11.685366+00', NULL, 'operator', 'tenant.create', 'beta', '{}', 'bd1fdffd-63b6-4ac2-83c2-a1620cc7f948', E'\\xab1ebf50593b02bfdb7b2500cce100999c489001bf4aef6ba1bfa35791489264'),
('beta', '2', '2026-11-27 05:24:11.753297+00', NULL, 'operator', 'key.create', 'key_fbe4cca5696efd3b', '{"roles": ["reader", "writer", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', 'd3060ff8-1799-4f73-939a-66bac180be4b', E'\\x3b5ca29e52ed5a8a7de2268f330daab946f36eea6b1b584006870ec15db5f4e2'),
('beta', '3', '2026-11-27 05:24:12.850623+00', 'bea', 'key_fbe4cca5696efd3b', 'documents.write', '', '{"documents": {"harbour": "added"}}', 'ffda88c5-2e96-476b-82b2-fffd3863efb9', E'\\x4284148c6842f98efdef2f4f6bbef371ab6df3971470cc631eb74a3f0898a70e'),
('beta', '4', '2026-11-27 05:24:12.921242+00', 'bea', 'key_fbe4cca5696efd3b', 'documents.write', '', '{"documents": {"tides": "added"}}', '31b00025-1bca-4f8b-a974-0d253dd32efa', E'\\x2fc53ed204aadb9b2d4d20a3d14b75823c9bcd672b092ed6af95d0f413574630'),
('beta', '5', '2026-11-27 05:24:12.992533+00', 'bea', 'key_fbe4cca5696efd3b', 'documents.write', '', '{"documents": {"boats": "added"}}', '82759929-e0a8-43d1-b45a-adfc947106f7', E'\\x2fc1b610959c927e16237a99e2a418b764c858899fb0e6e46dc3e8f04adb4069'),
('beta', '6', '2026-11-27 05:24:13.186144+00', NULL, 'operator', 'key.create', 'key_15173c950998d42b', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', 'cacd6ac2-2a3a-41cd-80ff-2e5f9826d52a', E'\\x65dd90df08f90f1e10126ef32e070ec0e04493712ac1f9cb1d613957138f0439'),
('beta', '7', '2026-11-27 05:24:13.199878+00', 'receiving-admin', 'key_15173c950998d42b', 'receives_public.put', 'beta', '{"receives_public": true}', 'dc07a3f1-7a82-4749-b54b-afd1035f00c5', E'\\xc66f910b27b3b2f83024edad5d6296a79b38176868d230c0af1674fae8fd06d7');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '26', E'\\xd6641515e9f9370cc2647f96eefc13aa92952847f2e9b7bf536d5b700bc4d802', '0', E'\\x'),
('beta', '7', E'\\xc66f910b27b3b2f83024edad5d6296a79b38176868d230c0af1674fae8fd06d7', '0', E'\\x');
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-27 05:24:12.441968+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-27 05:24:12.485265+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-27 05:24:12.540503+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-27 05:24:12.597254+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-27 05:24:12.65627+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-27 05:24:12.718523+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-27 05:24:13.042287+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-27 05:24:13.068469+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{18}', '{}', '2026-11-27 05:24:13.372878+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-27 05:24:13.488681+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-27 05:24:11.964524+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-27 05:24:12.077363+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-27 05:24:12.138735+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-27 05:24:12.198135+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-27 05:24:12.257158+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-27 05:24:12.282865+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-27 05:24:12.341896+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-27 05:24:12.393372+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-27 05:24:12.825683+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-27 05:24:12.905213+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-27 05:24:12.990117+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-27 05:24:12.077363+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-27 05:24:12.905213+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-27 05:24:13.488681+00');
DELETE FROM chunk_partitions;
INSERT INTO chunk_partitions (partition_no, tenant, dimensions) OVERRIDING SYSTEM VALUE VALUES
('0', NULL, NULL),
('1', 'acme', '32');
DELETE FROM chunk_texts;
INSERT INTO chunk_texts (chunk_id, document_key, digest, start_at, end_at, text) OVERRIDING SYSTEM VALUE VALUES
('1', '1', E'\\x57577cfe39d3240f3bb05979bbb5e6c9', '0', '101', '# Lighthouse guide

The lighthouse stands on the northern cliff. Its lamp turns every twelve seconds.'),
('10', '8', E'\\x040f1320ce440c204d8dcbafddd1642e', '0', '68', 'Log of day 4: the lamp burned 9 hours, and the horn sounded 4 times.'),
('11', '9', E'\\xd8e32dfa8bac52de54904d23f49656c9', '0', '69', 'Log of day 5: the lamp burned 10 hours, and the horn sounded 5 times.'),
('12', '10', E'\\xdbc7fed0132717afbdce6b99b9db7095', '0', '69', 'Log of day 6: the lamp burned 11 hours, and the horn sounded 6 times.'),
('13', '11', E'\\xbc9493a472df2b9a6cf9f7822b2c67a4', '0', '69', 'Log of day 7: the lamp burned 12 hours, and the horn sounded 7 times.'),
('16', '14', E'\\xeaccc0414f891d51f58ae303c4b97d0b', '0', '30', 'Vinegar, soft cloth, lamp oil.'),
('17', '15', E'\\x10ca478a000b981d3927e5ecd847275a', '0', '63', 'The harbour opens at dawn, before the lighthouse lamp goes out.'),
('18', '16', E'\\xaa9e3cd9c16d5feeed3e2f94dbe2f895', '0', '47', 'Tides are public knowledge: see the lighthouse.'),
('19', '17', E'\\x7072758e3723336f585d0b59ee7fbda3', '0', '27', 'Boats need a permit in fog.'),
('2', '1', E'\\x226f53ec400d50b21db2e3c1608f9b5f', '103', '214', '## Cleaning the lens

Clean the lens with soft cloth and vinegar. The keeper writes each cleaning into the log.'),
('20', '13', E'\\x19048a5ffb0e874f8aad5f206775e1bd', '0', '55', 'Ask the harbour master for a new lens and a brass lamp.'),
('21', '18', E'\\xe951789b77a1895b0b669ea53f74c763', '0', '34', 'Fog is expected at the lighthouse.'),
('3', '1', E'\\x577778497608bde9476504f340d6be70', '216', '321', '## Fog signals

In fog the horn sounds twice a minute. The horn needs compressed air from the pump house.'),
('4', '2', E'\\xc5d502e7a467aea90743a1471c44b673', '0', '48', 'Tickets for the lighthouse tour cost nine euros.'),
('5', '3', E'\\xde6b704575c17d7416e5705d2ebda695', '0', '54', 'The keeper''s salary rises with each year on the cliff.'),
('6', '4', E'\\xecc8341a8494807b853e90b7285824d9', '0', '58', 'Nach dem Nebel werden die Pumpen im Maschinenhaus geprüft.'),
('7', '5', E'\\xb829e1e7b96b5d64cd790e7902aaf86d', '0', '68', 'Log of day 1: the lamp burned 6 hours, and the horn sounded 1 times.'),
('8', '6', E'\\x12aa0a82a09c8a3ae55264f2ee686410', '0', '68', 'Log of day 2: the lamp burned 7 hours, and the horn sounded 2 times.'),
('9', '7', E'\\x525e4218a7ddcc32c0f2afcbb74a75d4', '0', '68', 'Log of day 3: the lamp burned 8 hours, and the horn sounded 3 times.');
DELETE FROM chunks;
INSERT INTO chunks (partition_no, chunk_id, tenant, document_key, dense, lexical) OVERRIDING SYSTEM VALUE VALUES
('0', '17', 'beta', '15', '[0.25,0.25,0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0,0,0.25,0,0,0.25,0,0,0.25,0,0,0,0,0,0,0.25,0,0.25,0]', '{92507011:1.459854,194283843:1.459854,212648460:1.459854,385373542:1.459854,445327439:1.459854,805667258:1.459854,817901871:1.459854,836452582:1.459854,967075720:1.459854}/1000000000'),
('0', '18', 'beta', '16', '[0.25,0.25,0,0,0,0,0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0,0,0,0,0,0,0.25,0.25]', '{116458014:1.4742014,194283843:1.4742014,536759643:1.4742014,581773585:1.4742014,610372436:1.4742014,935189532:1.4742014}/1000000000'),
('0', '19', 'beta', '17', '[0,0,0.25,0.25,0,0.25,0,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0,0.25,0,0.25,0.25,0,0.25,0,0,0,0.25,0.25,0,0,0]', '{102115326:1.4778326,482434918:1.4778326,690376031:1.4778326,781281790:1.4778326}/1000000000'),
('1', '1', 'acme', '1', '[0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0,0]', '{98951602:1.438849,115926766:1.438849,194283843:1.6610274,304832929:1.438849,382538404:1.438849,441687500:1.438849,445327439:1.438849,533734395:1.438849,534527679:1.438849,715989878:1.438849,819937956:1.5992892,968289718:1.438849}/1000000000'),
('1', '10', 'acme', '8', '[0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0.25,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,828332147:1.4457831,921269338:1.6035634}/1000000000'),
('1', '11', 'acme', '9', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,840549211:1.4457831,974816427:1.6035634}/1000000000'),
('1', '12', 'acme', '10', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0.25,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,764166510:1.4457831,990539103:1.6035634}/1000000000'),
('1', '13', 'acme', '11', '[0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0.25,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,794375235:1.6035634,868429517:1.4457831}/1000000000'),
('1', '16', 'acme', '14', '[0.25,0.25,0.25,0.25,0,0,0,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0.25,0,0,0,0.25,0.25,0,0,0,0,0,0,0.25,0,0.25]', '{81394927:1.4814814,368287765:1.4814814,445327439:1.4814814,465380122:1.4814814,601650979:1.4814814}/1000000000'),
('1', '2', 'acme', '1', '[0.25,0.25,0,0,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0.25,0,0.25,0,0,0.25,0,0,0,0.25,0,0,0.25,0.25,0.25,0,0.25,0.25,0]', '{19658399:1.4184397,81394927:1.4184397,190004827:1.4184397,194283843:1.586602,210352171:1.4184397,368287765:1.4184397,463738234:1.4184397,465380122:1.4184397,765044990:1.4184397,819937956:1.586602,913226580:1.4184397,936994680:1.6518813,995122589:1.586602}/1000000000'),
('1', '20', 'acme', '13', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0,0,0.25,0.25]', '{44087590:1.4563106,118130771:1.4563106,445327439:1.4563106,470979025:1.4563106,625928187:1.4563106,836452582:1.4563106,853566424:1.4563106,995122589:1.4563106}/1000000000'),
('1', '21', 'acme', '18', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0.25,0,0,0,0,0.25,0,0.25,0.25]', '{100738446:1.4778326,194283843:1.4778326,212648460:1.4778326,326575024:1.4778326,690376031:1.4778326}/1000000000'),
('1', '3', 'acme', '1', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0,0.25,0,0,0.25,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0]', '{3450694:1.4184397,100927274:1.4184397,194283843:1.586602,455296186:1.4184397,467992172:1.4184397,482434918:1.4184397,496024817:1.586602,539698964:1.4184397,546434641:1.4184397,690376031:1.586602,696242393:1.4184397,819937956:1.586602,841669259:1.4184397,882067793:1.4184397}/1000000000'),
('1', '4', 'acme', '2', '[0.25,0,0,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0,0.25,0,0,0,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0]', '{66361589:1.4705882,118130771:1.4705882,194283843:1.4705882,573201030:1.4705882,609853339:1.4705882,864969121:1.4705882,901190821:1.4705882}/1000000000'),
('1', '5', 'acme', '3', '[0,0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0.25,0,0,0,0.25,0.25,0.25,0.25,0.25,0,0,0,0,0,0.25,0,0.25,0.25,0,0,0.25,0]', '{7923868:1.459854,19658399:1.459854,183598102:1.459854,190004827:1.459854,342868277:1.459854,382538404:1.459854,483152424:1.459854,715989878:1.459854,765044990:1.459854}/1000000000'),
('1', '6', 'acme', '4', '[0.25,0,0.25,0.25,0.25,0,0,0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0,0.25,0.25,0,0.25,0,0,0,0,0,0,0.25,0]', '{95368019:1.4669926,111013059:1.4669926,141324820:1.4669926,164250032:1.4669926,270171679:1.4669926,512039095:1.4669926,901295199:1.4669926,955825322:1.4669926}/1000000000'),
('1', '7', 'acme', '5', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0.25,0,0,0,0,0,0.25,0.25,0.25,0,0.25,0]', '{12567219:1.4457831,198328247:1.6035634,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,990539103:1.4457831}/1000000000'),
('1', '8', 'acme', '6', '[0.25,0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,76764841:1.6035634,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,794375235:1.4457831}/1000000000'),
('1', '9', 'acme', '7', '[0.25,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0,0,0.25,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,102794358:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,543620244:1.6035634,667486296:1.4457831}/1000000000');
DELETE FROM curation;
DELETE FROM dead_letters;
DELETE FROM deleted_tenant_counters;
INSERT INTO deleted_tenant_counters (singleton, revision, vocabulary_size) OVERRIDING SYSTEM VALUE VALUES
('true', '0', '0');
DELETE FROM document_openings;
DELETE FROM document_origins;
DELETE FROM document_popularity;
DELETE FROM document_texts;
INSERT INTO document_texts (document_key, text) OVERRIDING SYSTEM VALUE VALUES
('1', '# Lighthouse guide

The lighthouse stands on the northern cliff. Its lamp turns every twelve seconds.

## Cleaning the lens

Clean the lens with soft cloth and vinegar. The keeper writes each cleaning into the log.

## Fog signals

In fog the horn sounds twice a minute. The horn needs compressed air from the pump house.'),
('10', 'Log of day 6: the lamp burned 11 hours, and the horn sounded 6 times.'),
('11', 'Log of day 7: the lamp burned 12 hours, and the horn sounded 7 times.'),
('13', 'Ask the harbour master for a new lens and a brass lamp.'),
('14', 'Vinegar, soft cloth, lamp oil.'),
('15', 'The harbour opens at dawn, before the lighthouse lamp goes out.'),
('16', 'Tides are public knowledge: see the lighthouse.'),
('17', 'Boats need a permit in fog.'),
('18', 'Fog is expected at the lighthouse.'),
('2', 'Tickets for the lighthouse tour cost nine euros.'),
('3', 'The keeper''s salary rises with each year on the cliff.'),
('4', 'Nach dem Nebel werden die Pumpen im Maschinenhaus geprüft.'),
('5', 'Log of day 1: the lamp burned 6 hours, and the horn sounded 1 times.'),
('6', 'Log of day 2: the lamp burned 7 hours, and the horn sounded 2 times.'),
('7', 'Log of day 3: the lamp burned 8 hours, and the horn sounded 3 times.'),
('8', 'Log of day 4: the lamp burned 9 hours, and the horn sounded 4 times.'),
('9', 'Log of day 5: the lamp burned 10 hours, and the horn sounded 5 times.');
DELETE FROM documents;
INSERT INTO documents (document_key, tenant, document_id, source, title, uri, language, tags, metadata, chunker, summaries, owner, readers, allowed_tokens, audience_key, is_active, chunks, version, content_sequence, owner_sequence, readers_sequence, active_sequence, created_at, updated_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '1', '0', '1', '0', '2026-11-27 05:24:11.964524+00', '2026-11-27 05:24:11.964524+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '19', '0', '19', '0', '2026-11-27 05:24:12.485265+00', '2026-11-27 05:24:12.485265+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '21', '0', '21', '0', '2026-11-27 05:24:12.540503+00', '2026-11-27 05:24:12.540503+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '37', '36', '0', '25', '0', '2026-11-27 05:24:12.65627+00', '2026-11-27 05:24:13.042287+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '27', '0', '27', '0', '2026-11-27 05:24:12.718523+00', '2026-11-27 05:24:12.718523+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '29', '0', '0', '0', '2026-11-27 05:24:12.825683+00', '2026-11-27 05:24:12.825683+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '31', '0', '31', '0', '2026-11-27 05:24:12.905213+00', '2026-11-27 05:24:12.905213+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '33', '0', '33', '0', '2026-11-27 05:24:12.990117+00', '2026-11-27 05:24:12.990117+00'),
('18', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '42', '41', '41', '41', '40', '2026-11-27 05:24:13.372878+00', '2026-11-27 05:24:13.372878+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '3', '0', '3', '0', '2026-11-27 05:24:12.077363+00', '2026-11-27 05:24:12.077363+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '5', '0', '5', '0', '2026-11-27 05:24:12.138735+00', '2026-11-27 05:24:12.138735+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '7', '0', '7', '0', '2026-11-27 05:24:12.198135+00', '2026-11-27 05:24:12.198135+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '9', '0', '9', '0', '2026-11-27 05:24:12.257158+00', '2026-11-27 05:24:12.257158+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '11', '0', '11', '0', '2026-11-27 05:24:12.282865+00', '2026-11-27 05:24:12.282865+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '13', '0', '13', '0', '2026-11-27 05:24:12.341896+00', '2026-11-27 05:24:12.341896+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '15', '0', '15', '0', '2026-11-27 05:24:12.393372+00', '2026-11-27 05:24:12.393372+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '17', '0', '17', '0', '2026-11-27 05:24:12.441968+00', '2026-11-27 05:24:12.441968+00');
DELETE FROM embeddings;
INSERT INTO embeddings (tenant, embedding_space, digest, dense) OVERRIDING SYSTEM VALUE VALUES
('acme', 'exact-32', E'\\x00b7d962af268d8512d04fc23b78c72e', '[0.25,0.25,0,0.25,0.25,0,0.25,0,0,0,0.25,0.25,0.25,0.25,0,0,0.25,0,0.25,0,0,0.25,0.25,0,0,0.25,0,0,0,0,0.25,0.25]'),
('acme', 'exact-32', E'\\x040f1320ce440c204d8dcbafddd1642e', '[0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0.25,0.25,0]'),
('acme', 'exact-32', E'\\x12aa0a82a09c8a3ae55264f2ee686410', '[0.25,0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0,0.25,0]'),
('acme', 'exact-32', E'\\x19048a5ffb0e874f8aad5f206775e1bd', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0,0,0.25,0.25]'),
('acme', 'exact-32', E'\\x226f53ec400d50b21db2e3c1608f9b5f', '[0.25,0.25,0,0,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0.25,0,0.25,0,0,0.25,0,0,0,0.25,0,0,0.25,0.25,0.25,0,0.25,0.25,0]'),
('acme', 'exact-32', E'\\x525e4218a7ddcc32c0f2afcbb74a75d4', '[0.25,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0,0,0.25,0.25,0.25,0,0,0.25,0]'),
('acme', 'exact-32', E'\\x57577cfe39d3240f3bb05979bbb5e6c9', '[0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0,0]'),
('acme', 'exact-32', E'\\x577778497608bde9476504f340d6be70', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0,0.25,0,0,0.25,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0]'),
('acme', 'exact-32', E'\\xb829e1e7b96b5d64cd790e7902aaf86d', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0.25,0,0,0,0,0,0.25,0.25,0.25,0,0.25,0]'),
('acme', 'exact-32', E'\\xbc9493a472df2b9a6cf9f7822b2c67a4', '[0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0.25,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0.25,0]'),
('acme', 'exact-32', E'\\xc5d502e7a467aea90743a1471c44b673', '[0.25,0,0,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0,0.25,0,0,0,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0]'),
('acme', 'exact-32', E'\\xd8e32dfa8bac52de54904d23f49656c9', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0,0.25,0]'),
('acme', 'exact-32', E'\\xdbc7fed0132717afbdce6b99b9db7095', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0.25,0,0,0.25,0.25,0,0,0.25,0]'),
('acme', 'exact-32', E'\\xde6b704575c17d7416e5705d2ebda695', '[0,0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0.25,0,0,0,0.25,0.25,0.25,0.25,0.25,0,0,0,0,0,0.25,0,0.25,0.25,0,0,0.25,0]'),
('acme', 'exact-32', E'\\xe951789b77a1895b0b669ea53f74c763', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0.25,0,0,0,0,0.25,0,0.25,0.25]'),
('acme', 'exact-32', E'\\xeaccc0414f891d51f58ae303c4b97d0b', '[0.25,0.25,0.25,0.25,0,0,0,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0.25,0,0,0,0.25,0.25,0,0,0,0,0,0,0.25,0,0.25]'),
('acme', 'exact-32', E'\\xecc8341a8494807b853e90b7285824d9', '[0.25,0,0.25,0.25,0.25,0,0,0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0,0.25,0.25,0,0.25,0,0,0,0,0,0,0.25,0]'),
('beta', 'exact-32', E'\\x10ca478a000b981d3927e5ecd847275a', '[0.25,0.25,0,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0,0,0.25,0,0,0.25,0,0,0.25,0,0,0,0,0,0,0.25,0,0.25,0]'),
('beta', 'exact-32', E'\\x7072758e3723336f585d0b59ee7fbda3', '[0,0,0.25,0.25,0,0.25,0,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0,0.25,0,0.25,0.25,0,0.25,0,0,0,0.25,0.25,0,0,0]'),
('beta', 'exact-32', E'\\xaa9e3cd9c16d5feeed3e2f94dbe2f895', '[0.25,0.25,0,0,0,0,0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0,0,0,0,0,0,0.25,0.25]');
DELETE FROM event_versions;
INSERT INTO event_versions (tenant, document_id, content_version, access_version, access_sequence, owner, readers) OVERRIDING SYSTEM VALUE VALUES
('acme', 'weather', '7', '7', '40', NULL, '{tenant}');
DELETE FROM files;
DELETE FROM group_members;
INSERT INTO group_members (tenant, group_id, subject, added_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'ana', '2026-11-27 05:24:11.774921+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', '25ed513d-bc1e-482d-9335-f3872337edb0', NULL, NULL, '2026-11-27 05:24:11.774921+00');
DELETE FROM groups_with_words;
INSERT INTO groups_with_words (tenant, token) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew'),
('acme', 'group:sales');
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '218093886866281065');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-2');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_9a9c9266b460ac88', 'acme', 'document.write', 'document:queued', 'api', '{content}', '35', 'key_39e6af903585a94b', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-27 05:24:13.005426+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-27 05:24:13.005426+00', NULL, NULL),
('2', 'job_43a8b72b34afdf1f', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '39', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-27 05:25:13.068469+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-27 05:24:13.068469+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_15173c950998d42b', 'beta', E'\\x396742e0d5aa82ffbbffaa26997ff2d92bbbbc2bfb4aea6e1bfd087b31ce8330', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-27 05:24:13.185633+00', NULL, NULL, '2026-11-27 05:24:13.198434+00'),
('key_39e6af903585a94b', 'acme', E'\\x156a49e4fac121cc1733c53a5b0e56d78e909321fd7836e30648dd2fdd85e7fb', '', 'ada', '{}', '{reader,writer,admin,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-27 05:24:11.694664+00', NULL, NULL, '2026-11-27 05:24:13.062141+00'),
('key_4663edd1686af7e1', 'acme', E'\\xec8db207536e50654b78f5ef61350bf7a9cd9a47409504c0967f37630e857d3d', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-27 05:24:11.726962+00', NULL, NULL, NULL),
('key_8cf16ae7b1a1b222', 'acme', E'\\xc94c3f60e0c9f28c1092e61a45c4873fea1c7933ceef364744b684f409506f8b', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-27 05:24:11.713723+00', NULL, NULL, '2026-11-27 05:24:13.026412+00'),
('key_95e3333a7319e850', 'acme', E'\\x3708a11f69f1f74d2e2ad0587f0e4e61bb9891c3082ae54b5f2592893c583707', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-27 05:24:13.147165+00', NULL, NULL, '2026-11-27 05:24:13.160292+00'),
('key_fbe4cca5696efd3b', 'beta', E'\\x6c1858e4a5ab1fe1268570a8389c640333a7d21327e3d40bad4774353a857339', '', 'bea', '{}', '{reader,writer,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-27 05:24:11.742479+00', NULL, NULL, '2026-11-27 05:24:12.942146+00');
DELETE FROM noted_histories;
INSERT INTO noted_histories (history, number) OVERRIDING SYSTEM VALUE VALUES
('a5c496974fd6d95f', '1');
DELETE FROM openfga_members;
DELETE FROM openfga_readers;
DELETE FROM openfga_stores;
DELETE FROM openfga_tuples;
DELETE FROM previous_digests;
INSERT INTO previous_digests (document_key, digest) OVERRIDING SYSTEM VALUE VALUES
('13', E'\\x00b7d962af268d8512d04fc23b78c72e');
DELETE FROM provisioned_users;
DELETE FROM query_gates;
INSERT INTO query_gates (tenant, name, words) OVERRIDING SYSTEM VALUE VALUES
('acme', 'lamps', '{"open": ["lamp"], "closed": [], "default": "open"}');
DELETE FROM read_leases;
DELETE FROM removed_documents;
INSERT INTO removed_documents (tenant, digest, sequence, removed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '38', '2026-11-27 05:24:13.068469+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', 'a5c496974fd6d95f', 'true', '0');
DELETE FROM restricted_words;
INSERT INTO restricted_words (tenant, token, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew', 'burned', '784'),
('acme', 'group:crew', 'horn', '784'),
('acme', 'group:crew', 'hours', '784'),
('acme', 'group:crew', 'lamp', '784'),
('acme', 'group:crew', 'sounded', '784'),
('acme', 'group:crew', 'times', '784'),
('acme', 'group:sales', 'burned', '786'),
('acme', 'group:sales', 'horn', '786'),
('acme', 'group:sales', 'hours', '786'),
('acme', 'group:sales', 'lamp', '786'),
('acme', 'group:sales', 'sounded', '786'),
('acme', 'group:sales', 'times', '786');
DELETE FROM revisions_before;
INSERT INTO revisions_before (tenant, history, revision, number) OVERRIDING SYSTEM VALUE VALUES
('acme', 'a5c496974fd6d95f', '0', '2'),
('beta', 'a5c496974fd6d95f', '0', '4'),
('public', 'a5c496974fd6d95f', '0', '3');
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-27 05:24:11.964524+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-27 05:24:13.372878+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-27 05:24:12.138735+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-27 05:24:12.257158+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-27 05:24:12.825683+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-27 05:24:11.665227+00', 'false', '20', '2', '10', '55', 'a5c496974fd6d95f', '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-27 05:24:11.676489+00', 'false', '3', '1', '3', '7', 'a5c496974fd6d95f', '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-27 05:24:11.26504+00', 'false', '4', '0', '0', '0', 'a5c496974fd6d95f', '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'false', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
DELETE FROM usage;
INSERT INTO usage (tenant, day, operation, source, tokens, cost, embedded, reused) OVERRIDING SYSTEM VALUE VALUES
('acme', '2026-11-27', 'ingest', 'api', '0', '0', '7', '0'),
('acme', '2026-11-27', 'ingest', 'events', '0', '0', '1', '0'),
('acme', '2026-11-27', 'ingest', 'hr', '0', '0', '2', '0'),
('acme', '2026-11-27', 'ingest', 'log', '0', '0', '8', '0'),
('beta', '2026-11-27', 'ingest', 'api', '0', '0', '3', '0');
DELETE FROM vector_store_files;
DELETE FROM vector_stores;
DELETE FROM vocabulary;
INSERT INTO vocabulary (tenant, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'clean', '776'),
('acme', 'cleaning', '776'),
('acme', 'cliff', '776'),
('acme', 'cloth', '776'),
('acme', 'compressed', '776'),
('acme', 'cost', '778'),
('acme', 'each', '776'),
('acme', 'euros', '778'),
('acme', 'every', '776'),
('acme', 'expected', '820'),
('acme', 'from', '776'),
('acme', 'gepruft', '782'),
('acme', 'guide', '776'),
('acme', 'horn', '776'),
('acme', 'house', '776'),
('acme', 'into', '776'),
('acme', 'keeper', '776'),
('acme', 'lamp', '776'),
('acme', 'lens', '776'),
('acme', 'lighthouse', '776'),
('acme', 'maschinenhaus', '782'),
('acme', 'minute', '776'),
('acme', 'nach', '782'),
('acme', 'nebel', '782'),
('acme', 'needs', '776'),
('acme', 'nine', '778'),
('acme', 'northern', '776'),
('acme', 'pump', '776'),
('acme', 'pumpen', '782'),
('acme', 'seconds', '776'),
('acme', 'signals', '776'),
('acme', 'soft', '776'),
('acme', 'sounds', '776'),
('acme', 'stands', '776'),
('acme', 'tickets', '778'),
('acme', 'tour', '778'),
('acme', 'turns', '776'),
('acme', 'twelve', '776'),
('acme', 'twice', '776'),
('acme', 'vinegar', '776'),
('acme', 'werden', '782'),
('acme', 'with', '776'),
('acme', 'writes', '776'),
('beta', 'boats', '808'),
('beta', 'knowledge', '806'),
('beta', 'lighthouse', '806'),
('beta', 'need', '808'),
('beta', 'permit', '808'),
('beta', 'public', '806'),
('beta', 'tides', '806');
DELETE FROM web_pages;
SELECT setval('public.audiences_audience_key_seq', 11);
SELECT setval('public.chunk_ids', 21);
SELECT setval('public.document_versions', 42);
SELECT setval('public.documents_document_key_seq', 18);
SELECT setval('public.history_order', 4);
SELECT setval('public.jobs_job_no_seq', 2);
SELECT setval('public.partition_numbers', 1);
RESET session_replication_role;
