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
('acme', '1', '2026-11-29 16:57:33.459771+00', NULL, 'operator', 'tenant.create', 'acme', '{}', '901435b6-a107-4792-91f7-9a6e928b413f', E'\\xed1452586c33487033345c95109eec6423f295f632a4d26c7c6645995f2f5a38'),
('acme', '10', '2026-11-29 16:57:34.661087+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"salaries": "added"}}', '43d9c0be-9d25-41a0-a9f7-4b37ad994c9c', E'\\x2b7a311ebd8e825499d4dc8f62da761fab19470a0f4a0c8ddb7652d8dfecf185'),
('acme', '11', '2026-11-29 16:57:34.720117+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"pump": "added"}}', '23eeead3-401a-4183-b98e-a72e86c62f71', E'\\x861f7edc8f9ce4a1cfbf0724833922d11854a9590672d9c90180c2a870a645db'),
('acme', '12', '2026-11-29 16:57:34.766695+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log1": "added"}}', 'e0c02a55-083d-4494-bdb6-b1b5c7deba61', E'\\x9cc344b7b08afb11fac538053bb8b01fbb5c8d3d3c8194d0e25fb213d9999f40'),
('acme', '13', '2026-11-29 16:57:34.861356+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log2": "added"}}', '03403162-a1fd-460b-ae65-fb713a46260a', E'\\xaf4b3b43a9522dc8b022b89bd69465e3c8d292bbec918b43ef5713ed391a1ed8'),
('acme', '14', '2026-11-29 16:57:34.900688+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log3": "added"}}', 'c751f465-c715-4bcb-92b5-3dcea0fa5f11', E'\\x20a2d5d7364da4cb9b5f7ec669fe8abf27e939044fe65d653106448f9ad51264'),
('acme', '15', '2026-11-29 16:57:34.962883+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log4": "added"}}', '28390f32-e907-4434-866d-9d054b3e6374', E'\\xe59c5d0e4e0bfe1de87dedda15a993735c58d34622c310837a4fb5750843e652'),
('acme', '16', '2026-11-29 16:57:35.012571+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log5": "added"}}', 'c4756037-504c-49ee-ba4b-5cf296accedc', E'\\x64d5a5cb504a2eb2d88dd2dd05003b3215188a214e437cef4494dec304292ba2'),
('acme', '17', '2026-11-29 16:57:35.081646+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log6": "added"}}', '0c7820bc-18a7-4500-9f75-3621d84e3a2e', E'\\x5da1af8cbf02e07a695d8ce1c6bcb8c84c146c7de4092185881dfebc0874244a'),
('acme', '18', '2026-11-29 16:57:35.137063+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log7": "added"}}', 'bf8c64cb-0e89-41e2-949f-1cc4fd6ff43b', E'\\x01604d15e1a853d00ee2edf6b2e0f555496d22d4b589267100f5e6a2e7878082'),
('acme', '19', '2026-11-29 16:57:35.1896+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"log8": "added"}}', 'f6431618-8265-4a0d-9d5f-4b6650ad4ab1', E'\\x6fbd36fe04b74b2e88330ee51c13b2d5536c749b3289f36788d46476b8a9589b'),
('acme', '2', '2026-11-29 16:57:33.534694+00', NULL, 'operator', 'key.create', 'key_15d8f850357eb648', '{"roles": ["reader", "writer", "admin", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', 'a5882760-c0ff-44dd-887d-e111ea47caf7', E'\\xdf05ae8fac0b6dcfa630e4a09f3603252b4c4e7c4c0a82fdf7ae69fed8c10503'),
('acme', '20', '2026-11-29 16:57:35.274674+00', 'ana', 'key_bf7f6c0960c9ceae', 'documents.write', '', '{"documents": {"notes": "added"}}', '5e8a7c8e-e98f-4f54-9190-5957e95467cb', E'\\x4c3e40fe638d6acd7ce27d4b1a2ea510bdd6a7eb82afb09a7e5ded739f72343a'),
('acme', '21', '2026-11-29 16:57:35.432876+00', 'ana', 'key_bf7f6c0960c9ceae', 'documents.write', '', '{"documents": {"list": "added"}}', '44b5449d-ecfd-417b-b2c6-e60a4d999142', E'\\xe93f2343807427bf961b5c4c27c6326b27d79f5b8c0e8b0263a62f83bdbe1124'),
('acme', '22', '2026-11-29 16:57:35.897927+00', 'ana', 'key_bf7f6c0960c9ceae', 'documents.write', '', '{"documents": {"notes": "changed"}}', 'fb111d5c-9175-4c01-938b-dbf6bff486fb', E'\\xa2eaa38f8178832c99b9db507070cb351d3b7a96a0d4703d387f5af36f5ff026'),
('acme', '23', '2026-11-29 16:57:35.970707+00', 'ada', 'key_15d8f850357eb648', 'documents.remove', '', '{"documents": {"log8": "removed"}}', 'c352967e-b644-426b-b159-e06c9a7b136d', E'\\x8fc3f293d1cad5011063b46ec46c62a501d6a0e26054d5593b67c72faec7dbcd'),
('acme', '24', '2026-11-29 16:57:36.081458+00', NULL, 'operator', 'key.create', 'key_697da91afb37f283', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', 'ea467f7f-4da7-49e5-b5aa-9a3862c5988c', E'\\x7b5a34f31baca468fb255c181ef825d300b00a3bb9160a80cd4742ce208e4866'),
('acme', '25', '2026-11-29 16:57:36.108048+00', 'receiving-admin', 'key_697da91afb37f283', 'receives_public.put', 'acme', '{"receives_public": true}', 'ea6e9d22-1b7f-44f7-96b7-a3248924a7e0', E'\\x7c0e784d917d7d780e6150344ed84f6b810098f379f95fbae6d02a37c3bfc92a'),
('acme', '26', '2026-11-29 16:57:36.739156+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', 'e2aec827-f98d-42c0-82e5-34630d3189cf', E'\\x826b8dbad97b01ead95e1e4eb0d3dfff1d602d2bea7e31d0eab1a7177949ddc0'),
('acme', '3', '2026-11-29 16:57:33.570684+00', NULL, 'operator', 'key.create', 'key_bf7f6c0960c9ceae', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', 'db039c62-deb3-4dcc-9626-a6fde933da6b', E'\\xbee2e2218982738bc5b1f06c869080c5123c36e3c9ee9848f91520e0b7b8b000'),
('acme', '4', '2026-11-29 16:57:33.591132+00', NULL, 'operator', 'key.create', 'key_0a7a27070b90acbb', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', 'b91bc0ca-3759-497a-84d0-b8a74120ae62', E'\\xdd7e9421702b070c21edd435345262a032798e2d27beb7aaad897f0ddee68a95'),
('acme', '5', '2026-11-29 16:57:33.914755+00', 'ada', 'key_15d8f850357eb648', 'member.add', 'crew', '{"member": "ana"}', '2f36ac58-be7d-422f-83eb-3c82380b6fc0', E'\\xc397ee150db49a0c4388e45e8b308a512a6004b8917ca027ac503c5f13edde20'),
('acme', '6', '2026-11-29 16:57:34.016657+00', 'ada', 'key_15d8f850357eb648', 'confidence.put', 'acme', '{"sources": {"log": 0.95}, "score_min": 0.1}', '3733c935-697c-4457-9c1c-bdf733f90592', E'\\x8e51c1ac12af3856cebd7ed4b87a4cba902eac045314c95c7937507b6b68155d'),
('acme', '7', '2026-11-29 16:57:34.121617+00', 'ada', 'key_15d8f850357eb648', 'gate.put', 'lamps', '{"custom": true}', 'ae2f3393-37aa-4be5-84b8-078edbea1c8b', E'\\x4e0f67b57776e381e17371e86115737954b5f91d94738ce476cb94920a7dbafa'),
('acme', '8', '2026-11-29 16:57:34.474623+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"guide": "added"}}', '9e193e1e-8a7d-4ae1-9ca3-770fbcbf72f4', E'\\x98809f0fe9af1fb614abcf085e58eb2b6be83425ff96393af423c2d56362dbcf'),
('acme', '9', '2026-11-29 16:57:34.598418+00', 'ada', 'key_15d8f850357eb648', 'documents.write', '', '{"documents": {"prices": "added"}}', 'addf4774-920c-477f-8b17-a4f169c2ba94', E'\\x34497cf6e12c0ec715bad2dda185cd14f14685810eea6eb0c0960a50c22ed7e7'),
('beta', '1', '2026-11-29 16:57:33.48883+00', NULL, 'operator', 'tenant.create', 'beta', '{}', '790dba98-132c-466c-813b-6e0b9a638540', E'\\x1f2c062b5aa8a3ec2ade55c125a48ab08dd11bae5466183b2676707eae516358'),
('beta', '2', '2026-11-29 16:57:33.770495+00', NULL, 'operator', 'key.create', 'key_274fbef7a8b8bf40', '{"roles": ["reader", "writer", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', '9238a381-fd49-44de-a83f-d72908f48f92', E'\\x5e4d93b395f095071de63b6987718d1aa9754afb0f1dd4becf0188f24ba2c1fd'),
('beta', '3', '2026-11-29 16:57:35.594694+00', 'bea', 'key_274fbef7a8b8bf40', 'documents.write', '', '{"documents": {"harbour": "added"}}', '3cabe6d0-5ffb-4f5b-ba99-1013d39643b6', E'\\xb1e508cfb83e67ccda807bd784692e7374caa967c37709fc54938766f637f808'),
('beta', '4', '2026-11-29 16:57:35.623345+00', 'bea', 'key_274fbef7a8b8bf40', 'documents.write', '', '{"documents": {"tides": "added"}}', '4d29a95e-3b63-46fe-88a2-e57b0910d646', E'\\x390b4cc87917b7add29b1e03eb1752426568feeb27e61e28dc41620dfcd650c1'),
('beta', '5', '2026-11-29 16:57:35.652666+00', 'bea', 'key_274fbef7a8b8bf40', 'documents.write', '', '{"documents": {"boats": "added"}}', '58b86880-bee0-4369-89b8-10a41fb23b7c', E'\\x19290fe0a0cd1d304501cb80e467e69dba5af742916edf2b908372c7eec1a4d7'),
('beta', '6', '2026-11-29 16:57:36.137795+00', NULL, 'operator', 'key.create', 'key_31da7e97ba570f43', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', '90770782-995a-4ef8-98ae-050b629fabaf', E'\\x7660be13f5bcbf55629610b44e6929ba376e9103c346f7a89d381cdfc941326d'),
('beta', '7', '2026-11-29 16:57:36.177825+00', 'receiving-admin', 'key_31da7e97ba570f43', 'receives_public.put', 'beta', '{"receives_public": true}', '1439fe1d-12f4-4e02-bc96-2d81aada9e5f', E'\\x8a6d41905610fbcf44aede0c1ecc7b69251dc21d30cf61a007252f31ac1331e4');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '26', E'\\x826b8dbad97b01ead95e1e4eb0d3dfff1d602d2bea7e31d0eab1a7177949ddc0', '0', E'\\x'),
('beta', '7', E'\\x8a6d41905610fbcf44aede0c1ecc7b69251dc21d30cf61a007252f31ac1331e4', '0', E'\\x');
DELETE FROM best_scores;
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-29 16:57:34.993757+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-29 16:57:35.07647+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-29 16:57:35.110543+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-29 16:57:35.179845+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-29 16:57:35.256694+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-29 16:57:35.333316+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-29 16:57:35.814564+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-29 16:57:35.924063+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{18}', '{}', '2026-11-29 16:57:36.614571+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-29 16:57:36.956826+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-29 16:57:34.354668+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-29 16:57:34.559267+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-29 16:57:34.640758+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-29 16:57:34.69925+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-29 16:57:34.749073+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-29 16:57:34.837085+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-29 16:57:34.892563+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-29 16:57:34.943319+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-29 16:57:35.543195+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-29 16:57:35.617679+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-29 16:57:35.64338+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-29 16:57:34.559267+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-29 16:57:35.617679+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-29 16:57:36.956826+00');
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
('1', '1', 'acme', '1', '[0.25,0.25,0,0.25,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0,0]', '{115926766:1.438849,194283843:1.6711352,304832929:1.438849,382538404:1.438849,441687500:1.438849,445327439:1.438849,533734395:1.438849,534527679:1.438849,715989878:1.438849,819937956:1.6197127,868429517:1.438849,968289718:1.438849}/1000000000'),
('1', '10', 'acme', '8', '[0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0.25,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,828332147:1.4457831,921269338:1.6035634}/1000000000'),
('1', '11', 'acme', '9', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0.25,0,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,840549211:1.4457831,974816427:1.6035634}/1000000000'),
('1', '12', 'acme', '10', '[0.25,0.25,0,0,0.25,0.25,0.25,0.25,0,0,0,0.25,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0.25,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,764166510:1.4457831,990539103:1.6035634}/1000000000'),
('1', '13', 'acme', '11', '[0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0.25,0,0.25,0,0.25,0,0.25,0,0.25,0.25,0,0,0,0,0,0,0.25,0.25,0,0,0.25,0]', '{12567219:1.4457831,210352171:1.4457831,405033478:1.4457831,445327439:1.4457831,452477101:1.4457831,496024817:1.4457831,539698964:1.4457831,667486296:1.4457831,794375235:1.6035634,868429517:1.4457831}/1000000000'),
('1', '16', 'acme', '14', '[0.25,0.25,0.25,0.25,0,0,0,0,0.25,0.25,0.25,0.25,0.25,0.25,0,0.25,0,0.25,0,0,0,0.25,0.25,0,0,0,0,0,0,0.25,0,0.25]', '{81394927:1.4814814,368287765:1.4814814,445327439:1.4814814,465380122:1.4814814,601650979:1.4814814}/1000000000'),
('1', '2', 'acme', '1', '[0.25,0.25,0,0,0.25,0,0.25,0.25,0.25,0,0.25,0,0,0.25,0,0.25,0,0,0.25,0,0,0,0.25,0,0,0.25,0.25,0.25,0,0.25,0.25,0]', '{19658399:1.4184397,81394927:1.4184397,190004827:1.4184397,194283843:1.6147666,210352171:1.4184397,368287765:1.4184397,463738234:1.4184397,465380122:1.4184397,765044990:1.4184397,819937956:1.6147666,913226580:1.4184397,936994680:1.6518813,995122589:1.586602}/1000000000'),
('1', '20', 'acme', '13', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0,0.25,0.25,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0,0,0.25,0.25]', '{44087590:1.4563106,118130771:1.4563106,445327439:1.4563106,470979025:1.4563106,625928187:1.4563106,836452582:1.4563106,853566424:1.4563106,995122589:1.4563106}/1000000000'),
('1', '21', 'acme', '18', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0.25,0,0,0,0,0.25,0,0.25,0.25]', '{100738446:1.4778326,194283843:1.4778326,212648460:1.4778326,326575024:1.4778326,690376031:1.4778326}/1000000000'),
('1', '3', 'acme', '1', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0.25,0.25,0.25,0,0.25,0.25,0,0.25,0,0,0.25,0,0,0.25,0,0,0.25,0,0,0,0,0,0.25,0]', '{3450694:1.4184397,100927274:1.4184397,194283843:1.6147666,455296186:1.4184397,467992172:1.4184397,482434918:1.4184397,496024817:1.586602,539698964:1.4184397,546434641:1.4184397,690376031:1.586602,696242393:1.4184397,819937956:1.6147666,841669259:1.4184397,882067793:1.4184397}/1000000000'),
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
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '{"owner": 0, "active": 0, "chunker": 0, "content": 1, "readers": 1, "metadata": 1, "summaries": 1}', '2026-11-29 16:57:34.354668+00', '2026-11-29 16:57:34.354668+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '{"owner": 0, "active": 0, "chunker": 0, "content": 19, "readers": 19, "metadata": 19, "summaries": 0}', '2026-11-29 16:57:35.07647+00', '2026-11-29 16:57:35.07647+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '{"owner": 0, "active": 0, "chunker": 0, "content": 21, "readers": 21, "metadata": 21, "summaries": 0}', '2026-11-29 16:57:35.110543+00', '2026-11-29 16:57:35.110543+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '37', '{"owner": 0, "active": 0, "chunker": 0, "content": 36, "readers": 25, "metadata": 36, "summaries": 0}', '2026-11-29 16:57:35.256694+00', '2026-11-29 16:57:35.814564+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '{"owner": 0, "active": 0, "chunker": 0, "content": 27, "readers": 27, "metadata": 27, "summaries": 0}', '2026-11-29 16:57:35.333316+00', '2026-11-29 16:57:35.333316+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '{"owner": 0, "active": 0, "chunker": 0, "content": 29, "readers": 0, "metadata": 29, "summaries": 0}', '2026-11-29 16:57:35.543195+00', '2026-11-29 16:57:35.543195+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '{"owner": 0, "active": 0, "chunker": 0, "content": 31, "readers": 31, "metadata": 31, "summaries": 0}', '2026-11-29 16:57:35.617679+00', '2026-11-29 16:57:35.617679+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '{"owner": 0, "active": 0, "chunker": 0, "content": 33, "readers": 33, "metadata": 33, "summaries": 0}', '2026-11-29 16:57:35.64338+00', '2026-11-29 16:57:35.64338+00'),
('18', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '42', '{"owner": 41, "active": 0, "chunker": 0, "content": 41, "readers": 41, "metadata": 41, "summaries": 0}', '2026-11-29 16:57:36.614571+00', '2026-11-29 16:57:36.614571+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '{"owner": 0, "active": 0, "chunker": 0, "content": 3, "readers": 3, "metadata": 3, "summaries": 0}', '2026-11-29 16:57:34.559267+00', '2026-11-29 16:57:34.559267+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '{"owner": 0, "active": 0, "chunker": 0, "content": 5, "readers": 5, "metadata": 5, "summaries": 0}', '2026-11-29 16:57:34.640758+00', '2026-11-29 16:57:34.640758+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '{"owner": 0, "active": 0, "chunker": 0, "content": 7, "readers": 7, "metadata": 7, "summaries": 0}', '2026-11-29 16:57:34.69925+00', '2026-11-29 16:57:34.69925+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '{"owner": 0, "active": 0, "chunker": 0, "content": 9, "readers": 9, "metadata": 9, "summaries": 0}', '2026-11-29 16:57:34.749073+00', '2026-11-29 16:57:34.749073+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '{"owner": 0, "active": 0, "chunker": 0, "content": 11, "readers": 11, "metadata": 11, "summaries": 0}', '2026-11-29 16:57:34.837085+00', '2026-11-29 16:57:34.837085+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '{"owner": 0, "active": 0, "chunker": 0, "content": 13, "readers": 13, "metadata": 13, "summaries": 0}', '2026-11-29 16:57:34.892563+00', '2026-11-29 16:57:34.892563+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '{"owner": 0, "active": 0, "chunker": 0, "content": 15, "readers": 15, "metadata": 15, "summaries": 0}', '2026-11-29 16:57:34.943319+00', '2026-11-29 16:57:34.943319+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '{"owner": 0, "active": 0, "chunker": 0, "content": 17, "readers": 17, "metadata": 17, "summaries": 0}', '2026-11-29 16:57:34.993757+00', '2026-11-29 16:57:34.993757+00');
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
('acme', 'crew', 'ana', '2026-11-29 16:57:33.85456+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'a7256125-34d0-4ca0-9a9a-58096d22bd39', NULL, NULL, '2026-11-29 16:57:33.85456+00');
DELETE FROM groups_with_words;
INSERT INTO groups_with_words (tenant, token) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew'),
('acme', 'group:sales');
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '7501039648269358440');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-5');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_8439ffcdc68ddebf', 'acme', 'document.write', 'document:queued', 'api', '{content,metadata}', '35', 'key_15d8f850357eb648', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-29 16:57:35.675781+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-29 16:57:35.675781+00', NULL, NULL),
('2', 'job_86bc8a729f6f0e23', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '39', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-29 16:58:35.924063+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-29 16:57:35.924063+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_0a7a27070b90acbb', 'acme', E'\\x89bb94b5492d58c88758b6e04135b49c3d63b04e03cf6bf0d9cf6017ff4c961b', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 16:57:33.58458+00', NULL, NULL, NULL),
('key_15d8f850357eb648', 'acme', E'\\xe54c5b2579003692ac193745ac6c7ff15d285fdcf8d550fd80ea97c9da6134f4', '', 'ada', '{}', '{reader,writer,admin,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 16:57:33.502562+00', NULL, NULL, '2026-11-29 16:57:35.916303+00'),
('key_274fbef7a8b8bf40', 'beta', E'\\x0fa9a2500caea5b39d536b6eb2e7aed5e0bf0fc10c2bcc6e266e52b0c3613313', '', 'bea', '{}', '{reader,writer,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 16:57:33.642567+00', NULL, NULL, '2026-11-29 16:57:35.629665+00'),
('key_31da7e97ba570f43', 'beta', E'\\x7a63a9fe11f49d99613ac7e3422b41bcae0eb23ed36c0eb485a70120c8396a96', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 16:57:36.110028+00', NULL, NULL, '2026-11-29 16:57:36.14734+00'),
('key_697da91afb37f283', 'acme', E'\\xf850e17db851855f4ca69d906e4dc440d447af5035cfb3b8b3e5fc063fc64ecf', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 16:57:36.075178+00', NULL, NULL, '2026-11-29 16:57:36.099362+00'),
('key_bf7f6c0960c9ceae', 'acme', E'\\x90ebfcbac7dc662af33a425877e5f5a94a63ac05a3177d03f8c2c4abd1857fe4', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-29 16:57:33.537177+00', NULL, NULL, '2026-11-29 16:57:35.747628+00');
DELETE FROM noted_histories;
INSERT INTO noted_histories (history, number) OVERRIDING SYSTEM VALUE VALUES
('84657962e3405571', '1');
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
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '38', '2026-11-29 16:57:35.924063+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', '84657962e3405571', 'true', '0');
DELETE FROM restricted_words;
INSERT INTO restricted_words (tenant, token, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew', 'burned', '785'),
('acme', 'group:crew', 'horn', '785'),
('acme', 'group:crew', 'hours', '785'),
('acme', 'group:crew', 'lamp', '785'),
('acme', 'group:crew', 'sounded', '785'),
('acme', 'group:crew', 'times', '785'),
('acme', 'group:sales', 'burned', '787'),
('acme', 'group:sales', 'horn', '787'),
('acme', 'group:sales', 'hours', '787'),
('acme', 'group:sales', 'lamp', '787'),
('acme', 'group:sales', 'sounded', '787'),
('acme', 'group:sales', 'times', '787');
DELETE FROM revisions_before;
INSERT INTO revisions_before (tenant, history, revision, number) OVERRIDING SYSTEM VALUE VALUES
('acme', '84657962e3405571', '0', '2'),
('beta', '84657962e3405571', '0', '4'),
('public', '84657962e3405571', '0', '3');
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 16:57:34.354668+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 16:57:36.614571+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 16:57:34.640758+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 16:57:34.749073+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-29 16:57:35.543195+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-29 16:57:33.33543+00', 'false', '20', '2', '10', '55', '84657962e3405571', '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-29 16:57:33.476871+00', 'false', '3', '1', '3', '7', '84657962e3405571', '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-29 16:57:32.415622+00', 'false', '4', '0', '0', '0', '84657962e3405571', '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'false', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
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
('acme', 'gepruft', '783'),
('acme', 'guide', '777'),
('acme', 'horn', '777'),
('acme', 'house', '777'),
('acme', 'into', '777'),
('acme', 'keeper', '777'),
('acme', 'lamp', '777'),
('acme', 'lens', '777'),
('acme', 'lighthouse', '777'),
('acme', 'maschinenhaus', '783'),
('acme', 'minute', '777'),
('acme', 'nach', '783'),
('acme', 'nebel', '783'),
('acme', 'needs', '777'),
('acme', 'nine', '779'),
('acme', 'northern', '777'),
('acme', 'pump', '777'),
('acme', 'pumpen', '783'),
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
('acme', 'werden', '783'),
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
