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
('acme', '1', '2026-11-28 01:56:03.468905+00', NULL, 'operator', 'tenant.create', 'acme', '{}', '104b8eee-1993-4e3b-a95c-727e61140b23', E'\\xda3219cf0db84b1aa545cf1dcf7ada919a423754dc0ad7027ed2a0323da250c3'),
('acme', '10', '2026-11-28 01:56:03.658751+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"salaries": "added"}}', '78480d30-f10a-4d0b-8c26-1c1080b355c9', E'\\x373db5cdd9e4857ca47e134bfad7fbadbcba73b35334274891827089297d0f27'),
('acme', '11', '2026-11-28 01:56:03.682602+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"pump": "added"}}', '749d05e0-40ba-49d2-b491-e019a819a748', E'\\x67d46993b2a5725df29ba5ec92fa0223c49bf1a933cb952a1a2ea8462674ba69'),
('acme', '12', '2026-11-28 01:56:03.699219+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log1": "added"}}', '0deb091b-4608-4467-ab67-c7914f30b4ed', E'\\x3ace946ae6ede50dc5f047c96e092e9db7f096009be6921b189d76e9f57ed9a3'),
('acme', '13', '2026-11-28 01:56:03.718128+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log2": "added"}}', '6a799db5-880b-41d0-8867-b1362c16e979', E'\\xbcf1e0fdd48787342bed6839179661d268be2d3698f0a858f5191bf781040ffe'),
('acme', '14', '2026-11-28 01:56:03.738232+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log3": "added"}}', 'dd661fbe-e12a-4340-bb19-7e176e715109', E'\\x4afd851f39c399e9add2679f53736ee55bf33663c21e36ac419e7e72fb3ca08d'),
('acme', '15', '2026-11-28 01:56:03.75822+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log4": "added"}}', 'd817c4e4-7e61-40a9-8d6c-c747a941c17c', E'\\xe505ba310ca881aeb085e1506100f2ef411144348fc66a627be3ce97ef1cb2b3'),
('acme', '16', '2026-11-28 01:56:03.776896+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log5": "added"}}', '7b6fd79c-a216-42e0-a46f-6ccc5f5b9dee', E'\\x88a8e165e18d868becba5e9e5bf9bc1e36958b73474df6a2b1f540700fe3b624'),
('acme', '17', '2026-11-28 01:56:03.79248+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log6": "added"}}', '7c091462-94a0-4469-9a49-c9f99b23acec', E'\\xe591bdb7c7c666a7c2524e75e5ca666f7ab7b72a679598757c6cdb782fd013f6'),
('acme', '18', '2026-11-28 01:56:03.809486+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log7": "added"}}', '3baf6ec6-c1d3-45b8-9d18-1e8384ea96c2', E'\\x5146d6a80bf50f193967ec51a570e6dfeaec9e80a19499ae044becd387cd95c4'),
('acme', '19', '2026-11-28 01:56:03.833631+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"log8": "added"}}', '39abf64d-b8f7-458b-976b-d0b2ea5085d6', E'\\x788ca6e8f0dc612f08cc2137ed268b27fc93826e914acd48359089b4f87d3a76'),
('acme', '2', '2026-11-28 01:56:03.488911+00', NULL, 'operator', 'key.create', 'key_d49e90dccb59a52d', '{"roles": ["reader", "writer", "admin", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', '2e2ba618-1d4a-4425-8353-8bc8889dcc91', E'\\xbe2869741740e5e9ff865d81e3faf745f8f562cc805ad12b1073881990bfc6c7'),
('acme', '20', '2026-11-28 01:56:03.856182+00', 'ana', 'key_6969e31397aaf407', 'documents.write', '', '{"documents": {"notes": "added"}}', '651b5cf2-1103-472f-abe6-a67e981ff7f6', E'\\xb8d95af905b0fe086ebc03234b9d93652b57e96a8226d17cc9b060d699dc99e1'),
('acme', '21', '2026-11-28 01:56:03.880759+00', 'ana', 'key_6969e31397aaf407', 'documents.write', '', '{"documents": {"list": "added"}}', '6077cfe4-b087-49cd-b779-8b12319df0e0', E'\\x66b958a9f8867d6b02dab173ef064d1790dbbe06706eac03355b96211a828ee8'),
('acme', '22', '2026-11-28 01:56:03.990549+00', 'ana', 'key_6969e31397aaf407', 'documents.write', '', '{"documents": {"notes": "changed"}}', '6f25f277-73d3-4aec-86e6-9e67732c17a3', E'\\xf91401bf833f9f217b2a75476f753568f9325bb3348524fde9599a9a8c088e0c'),
('acme', '23', '2026-11-28 01:56:04.00934+00', 'ada', 'key_d49e90dccb59a52d', 'documents.remove', '', '{"documents": {"log8": "removed"}}', '5fad002e-8085-44ae-875b-4fd23d2ec467', E'\\x36b4c8896624aff2ad92f15a9c22c20bb071ab889ab642046843646759d656a0'),
('acme', '24', '2026-11-28 01:56:04.030781+00', NULL, 'operator', 'key.create', 'key_37848dae8bb5097e', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', 'c7eb885f-c1d5-4cd5-9a9c-a4f75526ce84', E'\\xa5548fa318cf6340007a3548b0903825c527b593bf17a0449373d19df0246070'),
('acme', '25', '2026-11-28 01:56:04.038599+00', 'receiving-admin', 'key_37848dae8bb5097e', 'receives_public.put', 'acme', '{"receives_public": true}', 'f5968825-fa62-4d89-a636-f856fddd13b9', E'\\xb49116017352b2fe37d5e8dbd094b71435f7b112dadd3961d41be1eeab4bfda4'),
('acme', '26', '2026-11-28 01:56:04.192878+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', '6ff0d95d-d506-49a1-94e1-39a4b9d73d89', E'\\xb81a72715be305832a957d27d1d981a8eb48ed32091b98c7754942d301981cb9'),
('acme', '3', '2026-11-28 01:56:03.495576+00', NULL, 'operator', 'key.create', 'key_6969e31397aaf407', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', '4c9737ff-f07f-4867-a957-7eba1dbb25db', E'\\xc138ab362892c876b5563390946e4db9f1256d829f685d5c4a07e20ff62c92f3'),
('acme', '4', '2026-11-28 01:56:03.499966+00', NULL, 'operator', 'key.create', 'key_1215f0c011d9ea8f', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', 'ffca80ca-69bd-4c3c-af62-2e6a53d7bdae', E'\\x8d309f40f6a05ce76142fb170a92cded52a758416a6bc547e43474f6dc429783'),
('acme', '5', '2026-11-28 01:56:03.529595+00', 'ada', 'key_d49e90dccb59a52d', 'member.add', 'crew', '{"member": "ana"}', '41751967-d531-468b-b935-609bdc571490', E'\\x5eb0e5d364a53c9704c7a09f46fa89aabc3a7ce57d9da87eae69f3b658abfae7'),
('acme', '6', '2026-11-28 01:56:03.547123+00', 'ada', 'key_d49e90dccb59a52d', 'confidence.put', 'acme', '{"sources": {"log": 0.95}, "score_min": 0.1}', '1841e50a-5fb1-4009-b37f-f966f57b6edf', E'\\xa3714a4e4dc649f22ba0d125334d7dc91126cba6aa47747a1a97f688438a40d3'),
('acme', '7', '2026-11-28 01:56:03.559415+00', 'ada', 'key_d49e90dccb59a52d', 'gate.put', 'lamps', '{"custom": true}', 'e9b4c321-f67a-4d76-885f-cdfef3f4fa3f', E'\\x9f81a64949e17b36ed238a7445155e45e76cc9805923bfccbff1a4918672cd34'),
('acme', '8', '2026-11-28 01:56:03.610612+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"guide": "added"}}', 'c7c9a5a3-9c19-40e3-ae15-f164e5fc5002', E'\\x4d8dc815617add4a70cb3bd43da45c7479dfed03f751b331f8321db87364c10b'),
('acme', '9', '2026-11-28 01:56:03.636245+00', 'ada', 'key_d49e90dccb59a52d', 'documents.write', '', '{"documents": {"prices": "added"}}', 'b58099fd-e0e1-4527-8d98-a1b0b292de95', E'\\xafeb3e4958a537b0f6abcf72e0f7ecdf43f80d48566035d5f5be45c83aa70565'),
('beta', '1', '2026-11-28 01:56:03.478576+00', NULL, 'operator', 'tenant.create', 'beta', '{}', '483d51a0-6699-4eca-a0ee-be9c273912b1', E'\\xa03b6d2d7cdbee1193b362f5e6ff37c54f88c7b5af532b58e3749930cac4bd6e'),
('beta', '2', '2026-11-28 01:56:03.506464+00', NULL, 'operator', 'key.create', 'key_23483bfb63dd4299', '{"roles": ["reader", "writer", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', '15447560-3af3-4343-884e-7468cc3304a3', E'\\x04db089f8c472fb793ca1189f46123b3a19f98a25f0f494890a64725de421b33'),
('beta', '3', '2026-11-28 01:56:03.905152+00', 'bea', 'key_23483bfb63dd4299', 'documents.write', '', '{"documents": {"harbour": "added"}}', '44088d30-9773-4fdf-868c-818cd3b9defa', E'\\xe60e8438c91e59e846b8e1436e27337290a081fda3d56459a7e1997eb44d1202'),
('beta', '4', '2026-11-28 01:56:03.933624+00', 'bea', 'key_23483bfb63dd4299', 'documents.write', '', '{"documents": {"tides": "added"}}', 'c55e90f7-e79e-499d-a698-8ac45ede0142', E'\\x05c0b4a01e328af48a59ba3804c3a79931ebc42edd790fdcdb3b540d95b07456'),
('beta', '5', '2026-11-28 01:56:03.950396+00', 'bea', 'key_23483bfb63dd4299', 'documents.write', '', '{"documents": {"boats": "added"}}', '5bf03f7e-c158-4974-9868-8889c8798b2f', E'\\x08ac3d0914ce06faa6f5528bb2f10d3a2a7bac4a7e34a9c451f95ff2d5fe30ca'),
('beta', '6', '2026-11-28 01:56:04.045954+00', NULL, 'operator', 'key.create', 'key_eeca57479883d247', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', 'a587338c-6d01-47ca-b123-797927af393f', E'\\xf145adc54ca639ff6b9af1e524a8b1f96c321499713334b773dcde133b6b7dc8'),
('beta', '7', '2026-11-28 01:56:04.054302+00', 'receiving-admin', 'key_eeca57479883d247', 'receives_public.put', 'beta', '{"receives_public": true}', 'd02aae9a-10db-4b2f-9be2-64898012d9a4', E'\\x7c3ea0c3138d1f41844305599698e9b5b604d9601b5161888093f77dc84b9e28');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '26', E'\\xb81a72715be305832a957d27d1d981a8eb48ed32091b98c7754942d301981cb9', '0', E'\\x'),
('beta', '7', E'\\x7c3ea0c3138d1f41844305599698e9b5b604d9601b5161888093f77dc84b9e28', '0', E'\\x');
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-28 01:56:03.77154+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-28 01:56:03.788203+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-28 01:56:03.804214+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-28 01:56:03.83008+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-28 01:56:03.851361+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-28 01:56:03.876136+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-28 01:56:03.986355+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-28 01:56:04.003183+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{18}', '{}', '2026-11-28 01:56:04.174658+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-28 01:56:04.249361+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-28 01:56:03.589327+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-28 01:56:03.629542+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-28 01:56:03.653482+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-28 01:56:03.677701+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-28 01:56:03.694624+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-28 01:56:03.712485+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-28 01:56:03.733071+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-28 01:56:03.75286+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-28 01:56:03.892942+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-28 01:56:03.92652+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-28 01:56:03.9475+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-28 01:56:03.629542+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-28 01:56:03.92652+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-28 01:56:04.249361+00');
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
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '1', '0', '1', '0', '2026-11-28 01:56:03.589327+00', '2026-11-28 01:56:03.589327+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '19', '0', '19', '0', '2026-11-28 01:56:03.788203+00', '2026-11-28 01:56:03.788203+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '21', '0', '21', '0', '2026-11-28 01:56:03.804214+00', '2026-11-28 01:56:03.804214+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '37', '36', '0', '25', '0', '2026-11-28 01:56:03.851361+00', '2026-11-28 01:56:03.986355+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '27', '0', '27', '0', '2026-11-28 01:56:03.876136+00', '2026-11-28 01:56:03.876136+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '29', '0', '0', '0', '2026-11-28 01:56:03.892942+00', '2026-11-28 01:56:03.892942+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '31', '0', '31', '0', '2026-11-28 01:56:03.92652+00', '2026-11-28 01:56:03.92652+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '33', '0', '33', '0', '2026-11-28 01:56:03.9475+00', '2026-11-28 01:56:03.9475+00'),
('18', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '42', '41', '41', '41', '40', '2026-11-28 01:56:04.174658+00', '2026-11-28 01:56:04.174658+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '3', '0', '3', '0', '2026-11-28 01:56:03.629542+00', '2026-11-28 01:56:03.629542+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '5', '0', '5', '0', '2026-11-28 01:56:03.653482+00', '2026-11-28 01:56:03.653482+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '7', '0', '7', '0', '2026-11-28 01:56:03.677701+00', '2026-11-28 01:56:03.677701+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '9', '0', '9', '0', '2026-11-28 01:56:03.694624+00', '2026-11-28 01:56:03.694624+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '11', '0', '11', '0', '2026-11-28 01:56:03.712485+00', '2026-11-28 01:56:03.712485+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '13', '0', '13', '0', '2026-11-28 01:56:03.733071+00', '2026-11-28 01:56:03.733071+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '15', '0', '15', '0', '2026-11-28 01:56:03.75286+00', '2026-11-28 01:56:03.75286+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '17', '0', '17', '0', '2026-11-28 01:56:03.77154+00', '2026-11-28 01:56:03.77154+00');
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
('acme', 'crew', 'ana', '2026-11-28 01:56:03.523323+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'a1d2a172-8e93-46f2-a456-ac1b6e628f81', NULL, NULL, '2026-11-28 01:56:03.523323+00');
DELETE FROM groups_with_words;
INSERT INTO groups_with_words (tenant, token) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew'),
('acme', 'group:sales');
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '-4013598837707701594');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-3');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_9d600146bf815153', 'acme', 'document.write', 'document:queued', 'api', '{content}', '35', 'key_d49e90dccb59a52d', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-28 01:56:03.969581+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 01:56:03.969581+00', NULL, NULL),
('2', 'job_68e750614b7047aa', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '39', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-28 01:57:04.003183+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 01:56:04.003183+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_1215f0c011d9ea8f', 'acme', E'\\x35691faf61d0b8e1fcca5397e438470a38eff323b6407115e97ea42420a0ce8a', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 01:56:03.498441+00', NULL, NULL, NULL),
('key_23483bfb63dd4299', 'beta', E'\\x2a28d25618261092dba09860e5a1b2f13a28ddf6282c992f5f019a642e355cc5', '', 'bea', '{}', '{reader,writer,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 01:56:03.503928+00', NULL, NULL, '2026-11-28 01:56:03.941376+00'),
('key_37848dae8bb5097e', 'acme', E'\\x055aad7f282f469b62b90dbefb1d0740a74c0e6b6e8678cd6c50e47a883cd8b3', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 01:56:04.026608+00', NULL, NULL, '2026-11-28 01:56:04.035215+00'),
('key_6969e31397aaf407', 'acme', E'\\x8928aa7b3ca45b82d70905c1629cfc48f6bad3f3c94b4422fffd9bcd53f0f366', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 01:56:03.493198+00', NULL, NULL, '2026-11-28 01:56:03.978573+00'),
('key_d49e90dccb59a52d', 'acme', E'\\xba11feb862c2ee45bffb17dcb35aef1eddeea09251232962f7a204149305eb20', '', 'ada', '{}', '{reader,writer,admin,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 01:56:03.483446+00', NULL, NULL, '2026-11-28 01:56:04.000706+00'),
('key_eeca57479883d247', 'beta', E'\\x305daa86a7a9a1d751dba235ba91207c82a6df26edd74d5635e89e96abe720ad', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-28 01:56:04.04352+00', NULL, NULL, '2026-11-28 01:56:04.051961+00');
DELETE FROM noted_histories;
INSERT INTO noted_histories (history, number) OVERRIDING SYSTEM VALUE VALUES
('f5f633bed786eeae', '1');
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
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '38', '2026-11-28 01:56:04.003183+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', 'f5f633bed786eeae', 'true', '0');
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
('acme', 'f5f633bed786eeae', '0', '2'),
('beta', 'f5f633bed786eeae', '0', '4'),
('public', 'f5f633bed786eeae', '0', '3');
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 01:56:03.589327+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 01:56:04.174658+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 01:56:03.653482+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 01:56:03.694624+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-28 01:56:03.892942+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-28 01:56:03.463266+00', 'false', '20', '2', '10', '55', 'f5f633bed786eeae', '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-28 01:56:03.47653+00', 'false', '3', '1', '3', '7', 'f5f633bed786eeae', '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-28 01:56:03.207977+00', 'false', '4', '0', '0', '0', 'f5f633bed786eeae', '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'false', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
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
('acme', 'expected', '821'),
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
('beta', 'boats', '809'),
('beta', 'knowledge', '807'),
('beta', 'lighthouse', '807'),
('beta', 'need', '809'),
('beta', 'permit', '809'),
('beta', 'public', '807'),
('beta', 'tides', '807');
DELETE FROM web_pages;
SELECT setval('public.audiences_audience_key_seq', 11);
SELECT setval('public.chunk_ids', 21);
SELECT setval('public.document_versions', 42);
SELECT setval('public.documents_document_key_seq', 18);
SELECT setval('public.history_order', 4);
SELECT setval('public.jobs_job_no_seq', 2);
SELECT setval('public.partition_numbers', 1);
RESET session_replication_role;
