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
('acme', '1', '2026-11-28 18:13:17.408979+00', NULL, 'operator', 'tenant.create', 'acme', '{}', '65b05931-5a16-4a50-867b-1dc2c8461457', E'\\x00429c8a98e4a0047f66991eaaeb2f8bf1be2eef68b3585b9dcfdda265c26da5'),
('acme', '10', '2026-11-28 18:13:17.811531+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"salaries": "added"}}', 'd560c612-37b6-40dd-a531-2d881be69ea5', E'\\xb10c3d8b3e4c6873e0bbe9329b458cbe4f28bff5ed1ce66789a0ce3746fd5a0f'),
('acme', '11', '2026-11-28 18:13:29.884398+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"pump": "added"}}', '6d8e7704-7402-4f9d-8c93-dd42d18615db', E'\\x70c236d7ab15ecb366a8656d39fcc2ec38cc28596045647d077ab43ca5d670c9'),
('acme', '12', '2026-11-28 18:13:30.016725+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log1": "added"}}', 'f9d5f8d4-626e-48d4-b9bb-471908ab07f2', E'\\xd149d4c043b98935e9b843ede5aa3a4dc72c9081134980aca402437ab01a771b'),
('acme', '13', '2026-11-28 18:13:30.100207+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log2": "added"}}', '84079a53-da1b-4b13-80c9-2297140fa805', E'\\xf88a575ec792650ef609485d022f73ce897053c3103d107eb20acdbf56ea3f8a'),
('acme', '14', '2026-11-28 18:13:30.272363+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log3": "added"}}', '154ea1b6-90d0-41cd-b5de-f30c3a9c3ee0', E'\\xbf1da43918faa3765553ee2d948919e6d6a2d24109508e9b4f2a255270bdccd9'),
('acme', '15', '2026-11-28 18:13:30.451413+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log4": "added"}}', '0a840a43-e495-46f5-a4ea-7d99a390e0d0', E'\\x7b71b0ca2571640f31118eb1507b3cdf3ada62862e23cc4b7523337e8ef0908c'),
('acme', '16', '2026-11-28 18:13:30.580815+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log5": "added"}}', '3a0d62c7-a581-4be1-b038-ddf1002aeb9b', E'\\xb5fe0905641b9bd061cb6647ea69fa19322d43efc5a3a68767701ca7d8aced2b'),
('acme', '17', '2026-11-28 18:13:30.748398+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log6": "added"}}', 'd5bd4649-63a1-464d-b1db-f6935a2ab9a7', E'\\x76ad9e3100bdb451b70c1090d6dd2c55a2075d2b6c99525722b355606cc128fc'),
('acme', '18', '2026-11-28 18:13:30.857085+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log7": "added"}}', '66770405-d6ec-452b-a811-32bac8ddb5df', E'\\xf50d95beba9ebe8e0184dceb5b62ef1196c3586ddb9bf321b5666ac6226520bb'),
('acme', '19', '2026-11-28 18:13:30.90569+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"log8": "added"}}', 'fedef9b3-7a02-4876-b9c5-1d8a4be68ac2', E'\\x8c8f839ffb2e2c897475221877c46456eee4c70b6c165191cc80bf76e72bceb8'),
('acme', '2', '2026-11-28 18:13:17.435174+00', NULL, 'operator', 'key.create', 'key_d1beb2af2c1a4870', '{"roles": ["reader", "writer", "admin", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', 'd65a8745-beab-46f0-b1fc-32c7e91ee62a', E'\\xc870c0ef212b7e99ccc2c91461bac52ab532e357a3b6d799f5e6df4e71bfdc74'),
('acme', '20', '2026-11-28 18:13:30.948761+00', 'ana', 'key_4254ef4e279d31bb', 'documents.write', '', '{"documents": {"notes": "added"}}', '47faff76-9a82-427d-a408-2f78545580d1', E'\\x7c3750c617f566e276a422a8f0dea8c25e2a96b72da5b2cb6b50c6066a97c99e'),
('acme', '21', '2026-11-28 18:13:31.069548+00', 'ana', 'key_4254ef4e279d31bb', 'documents.write', '', '{"documents": {"list": "added"}}', '71d99b75-307a-4023-8926-b61540749671', E'\\x8efbef1c10ffaede01aec3bb1ae359d419504ce16ad08dc152a72538dfcc1bed'),
('acme', '22', '2026-11-28 18:13:31.693023+00', 'ana', 'key_4254ef4e279d31bb', 'documents.write', '', '{"documents": {"notes": "changed"}}', 'fbe82e4a-a24e-4643-98e7-0172605d34ed', E'\\x5165580baf8afc7f812636feb8f150c280c0749e789b3d253bce602cb5126330'),
('acme', '23', '2026-11-28 18:13:31.919894+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.remove', '', '{"documents": {"log8": "removed"}}', '66035965-5df4-4929-9b50-98d732f010bf', E'\\x1adbdedbca23fe818702af539685231fcf704f4f345c7376b994e5bef4b7da0c'),
('acme', '24', '2026-11-28 18:13:32.127563+00', NULL, 'operator', 'key.create', 'key_cb66448b71440428', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', '0756a958-ef92-4c46-af85-af49e0f9fc1f', E'\\x5265e60ace74b6b342a0a722755717246022fed7282e3ff853940c754a8c00c6'),
('acme', '25', '2026-11-28 18:13:32.210758+00', 'receiving-admin', 'key_cb66448b71440428', 'receives_public.put', 'acme', '{"receives_public": true}', 'd7a1d976-88b9-4e02-90b2-5b6dfb4b982a', E'\\x5c90369068ed748d8a490061872691c43d36baaddddefedd467808f670025734'),
('acme', '26', '2026-11-28 18:13:33.316373+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', '3b115285-4ebf-4acf-8ada-39dfc91849e0', E'\\xd1213ecfa2f6fcc22b02639445919246716fa3847b64aaccda6ff97ee97a0c52'),
('acme', '3', '2026-11-28 18:13:17.438817+00', NULL, 'operator', 'key.create', 'key_4254ef4e279d31bb', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', '25de4dcb-604a-4d2b-92ae-93f3ef0d763b', E'\\x80fadfe3ea830974b575bfc587e6f88ed873cfc7134cc7ca963b25f975ec8ce1'),
('acme', '4', '2026-11-28 18:13:17.44684+00', NULL, 'operator', 'key.create', 'key_1d0d67af559567f8', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', 'b630eea0-cdb7-46e1-a48d-aef85421bf05', E'\\xb550433f085d68722665aa1484a2af454ea0802755ab72a0d3f9739ed7eb52a6'),
('acme', '5', '2026-11-28 18:13:17.486491+00', 'ada', 'key_d1beb2af2c1a4870', 'member.add', 'crew', '{"member": "ana"}', '5ddc42d2-ecba-457d-ad03-414885a50a4e', E'\\x7050cac56a828cbc88c64243d3ef9f6c4fd885db48c5848a0d155fe8c62804d3'),
('acme', '6', '2026-11-28 18:13:17.537306+00', 'ada', 'key_d1beb2af2c1a4870', 'confidence.put', 'acme', '{"sources": {"log": 0.95}, "score_min": 0.1}', '823dada7-82fb-402e-b980-381999b512b8', E'\\xff84dd752b95e5fb2221f673d40b7a3400f949125a939208260182da6ffb5546'),
('acme', '7', '2026-11-28 18:13:17.568637+00', 'ada', 'key_d1beb2af2c1a4870', 'gate.put', 'lamps', '{"custom": true}', '1db20f31-e32d-437d-9118-55715c0ffa3a', E'\\x726e7e743ea152f2dcb37532d156cadbe23d50a7db06ef0d2910dcb9e9bc6912'),
('acme', '8', '2026-11-28 18:13:17.705303+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"guide": "added"}}', '11c06bd4-18f3-4873-a055-e31cd23660be', E'\\x9c446bc979bfaced69d075829f707fcfd3396c34a2a305e6c4cef778347ae398'),
('acme', '9', '2026-11-28 18:13:17.750297+00', 'ada', 'key_d1beb2af2c1a4870', 'documents.write', '', '{"documents": {"prices": "added"}}', 'abc51824-3ebd-4e9f-ad61-71a55bc6822e', E'\\xa9b8fd0aa19860ea273bfea700da55ba79f2f9dc7fa3ec2607c373a0ea644162'),
('beta', '1', '2026-11-28 18:13:17.421267+00', NULL, 'operator', 'tenant.create', 'beta', '{}', '8e886ff3-85a5-45f1-8dcf-78d906d1d70c', E'\\x807a58f9204c47f74f8332df9be5fd31475f528d81df66793f54a7bce2456c20'),
('beta', '2', '2026-11-28 18:13:17.453402+00', NULL, 'operator', 'key.create', 'key_9c32fbed5628da97', '{"roles": ["reader", "writer", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', 'd88b5fdd-ec67-49e7-9338-8d77fcb714b3', E'\\x8275ec7647468434804c85cfa7cb1c720e81ab94f581f372b01466a4ec18e1da'),
('beta', '3', '2026-11-28 18:13:31.169166+00', 'bea', 'key_9c32fbed5628da97', 'documents.write', '', '{"documents": {"harbour": "added"}}', 'e81b20a1-9b91-4238-9439-8a40b0c77472', E'\\x2aba5dc1942df5001390929ed100ddcbb36d5d02da4496ec4ed138e6c82ee00b'),
('beta', '4', '2026-11-28 18:13:31.276591+00', 'bea', 'key_9c32fbed5628da97', 'documents.write', '', '{"documents": {"tides": "added"}}', 'dbaeea43-00af-4c89-9a17-cca831fac4f1', E'\\x166ec0b7cd70c589e54a88488cd4f8886bb5cfd032cc8be6eb7b1b90b84e06d9'),
('beta', '5', '2026-11-28 18:13:31.362056+00', 'bea', 'key_9c32fbed5628da97', 'documents.write', '', '{"documents": {"boats": "added"}}', '85f2153e-72d5-4f47-aa79-13e101d42411', E'\\x6b959ce6c669b0417d2f16df59a354c7e35f565ee25ade7475f4978799fae0be'),
('beta', '6', '2026-11-28 18:13:32.278015+00', NULL, 'operator', 'key.create', 'key_ba8aebdff0e0082a', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', '64c49f72-b332-454d-8fab-5deb794a8ff0', E'\\xcd0b1ae76f92201bee26bad79fee8c9d827b7f2587ee5307bc7b67cb11389ad7'),
('beta', '7', '2026-11-28 18:13:32.376905+00', 'receiving-admin', 'key_ba8aebdff0e0082a', 'receives_public.put', 'beta', '{"receives_public": true}', 'ff1a9685-e25c-4df2-80dc-a513eba88132', E'\\xd257b9d97908ca84744bb37df86ca7801ad2ef23daae50b95c4450b78da2350f');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '26', E'\\xd1213ecfa2f6fcc22b02639445919246716fa3847b64aaccda6ff97ee97a0c52', '0', E'\\x'),
('beta', '7', E'\\xd257b9d97908ca84744bb37df86ca7801ad2ef23daae50b95c4450b78da2350f', '0', E'\\x');
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-28 18:13:30.570502+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-28 18:13:30.699167+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-28 18:13:30.83609+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-28 18:13:30.897258+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-28 18:13:30.936186+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-28 18:13:31.035271+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-28 18:13:31.597118+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-28 18:13:31.796197+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{18}', '{}', '2026-11-28 18:13:33.181878+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-28 18:13:34.26868+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-28 18:13:17.639513+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-28 18:13:17.737357+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-28 18:13:17.796767+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-28 18:13:29.860381+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-28 18:13:29.979079+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-28 18:13:30.066666+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-28 18:13:30.217003+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-28 18:13:30.404173+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-28 18:13:31.154384+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-28 18:13:31.251493+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-28 18:13:31.308839+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-28 18:13:17.737357+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-28 18:13:31.251493+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-28 18:13:34.26868+00');
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
INSERT INTO documents (document_key, tenant, document_id, source, title, uri, language, tags, metadata, chunker, summaries, owner, readers, allowed_tokens, audience_key, is_active, chunks, version, content_sequence, owner_sequence, readers_sequence, active_sequence, created_at, updated_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '1', '0', '1', '0', '2026-11-28 18:13:17.639513+00', '2026-11-28 18:13:17.639513+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '19', '0', '19', '0', '2026-11-28 18:13:30.699167+00', '2026-11-28 18:13:30.699167+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '21', '0', '21', '0', '2026-11-28 18:13:30.83609+00', '2026-11-28 18:13:30.83609+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '37', '36', '0', '25', '0', '2026-11-28 18:13:30.936186+00', '2026-11-28 18:13:31.597118+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '27', '0', '27', '0', '2026-11-28 18:13:31.035271+00', '2026-11-28 18:13:31.035271+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '29', '0', '0', '0', '2026-11-28 18:13:31.154384+00', '2026-11-28 18:13:31.154384+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '31', '0', '31', '0', '2026-11-28 18:13:31.251493+00', '2026-11-28 18:13:31.251493+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '33', '0', '33', '0', '2026-11-28 18:13:31.308839+00', '2026-11-28 18:13:31.308839+00'),
('18', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '42', '41', '41', '41', '40', '2026-11-28 18:13:33.181878+00', '2026-11-28 18:13:33.181878+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '3', '0', '3', '0', '2026-11-28 18:13:17.737357+00', '2026-11-28 18:13:17.737357+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '5', '0', '5', '0', '2026-11-28 18:13:17.796767+00', '2026-11-28 18:13:17.796767+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '7', '0', '7', '0', '2026-11-28 18:13:29.860381+00', '2026-11-28 18:13:29.860381+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '9', '0', '9', '0', '2026-11-28 18:13:29.979079+00', '2026-11-28 18:13:29.979079+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '11', '0', '11', '0', '2026-11-28 18:13:30.066666+00', '2026-11-28 18:13:30.066666+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '13', '0', '13', '0', '2026-11-28 18:13:30.217003+00', '2026-11-28 18:13:30.217003+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '15', '0', '15', '0', '2026-11-28 18:13:30.404173+00', '2026-11-28 18:13:30.404173+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '17', '0', '17', '0', '2026-11-28 18:13:30.570502+00', '2026-11-28 18:13:30.570502+00');
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
('acme', 'crew', 'ana', '2026-11-28 18:13:17.477265+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', '6a97dfb9-ad58-401a-a484-439919dfdcba', NULL, NULL, '2026-11-28 18:13:17.477265+00');
DELETE FROM groups_with_words;
INSERT INTO groups_with_words (tenant, token) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew'),
('acme', 'group:sales');
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '5947352423929002570');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-4');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_d8729f387fc678fc', 'acme', 'document.write', 'document:queued', 'api', '{content}', '35', 'key_d1beb2af2c1a4870', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-28 18:13:31.458739+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 18:13:31.458739+00', NULL, NULL),
('2', 'job_57f5eb074048f0d6', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '39', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-28 18:14:31.796197+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 18:13:31.796197+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_1d0d67af559567f8', 'acme', E'\\x9a0c6ce8151164ff66565007429c930f3a689df886a42cbf9b95e305c0d6c000', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 18:13:17.445873+00', NULL, NULL, NULL),
('key_4254ef4e279d31bb', 'acme', E'\\xbd827ada4185f035212839200400e15f4585826c49b50a6e8d495cea9006e3b9', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 18:13:17.437894+00', NULL, NULL, '2026-11-28 18:13:31.53008+00'),
('key_9c32fbed5628da97', 'beta', E'\\x32eda2114957d93a321ef1222caa0c0f5c203082d93671a22cb6635390030858', '', 'bea', '{}', '{reader,writer,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 18:13:17.449934+00', NULL, NULL, '2026-11-28 18:13:31.294943+00'),
('key_ba8aebdff0e0082a', 'beta', E'\\x507aa054cc493b52ef20d805e8e66a3b4b40fb428f348c161c4c8dd420dc3e94', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 18:13:32.242285+00', NULL, NULL, '2026-11-28 18:13:32.318812+00'),
('key_cb66448b71440428', 'acme', E'\\x13684666d2e73748287b557997e4b7b85cfc457af63a5f4846a1b5674eb1895b', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 18:13:32.051831+00', NULL, NULL, '2026-11-28 18:13:32.16924+00'),
('key_d1beb2af2c1a4870', 'acme', E'\\x96814b256a6a6a0734c56e8ec0276a9b8470ca24214e5f07c29a92fbfc568235', '', 'ada', '{}', '{reader,writer,admin,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 18:13:17.427366+00', NULL, NULL, '2026-11-28 18:13:31.754824+00');
DELETE FROM noted_histories;
INSERT INTO noted_histories (history, number) OVERRIDING SYSTEM VALUE VALUES
('26d3e557e1dee09a', '1');
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
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '38', '2026-11-28 18:13:31.796197+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', '26d3e557e1dee09a', 'true', '0');
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
('acme', '26d3e557e1dee09a', '0', '2'),
('beta', '26d3e557e1dee09a', '0', '4'),
('public', '26d3e557e1dee09a', '0', '3');
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 18:13:17.639513+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 18:13:33.181878+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 18:13:17.796767+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 18:13:29.979079+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 18:13:31.154384+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-28 18:13:17.366512+00', 'false', '20', '2', '10', '55', '26d3e557e1dee09a', '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-28 18:13:17.420036+00', 'false', '3', '1', '3', '7', '26d3e557e1dee09a', '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-28 18:13:16.482989+00', 'false', '4', '0', '0', '0', '26d3e557e1dee09a', '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'false', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
DELETE FROM usage;
INSERT INTO usage (tenant, day, operation, source, tokens, cost, embedded, reused) OVERRIDING SYSTEM VALUE VALUES
('acme', '2026-11-28', 'ingest', 'api', '0', '0', '7', '0'),
('acme', '2026-11-28', 'ingest', 'events', '0', '0', '1', '0'),
('acme', '2026-11-28', 'ingest', 'hr', '0', '0', '2', '0'),
('acme', '2026-11-28', 'ingest', 'log', '0', '0', '8', '0'),
('beta', '2026-11-28', 'ingest', 'api', '0', '0', '3', '0');
DELETE FROM vector_store_files;
DELETE FROM vector_stores;
DELETE FROM vocabulary;
INSERT INTO vocabulary (tenant, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'clean', '777'),
('acme', 'cleaning', '777'),
('acme', 'cliff', '777'),
('acme', 'cloth', '777'),
('acme', 'compressed', '777'),
('acme', 'cost', '779'),
('acme', 'each', '777'),
('acme', 'euros', '779'),
('acme', 'every', '777'),
('acme', 'expected', '823'),
('acme', 'from', '777'),
('acme', 'gepruft', '784'),
('acme', 'guide', '777'),
('acme', 'horn', '777'),
('acme', 'house', '777'),
('acme', 'into', '777'),
('acme', 'keeper', '777'),
('acme', 'lamp', '777'),
('acme', 'lens', '777'),
('acme', 'lighthouse', '777'),
('acme', 'maschinenhaus', '784'),
('acme', 'minute', '777'),
('acme', 'nach', '784'),
('acme', 'nebel', '784'),
('acme', 'needs', '777'),
('acme', 'nine', '779'),
('acme', 'northern', '777'),
('acme', 'pump', '777'),
('acme', 'pumpen', '784'),
('acme', 'seconds', '777'),
('acme', 'signals', '777'),
('acme', 'soft', '777'),
('acme', 'sounds', '777'),
('acme', 'stands', '777'),
('acme', 'tickets', '779'),
('acme', 'tour', '779'),
('acme', 'turns', '777'),
('acme', 'twelve', '777'),
('acme', 'twice', '777'),
('acme', 'vinegar', '777'),
('acme', 'werden', '784'),
('acme', 'with', '777'),
('acme', 'writes', '777'),
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
