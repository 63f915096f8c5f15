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
('acme', '1', '2026-11-29 10:03:43.71091+00', NULL, 'operator', 'tenant.create', 'acme', '{}', '30f743b3-670c-4711-b47f-2647e9529e21', E'\\x31a58564c0055ce79be56cebd7322d963eb9ec6e66cb2445430ec02413412400'),
('acme', '10', '2026-11-29 10:03:44.189695+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"salaries": "added"}}', '07f4f21b-4825-4a84-a321-ad5c3ea3e44f', E'\\x161eee791d22b7e4f9912cfe0581f889191e0c86883cbe9c00a2da5196340aeb'),
('acme', '11', '2026-11-29 10:03:44.218215+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"pump": "added"}}', 'c207ba13-2161-4aeb-b484-ddcc30faf47d', E'\\xa06d88d00c844ba25f52e315004dc1e75983cda33523420a73fba2ac1bd02ee0'),
('acme', '12', '2026-11-29 10:03:44.234103+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log1": "added"}}', '99e9411f-f871-4927-9e61-75c659b93a62', E'\\x0992f1c01f9e86a63cf12cdba3021fdc219bb04e4e2d3f6628e5e5da67745b84'),
('acme', '13', '2026-11-29 10:03:44.26747+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log2": "added"}}', 'ebfe2f0f-9c32-4a63-94fb-6d00aa8c9c1f', E'\\xaacf0885b7591f0245e78af691b33c87bc5ba45b7fceb459a479669174b5e8c2'),
('acme', '14', '2026-11-29 10:03:44.299231+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log3": "added"}}', '8ee2c941-1e92-47c8-a440-0bdbf24ad617', E'\\xd4ebdecaca4208bfe7314a545c55f2db358c19a9bfb98573955381bb653567d9'),
('acme', '15', '2026-11-29 10:03:44.320863+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log4": "added"}}', '0d56215d-2ccb-4227-bb73-9aa975090eb2', E'\\xb969262bce0af5c9b6c8c68fe330fef7f5445fb277edc3e3f379c103a3ae097b'),
('acme', '16', '2026-11-29 10:03:44.336772+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log5": "added"}}', 'e461e396-3209-4190-a655-55f5ee42d12e', E'\\x28fadb28b1dbee1a9deae1f112502c143b2d0ca0a4b16dad0e8eb9707b68ea71'),
('acme', '17', '2026-11-29 10:03:44.358606+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log6": "added"}}', '89a7853c-5711-4942-add5-f30763af5556', E'\\xa272f5ec6cd11c3bf1b912977cd3d54eb7074b7de5e902c88c44ad7309e3b769'),
('acme', '18', '2026-11-29 10:03:44.387102+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log7": "added"}}', 'e17f86f8-075b-46ac-9f5a-9b1bc6444f90', E'\\x155c2206443ce1c95538816bd85bdb832ab3b7145c88c1dc9e2d343c0be8ac89'),
('acme', '19', '2026-11-29 10:03:44.410709+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"log8": "added"}}', '36700896-331f-4e48-a4e0-2fe3a9ac0eed', E'\\x61286b244598a721b9d153f7353e67a7e58022ab5b7edc1eeeedd9cfbb3507fc'),
('acme', '2', '2026-11-29 10:03:43.769542+00', NULL, 'operator', 'key.create', 'key_cfab2c89ffd206a6', '{"roles": ["reader", "writer", "admin", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', '2e94b884-566e-4b47-ac18-c0f411359161', E'\\xe31bbc7a7c4fc39c0ec2f3174988f669088d6e607cf6b6534f284e1e9f960e17'),
('acme', '20', '2026-11-29 10:03:44.438216+00', 'ana', 'key_9a879b338c3c2faa', 'documents.write', '', '{"documents": {"notes": "added"}}', 'b2179a48-8f0d-4232-80d0-452169829ccd', E'\\x36d99b00d0cf4bc9a36b09402f97fec4c4ec5f11425205a37ba637e18cc02a35'),
('acme', '21', '2026-11-29 10:03:44.463143+00', 'ana', 'key_9a879b338c3c2faa', 'documents.write', '', '{"documents": {"list": "added"}}', 'd73bb23f-6863-4c98-a2f1-2fe9d29a53c9', E'\\x003a5b0198049686250b9110bb109bd1e6213884b7cd541fd300554b05930421'),
('acme', '22', '2026-11-29 10:03:44.607523+00', 'ana', 'key_9a879b338c3c2faa', 'documents.write', '', '{"documents": {"notes": "changed"}}', 'bea5dc55-3b63-4d63-8abb-a21f2763aad2', E'\\xb1aaeb6fcc40b0f9b02d30aa51c0bce717314f8fb4cfc81c74763aa24193fa25'),
('acme', '23', '2026-11-29 10:03:44.626719+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.remove', '', '{"documents": {"log8": "removed"}}', '0fdae23a-fc39-45d6-9094-77f053780637', E'\\x30cb4148314ed2cb5da4b016ecbd30645c6226a6d9fec4737336cc6870a1031a'),
('acme', '24', '2026-11-29 10:03:44.645759+00', NULL, 'operator', 'key.create', 'key_4d51ccace8ded017', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', 'f773f7b7-4341-4ce2-8128-8e067855b7cf', E'\\x6f3093f26c35e3be90f2978c2c0dd0bc8df1695416da70e344a0f3a662174011'),
('acme', '25', '2026-11-29 10:03:44.658085+00', 'receiving-admin', 'key_4d51ccace8ded017', 'receives_public.put', 'acme', '{"receives_public": true}', '87795dd2-b8ba-44d7-9aba-eb22ade22f73', E'\\x621f62b30e76cb70d300fb3a049ab8634b1165519f4ee58cc63ceb762ef4692c'),
('acme', '26', '2026-11-29 10:03:44.83033+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', '38b6e089-2922-4440-9b00-faa8c90394c2', E'\\xdc8b56a70d2a71cb6d591117d5861e321a0bd2431b0a2a4c34c8d4a32d52a698'),
('acme', '3', '2026-11-29 10:03:43.790005+00', NULL, 'operator', 'key.create', 'key_9a879b338c3c2faa', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', '7b6b35b0-1cc2-415d-92a2-5f6f757207a5', E'\\xe85c0a23bffee6756e7643f1cc86d620cbc2f49eb651efb7289ce9e345d6ae12'),
('acme', '4', '2026-11-29 10:03:43.810003+00', NULL, 'operator', 'key.create', 'key_4fe5870c894a10d6', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', 'a6bea335-2eb1-420c-b770-a67fb9b77461', E'\\xd5f7cbed4f460a8c697b837f3e5e277d876dbdcadda26dfb0c3441bd3d1cc824'),
('acme', '5', '2026-11-29 10:03:43.92818+00', 'ada', 'key_cfab2c89ffd206a6', 'member.add', 'crew', '{"member": "ana"}', '6638386d-f46b-45c3-807b-fa178de14d94', E'\\xea7ad2ffe3d4d01ae3b4e344f2205f018e425baa0b1b3f20431bd306ee024757'),
('acme', '6', '2026-11-29 10:03:43.983738+00', 'ada', 'key_cfab2c89ffd206a6', 'confidence.put', 'acme', '{"sources": {"log": 0.95}, "score_min": 0.1}', 'be03b43c-913a-415d-9393-231674f23224', E'\\x6f6fb3859e42cf74070d12fcf30838d1e8b3212340a95f9c8b0e4a753fbee45e'),
('acme', '7', '2026-11-29 10:03:44.023041+00', 'ada', 'key_cfab2c89ffd206a6', 'gate.put', 'lamps', '{"custom": true}', '7992a3e6-0464-43a1-996f-f8d8c841324d', E'\\x50ed5ed4a0da6528410e74d4262b9e96cc9a56bee54073d05e60af994aa857db'),
('acme', '8', '2026-11-29 10:03:44.098386+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"guide": "added"}}', 'b85284c7-3f80-47b2-bfaf-6894ee578296', E'\\x8f985c414a685274a91b18b9414b23f025200cfcac708fbf2c59b4d4c4237e0a'),
('acme', '9', '2026-11-29 10:03:44.161609+00', 'ada', 'key_cfab2c89ffd206a6', 'documents.write', '', '{"documents": {"prices": "added"}}', 'a59d9e11-330e-4b6b-9565-ccd979629f4a', E'\\x08590b7381b2cb1b3ee6c87b55143fb251ff72531907d33849eadd3e98d82fa7'),
('beta', '1', '2026-11-29 10:03:43.732867+00', NULL, 'operator', 'tenant.create', 'beta', '{}', '79af89b8-92fe-435e-a426-c4f6a1e7c9b5', E'\\xed2c2f23a6285b9324d384597ec7f042e5e7ba9db9a1756b94dd2a8faaede04b'),
('beta', '2', '2026-11-29 10:03:43.834025+00', NULL, 'operator', 'key.create', 'key_e6eaa486dcc31f44', '{"roles": ["reader", "writer", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', '1c7a7b8c-e679-49bb-af41-e144356423fa', E'\\x9c66673378433fe400652072b0fd3741b33ace9a9d31818e5ca63c5915bbc726'),
('beta', '3', '2026-11-29 10:03:44.488423+00', 'bea', 'key_e6eaa486dcc31f44', 'documents.write', '', '{"documents": {"harbour": "added"}}', '90971f13-39cb-4a2b-a980-89ab98180279', E'\\x7200196cbd552372c2037d0cfa4c0c63be610b4b511f453df3ab1ed55fe290f3'),
('beta', '4', '2026-11-29 10:03:44.530543+00', 'bea', 'key_e6eaa486dcc31f44', 'documents.write', '', '{"documents": {"tides": "added"}}', '9b67414e-3a75-46ba-a314-e2ec3a800121', E'\\x27f33a7cdb338afdd443535c1c1f171f61e56b779b48b9d2a85b8e6f9ff5ed94'),
('beta', '5', '2026-11-29 10:03:44.5535+00', 'bea', 'key_e6eaa486dcc31f44', 'documents.write', '', '{"documents": {"boats": "added"}}', 'f0f8b66f-5c5f-4573-8d98-10f7aee43854', E'\\x3dd1304b98f132ba9fa31b95b616b05dad6317c1faace0b4d4b7a86158c983d8'),
('beta', '6', '2026-11-29 10:03:44.666207+00', NULL, 'operator', 'key.create', 'key_89f4e09994641e86', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', 'cdf1e5a3-0f66-4f36-b640-72734517be5f', E'\\xccb8acf8f4f0e912034d27bd3d1289e603a04cdb80e495931a4e9d1835af883f'),
('beta', '7', '2026-11-29 10:03:44.674961+00', 'receiving-admin', 'key_89f4e09994641e86', 'receives_public.put', 'beta', '{"receives_public": true}', '7e859538-4426-4863-854c-1003cfea6b6a', E'\\x94582e97db66c6b6b3fef905167696f8f5f80e6146138b04bfb2b9c49aa8979f');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '26', E'\\xdc8b56a70d2a71cb6d591117d5861e321a0bd2431b0a2a4c34c8d4a32d52a698', '0', E'\\x'),
('beta', '7', E'\\x94582e97db66c6b6b3fef905167696f8f5f80e6146138b04bfb2b9c49aa8979f', '0', E'\\x');
DELETE FROM best_scores;
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-29 10:03:44.332615+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-29 10:03:44.351955+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-29 10:03:44.375648+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-29 10:03:44.401428+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-29 10:03:44.433506+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-29 10:03:44.457015+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-29 10:03:44.593337+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-29 10:03:44.622845+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{18}', '{}', '2026-11-29 10:03:44.79609+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-29 10:03:44.879013+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-29 10:03:44.071051+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-29 10:03:44.145748+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-29 10:03:44.17962+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-29 10:03:44.205945+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-29 10:03:44.227748+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-29 10:03:44.254481+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-29 10:03:44.295214+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-29 10:03:44.315919+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-29 10:03:44.485134+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-29 10:03:44.518449+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-29 10:03:44.545784+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-29 10:03:44.145748+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-29 10:03:44.518449+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-29 10:03:44.879013+00');
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
('1', '1', 'acme', '1', '[0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0,0]', '{115926766:1.438849,194283843:1.6610274,304832929:1.438849,382538404:1.438849,441687500:1.438849,445327439:1.438849,533734395:1.438849,534527679:1.438849,715989878:1.438849,819937956:1.5992892,868429517:1.438849,968289718:1.438849}/1000000000'),
('1', '10', 'acme', '8', '[0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0.25,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,828332147:1.4457831,921269338:1.6035634}/1000000000'),
('1', '11', 'acme', '9', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,840549211:1.4457831,974816427:1.6035634}/1000000000'),
('1', '12', 'acme', '10', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0.25,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,764166510:1.4457831,990539103:1.6035634}/1000000000'),
('1', '13', 'acme', '11', '[0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0.25,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,794375235:1.6035634,868429517:1.4457831}/1000000000'),
('1', '16', 'acme', '14', '[0.25,0.25,0.25,0.25,0,0,0,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0.25,0,0,0,0.25,0.25,0,0,0,0,0,0,0.25,0,0.25]', '{81394927:1.4814814,368287765:1.4814814,445327439:1.4814814,465380122:1.4814814,601650979:1.4814814}/1000000000'),
('1', '2', 'acme', '1', '[0.25,0.25,0,0,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0.25,0,0.25,0,0,0.25,0,0,0,0.25,0,0,0.25,0.25,0.25,0,0.25,0.25,0]', '{19658399:1.4184397,81394927:1.4184397,190004827:1.4184397,194283843:1.586602,210352171:1.4184397,368287765:1.4184397,463738234:1.4184397,465380122:1.4184397,765044990:1.4184397,819937956:1.586602,913226580:1.4184397,936994680:1.6518813,995122589:1.586602}/1000000000'),
('1', '20', 'acme', '13', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0,0,0.25,0.25]', '{44087590:1.4563106,118130771:1.4563106,445327439:1.4563106,470979025:1.4563106,625928187:1.4563106,836452582:1.4563106,853566424:1.4563106,995122589:1.4563106}/1000000000'),
('1', '21', 'acme', '18', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0.25,0,0,0,0,0.25,0,0.25,0.25]', '{100738446:1.4778326,194283843:1.4778326,212648460:1.4778326,326575024:1.4778326,690376031:1.4778326}/1000000000'),
('1', '3', 'acme', '1', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0,0.25,0,0,0.25,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0]', '{3450694:1.4184397,100927274:1.4184397,194283843:1.586602,455296186:1.4184397,467992172:1.4184397,482434918:1.4184397,496024817:1.586602,539698964:1.4184397,546434641:1.4184397,690376031:1.586602,696242393:1.4184397,819937956:1.586602,841669259:1.4184397,882067793:1.4184397}/1000000000'),
('1', '4', 'acme', '2', '[0.25,0,0,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0,0.25,0,0,0,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0]', '{66361589:1.4705882,118130771:1.4705882,194283843:1.4705882,573201030:1.4705882,609853339:1.4705882,828332147:1.4705882,864969121:1.4705882}/1000000000'),
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
INSERT INTO documents (document_key, tenant, document_id, source, title, uri, language, tags, metadata, chunker, summaries, owner, readers, allowed_tokens, audience_key, is_active, chunks, version, sequences, created_at, updated_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '{"owner": 0, "active": 0, "chunker": 0, "content": 1, "readers": 1, "metadata": 1, "summaries": 1}', '2026-11-29 10:03:44.071051+00', '2026-11-29 10:03:44.071051+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '{"owner": 0, "active": 0, "chunker": 0, "content": 19, "readers": 19, "metadata": 19, "summaries": 0}', '2026-11-29 10:03:44.351955+00', '2026-11-29 10:03:44.351955+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '{"owner": 0, "active": 0, "chunker": 0, "content": 21, "readers": 21, "metadata": 21, "summaries": 0}', '2026-11-29 10:03:44.375648+00', '2026-11-29 10:03:44.375648+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '37', '{"owner": 0, "active": 0, "chunker": 0, "content": 36, "readers": 25, "metadata": 36, "summaries": 0}', '2026-11-29 10:03:44.433506+00', '2026-11-29 10:03:44.593337+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '{"owner": 0, "active": 0, "chunker": 0, "content": 27, "readers": 27, "metadata": 27, "summaries": 0}', '2026-11-29 10:03:44.457015+00', '2026-11-29 10:03:44.457015+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '{"owner": 0, "active": 0, "chunker": 0, "content": 29, "readers": 0, "metadata": 29, "summaries": 0}', '2026-11-29 10:03:44.485134+00', '2026-11-29 10:03:44.485134+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '{"owner": 0, "active": 0, "chunker": 0, "content": 31, "readers": 31, "metadata": 31, "summaries": 0}', '2026-11-29 10:03:44.518449+00', '2026-11-29 10:03:44.518449+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '{"owner": 0, "active": 0, "chunker": 0, "content": 33, "readers": 33, "metadata": 33, "summaries": 0}', '2026-11-29 10:03:44.545784+00', '2026-11-29 10:03:44.545784+00'),
('18', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '42', '{"owner": 41, "active": 40, "chunker": 40, "content": 41, "readers": 41, "metadata": 41, "summaries": 40}', '2026-11-29 10:03:44.79609+00', '2026-11-29 10:03:44.79609+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '{"owner": 0, "active": 0, "chunker": 0, "content": 3, "readers": 3, "metadata": 3, "summaries": 0}', '2026-11-29 10:03:44.145748+00', '2026-11-29 10:03:44.145748+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '{"owner": 0, "active": 0, "chunker": 0, "content": 5, "readers": 5, "metadata": 5, "summaries": 0}', '2026-11-29 10:03:44.17962+00', '2026-11-29 10:03:44.17962+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '{"owner": 0, "active": 0, "chunker": 0, "content": 7, "readers": 7, "metadata": 7, "summaries": 0}', '2026-11-29 10:03:44.205945+00', '2026-11-29 10:03:44.205945+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '{"owner": 0, "active": 0, "chunker": 0, "content": 9, "readers": 9, "metadata": 9, "summaries": 0}', '2026-11-29 10:03:44.227748+00', '2026-11-29 10:03:44.227748+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '{"owner": 0, "active": 0, "chunker": 0, "content": 11, "readers": 11, "metadata": 11, "summaries": 0}', '2026-11-29 10:03:44.254481+00', '2026-11-29 10:03:44.254481+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '{"owner": 0, "active": 0, "chunker": 0, "content": 13, "readers": 13, "metadata": 13, "summaries": 0}', '2026-11-29 10:03:44.295214+00', '2026-11-29 10:03:44.295214+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '{"owner": 0, "active": 0, "chunker": 0, "content": 15, "readers": 15, "metadata": 15, "summaries": 0}', '2026-11-29 10:03:44.315919+00', '2026-11-29 10:03:44.315919+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '{"owner": 0, "active": 0, "chunker": 0, "content": 17, "readers": 17, "metadata": 17, "summaries": 0}', '2026-11-29 10:03:44.332615+00', '2026-11-29 10:03:44.332615+00');
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
('acme', 'crew', 'ana', '2026-11-29 10:03:43.897908+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', '28a99f93-6a1f-4c1a-bffb-25466cf394f4', NULL, NULL, '2026-11-29 10:03:43.897908+00');
DELETE FROM groups_with_words;
INSERT INTO groups_with_words (tenant, token) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew'),
('acme', 'group:sales');
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '-6813108949215103096');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-4');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_95aa157cdbc865f0', 'acme', 'document.write', 'document:queued', 'api', '{content,metadata}', '35', 'key_cfab2c89ffd206a6', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-29 10:03:44.566937+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-29 10:03:44.566937+00', NULL, NULL),
('2', 'job_f4ad295a9c147a6f', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '39', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-29 10:04:44.622845+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-29 10:03:44.622845+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_4d51ccace8ded017', 'acme', E'\\xc87c36653dab94adc9e188d8a68004f3f5ad871476964ae9c5528ade19afe8ff', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 10:03:44.640089+00', NULL, NULL, '2026-11-29 10:03:44.650383+00'),
('key_4fe5870c894a10d6', 'acme', E'\\xb5e2d32832feb8c95fb1e8f009d1402dad5ec871091361d5cdcdc8c2dd06b79d', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 10:03:43.795099+00', NULL, NULL, NULL),
('key_89f4e09994641e86', 'beta', E'\\xc5ef7b0e6aba6dafdf44ce2933a8d15583b8bcd8c299f8c4d4bfe1a261dcb690', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 10:03:44.665594+00', NULL, NULL, '2026-11-29 10:03:44.670501+00'),
('key_9a879b338c3c2faa', 'acme', E'\\x2d34d1645faef1acd4cf1f2931c71489a0432cb296b619085c1d5dc4530f9700', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 10:03:43.775719+00', NULL, NULL, '2026-11-29 10:03:44.576755+00'),
('key_cfab2c89ffd206a6', 'acme', E'\\x6c523b614c98110e3527c57e94aeedbe04bf810086dd3a618d79fa985b86e060', '', 'ada', '{}', '{reader,writer,admin,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 10:03:43.739951+00', NULL, NULL, '2026-11-29 10:03:44.614947+00'),
('key_e6eaa486dcc31f44', 'beta', E'\\xba43f784bc78b3a559ae8b9adc9bd347707c4177c0a0b7fe883ca133389cf05d', '', 'bea', '{}', '{reader,writer,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 10:03:43.817908+00', NULL, NULL, '2026-11-29 10:03:44.534146+00');
DELETE FROM noted_histories;
INSERT INTO noted_histories (history, number) OVERRIDING SYSTEM VALUE VALUES
('3385c4358b59376c', '1');
DELETE FROM openfga_members;
DELETE FROM openfga_readers;
DELETE FROM openfga_stores;
DELETE FROM openfga_tuples;
DELETE FROM previous_digests;
INSERT INTO previous_digests (document_key, digest) OVERRIDING SYSTEM VALUE VALUES
('13', E'\\x00b7d962af268d8512d04fc23b78c72e');
DELETE FROM processes;
DELETE FROM provisioned_users;
DELETE FROM query_gates;
INSERT INTO query_gates (tenant, name, words) OVERRIDING SYSTEM VALUE VALUES
('acme', 'lamps', '{"open": ["lamp"], "closed": [], "default": "open"}');
DELETE FROM read_leases;
DELETE FROM removed_documents;
INSERT INTO removed_documents (tenant, digest, sequence, removed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '38', '2026-11-29 10:03:44.622845+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', '3385c4358b59376c', 'true', '0');
DELETE FROM restricted_words;
INSERT INTO restricted_words (tenant, token, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew', 'burned', '786'),
('acme', 'group:crew', 'horn', '786'),
('acme', 'group:crew', 'hours', '786'),
('acme', 'group:crew', 'lamp', '786'),
('acme', 'group:crew', 'sounded', '786'),
('acme', 'group:crew', 'times', '786'),
('acme', 'group:sales', 'burned', '788'),
('acme', 'group:sales', 'horn', '788'),
('acme', 'group:sales', 'hours', '788'),
('acme', 'group:sales', 'lamp', '788'),
('acme', 'group:sales', 'sounded', '788'),
('acme', 'group:sales', 'times', '788');
DELETE FROM revisions_before;
INSERT INTO revisions_before (tenant, history, revision, number) OVERRIDING SYSTEM VALUE VALUES
('acme', '3385c4358b59376c', '0', '2'),
('beta', '3385c4358b59376c', '0', '4'),
('public', '3385c4358b59376c', '0', '3');
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 10:03:44.071051+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 10:03:44.79609+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 10:03:44.17962+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 10:03:44.227748+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 10:03:44.485134+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-29 10:03:43.682841+00', 'false', '20', '2', '10', '55', '3385c4358b59376c', '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-29 10:03:43.721914+00', 'false', '3', '1', '3', '7', '3385c4358b59376c', '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-29 10:03:43.343284+00', 'false', '4', '0', '0', '0', '3385c4358b59376c', '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'false', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
DELETE FROM usage;
INSERT INTO usage (tenant, day, operation, source, tokens, cost, embedded, reused) OVERRIDING SYSTEM VALUE VALUES
('acme', '2026-11-29', 'ingest', 'api', '0', '0', '7', '0'),
('acme', '2026-11-29', 'ingest', 'events', '0', '0', '1', '0'),
('acme', '2026-11-29', 'ingest', 'hr', '0', '0', '2', '0'),
('acme', '2026-11-29', 'ingest', 'log', '0', '0', '8', '0'),
('beta', '2026-11-29', 'ingest', 'api', '0', '0', '3', '0');
DELETE FROM vector_store_files;
DELETE FROM vector_stores;
DELETE FROM vocabulary;
INSERT INTO vocabulary (tenant, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'clean', '778'),
('acme', 'cleaning', '778'),
('acme', 'cliff', '778'),
('acme', 'cloth', '778'),
('acme', 'compressed', '778'),
('acme', 'cost', '780'),
('acme', 'each', '778'),
('acme', 'euros', '780'),
('acme', 'every', '778'),
('acme', 'expected', '823'),
('acme', 'from', '778'),
('acme', 'gepruft', '784'),
('acme', 'guide', '778'),
('acme', 'horn', '778'),
('acme', 'house', '778'),
('acme', 'into', '778'),
('acme', 'keeper', '778'),
('acme', 'lamp', '778'),
('acme', 'lens', '778'),
('acme', 'lighthouse', '778'),
('acme', 'maschinenhaus', '784'),
('acme', 'minute', '778'),
('acme', 'nach', '784'),
('acme', 'nebel', '784'),
('acme', 'needs', '778'),
('acme', 'nine', '780'),
('acme', 'northern', '778'),
('acme', 'pump', '778'),
('acme', 'pumpen', '784'),
('acme', 'seconds', '778'),
('acme', 'signals', '778'),
('acme', 'soft', '778'),
('acme', 'sounds', '778'),
('acme', 'stands', '778'),
('acme', 'tickets', '780'),
('acme', 'tour', '780'),
('acme', 'turns', '778'),
('acme', 'twelve', '778'),
('acme', 'twice', '778'),
('acme', 'vinegar', '778'),
('acme', 'werden', '784'),
('acme', 'with', '778'),
('acme', 'writes', '778'),
('beta', 'boats', '810'),
('beta', 'knowledge', '808'),
('beta', 'lighthouse', '808'),
('beta', 'need', '810'),
('beta', 'permit', '810'),
('beta', 'public', '808'),
('beta', 'tides', '808');
DELETE FROM web_pages;
SELECT setval('public.audiences_audience_key_seq', 11);
SELECT setval('public.chunk_ids', 21);
SELECT setval('public.document_versions', 42);
SELECT setval('public.documents_document_key_seq', 18);
SELECT setval('public.history_order', 4);
SELECT setval('public.jobs_job_no_seq', 2);
SELECT setval('public.partition_numbers', 1);
RESET session_replication_role;
