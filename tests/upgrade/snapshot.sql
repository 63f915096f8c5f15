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
INSERT INTO audit_log (tenant, number, at, subject, key_id, action, target, details, hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '1', '2026-11-22 21:54:28.073439+00', NULL, 'operator', 'tenant.create', 'acme', '{}', E'\\x40594255a753a3f0eae9e4ab79c34015c68574ce4b93bd55df1a8e8c6ecea4a8'),
('acme', '10', '2026-11-22 21:54:28.801213+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"salaries": "added"}}', E'\\xf5c7b2894d2cb33640a62b3a206be8c62bcdb16d69389a9388a549f7a680eaa9'),
('acme', '11', '2026-11-22 21:54:30.098195+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"pump": "added"}}', E'\\x146e6bbce948a12731e4334f2661b5a02c55440466113ae0206beef0d379ab9c'),
('acme', '12', '2026-11-22 21:54:30.10576+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log1": "added"}}', E'\\xd6755fd4725e840204b4bb46d5f1f9265130f09d6bf52324bfd58502e03719e9'),
('acme', '13', '2026-11-22 21:54:30.112877+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log2": "added"}}', E'\\x69fad0a23e60c54aa1dd6f8f01271b34ac7acc0a042780191f859b32f589605f'),
('acme', '14', '2026-11-22 21:54:30.119206+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log3": "added"}}', E'\\xde38af667c695908a20ca58c5393c882f9e553f79d8b16a33d72a2e60f558148'),
('acme', '15', '2026-11-22 21:54:30.125167+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log4": "added"}}', E'\\x70298cc7a12c1719d099739ccef02df206582485fe42edf01dac1eecf16b93fb'),
('acme', '16', '2026-11-22 21:54:30.13148+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log5": "added"}}', E'\\x4f2cbb4600c6ecc6d2922920c0ad102b0befba15f11c9259a4cb7744f8e5b331'),
('acme', '17', '2026-11-22 21:54:30.138301+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log6": "added"}}', E'\\x343a30abec8004eb830c201f8963a58b1d2aa72c75d382d623f4e4bab8130429'),
('acme', '18', '2026-11-22 21:54:30.144608+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log7": "added"}}', E'\\x8deba5fcbc764461dbf723533b8475d9becd97bb4c861b659710d78347808e94'),
('acme', '19', '2026-11-22 21:54:30.151228+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"log8": "added"}}', E'\\x904cf4438ec2a750475f7b5937f470f3dbc9f134ff7c3130db39e3cd6aef9f92'),
('acme', '2', '2026-11-22 21:54:28.087937+00', NULL, 'operator', 'key.create', 'key_a423d894c4dbd92f', '{"roles": ["reader", "writer", "admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', E'\\xd15b337b8171cdab363bed8491311d5e27e0fbb4805dce537bc675591c8dc3c9'),
('acme', '20', '2026-11-22 21:54:30.15832+00', 'ana', 'key_e11d11adebda0442', 'documents.write', '', '{"documents": {"notes": "added"}}', E'\\x34a74ec3c03bf04f22b3c0672b90999e6007841dc406da715f9d15d4684fa5cb'),
('acme', '21', '2026-11-22 21:54:30.164806+00', 'ana', 'key_e11d11adebda0442', 'documents.write', '', '{"documents": {"list": "added"}}', E'\\xaf36c5230e7a372d3bdfdbe2d4265d4ca442a38ed16d2790ccf3a88d89884c45'),
('acme', '22', '2026-11-22 21:54:30.20048+00', 'ana', 'key_e11d11adebda0442', 'documents.write', '', '{"documents": {"notes": "changed"}}', E'\\x52bc4d66fb388478045110ccc94105c873ba71919cd7d7d9e8ebe5a3c300ec6f'),
('acme', '23', '2026-11-22 21:54:30.206374+00', 'ada', 'key_a423d894c4dbd92f', 'documents.remove', '', '{"documents": {"log8": "removed"}}', E'\\x2aeaeb62d6841543d3c96cc97971d0a87948e730f71c8d60983aed51233ebc92'),
('acme', '24', '2026-11-22 21:54:30.560421+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', E'\\x8274dc544137ba12d4a1ec8ff61282e00502424ba869a10369e46f5ce1cf8a58'),
('acme', '3', '2026-11-22 21:54:28.095577+00', NULL, 'operator', 'key.create', 'key_e11d11adebda0442', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', E'\\xd36ec63bee3fbedb0006341a27d749e7a3b98601f8b40ec8ec218d0fdd9c8c27'),
('acme', '4', '2026-11-22 21:54:28.100022+00', NULL, 'operator', 'key.create', 'key_57d767417fd186f0', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', E'\\x2c2a0a282ccb59622cad9039310c29e144d12f00522e018b153440e98a30a9ac'),
('acme', '5', '2026-11-22 21:54:28.135304+00', 'ada', 'key_a423d894c4dbd92f', 'member.add', 'crew', '{"member": "ana"}', E'\\x1c5bab6f6eaa7d789d2e9c523e6b496825cc3e06c7054bcd6d5abba7f74ed23d'),
('acme', '6', '2026-11-22 21:54:28.147587+00', 'ada', 'key_a423d894c4dbd92f', 'confidence.put', 'acme', '{"min": 0.1, "sources": {"log": 0.95}}', E'\\xc035ef9067b47278c24d314fe415998facd4953de223ef86faf07bfe5931e960'),
('acme', '7', '2026-11-22 21:54:28.170625+00', 'ada', 'key_a423d894c4dbd92f', 'gate.put', 'lamps', '{"own": true}', E'\\x7cac9e0ab087feb09370db324d5cdc60ff379697aea3f64b6fca5b619f272be7'),
('acme', '8', '2026-11-22 21:54:28.786029+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"guide": "added"}}', E'\\x2b55ac8db32c3f1e9be7fab3bdad2602f612d6a455a5cd06bb3fa78f9b27a59a'),
('acme', '9', '2026-11-22 21:54:28.794358+00', 'ada', 'key_a423d894c4dbd92f', 'documents.write', '', '{"documents": {"prices": "added"}}', E'\\xff25b4dce38a8bbb7c69c8c6efb545bad3282cd4ee1de7184cd95d9f0688349b'),
('beta', '1', '2026-11-22 21:54:28.081464+00', NULL, 'operator', 'tenant.create', 'beta', '{}', E'\\x5956ef87fd7571612d24ac7b0c0bc4cfd7b107c71127d7c0c2be0a140b1c0205'),
('beta', '2', '2026-11-22 21:54:28.107371+00', NULL, 'operator', 'key.create', 'key_39a784623fe7a20e', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', E'\\x8463e1afe1d97a9f562738fe60a0c80e0bad774e803bc1dd7202e42b4d06653d'),
('beta', '3', '2026-11-22 21:54:30.171988+00', 'bea', 'key_39a784623fe7a20e', 'documents.write', '', '{"documents": {"harbour": "added"}}', E'\\xea2298dad16ef4528cf3ec9669bc33498063eee77c9635c4bb54ba99b3670297'),
('beta', '4', '2026-11-22 21:54:30.179492+00', 'bea', 'key_39a784623fe7a20e', 'documents.write', '', '{"documents": {"tides": "added"}}', E'\\xeec6a572c0ec83f169c4a459132d8e49a4a23155be694e54c34a79b7730603c1'),
('beta', '5', '2026-11-22 21:54:30.186954+00', 'bea', 'key_39a784623fe7a20e', 'documents.write', '', '{"documents": {"boats": "added"}}', E'\\xbd81c8bf5c84e05334919b09ac63ce0cd9258f89c49d624e6a5c345d481ffe7d');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '24', E'\\x8274dc544137ba12d4a1ec8ff61282e00502424ba869a10369e46f5ce1cf8a58', '0', E'\\x'),
('beta', '5', E'\\xbd81c8bf5c84e05334919b09ac63ce0cd9258f89c49d624e6a5c345d481ffe7d', '0', E'\\x');
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-22 21:54:30.129867+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-22 21:54:30.136667+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-22 21:54:30.14301+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-22 21:54:30.149558+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-22 21:54:30.156641+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-22 21:54:30.163117+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-22 21:54:30.197211+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-22 21:54:30.203859+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{19}', '{}', '2026-11-22 21:54:30.53118+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-22 21:54:30.61881+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-22 21:54:28.776119+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-22 21:54:28.792014+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-22 21:54:28.799497+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-22 21:54:30.096192+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-22 21:54:30.103874+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-22 21:54:30.111263+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-22 21:54:30.117631+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-22 21:54:30.123628+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-22 21:54:30.170363+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-22 21:54:30.177206+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-22 21:54:30.184793+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-22 21:54:28.792014+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-22 21:54:30.177206+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-22 21:54:30.61881+00');
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
('21', '19', E'\\xe951789b77a1895b0b669ea53f74c763', '0', '34', 'Fog is expected at the lighthouse.'),
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
('1', '21', 'acme', '19', '[0.25,0.25,0,0.25,0.25,0,0.25,0.25,0,0,0,0,0.25,0,0,0.25,0,0,0.25,0.25,0,0.25,0.25,0.25,0,0,0,0,0.25,0,0.25,0.25]', '{100738446:1.4778326,194283843:1.4778326,212648460:1.4778326,326575024:1.4778326,690376031:1.4778326}/1000000000'),
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
('19', 'Fog is expected at the lighthouse.'),
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
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '1', '0', '1', '0', '2026-11-22 21:54:28.776119+00', '2026-11-22 21:54:28.776119+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '19', '0', '19', '0', '2026-11-22 21:54:30.136667+00', '2026-11-22 21:54:30.136667+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '21', '0', '21', '0', '2026-11-22 21:54:30.14301+00', '2026-11-22 21:54:30.14301+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '38', '36', '0', '25', '0', '2026-11-22 21:54:30.197211+00', '2026-11-22 21:54:30.197211+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '27', '0', '27', '0', '2026-11-22 21:54:30.163117+00', '2026-11-22 21:54:30.163117+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '29', '0', '0', '0', '2026-11-22 21:54:30.170363+00', '2026-11-22 21:54:30.170363+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '31', '0', '31', '0', '2026-11-22 21:54:30.177206+00', '2026-11-22 21:54:30.177206+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '33', '0', '33', '0', '2026-11-22 21:54:30.184793+00', '2026-11-22 21:54:30.184793+00'),
('19', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '43', '42', '42', '42', '0', '2026-11-22 21:54:30.53118+00', '2026-11-22 21:54:30.53118+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '3', '0', '3', '0', '2026-11-22 21:54:28.792014+00', '2026-11-22 21:54:28.792014+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '5', '0', '5', '0', '2026-11-22 21:54:28.799497+00', '2026-11-22 21:54:28.799497+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '7', '0', '7', '0', '2026-11-22 21:54:30.096192+00', '2026-11-22 21:54:30.096192+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '9', '0', '9', '0', '2026-11-22 21:54:30.103874+00', '2026-11-22 21:54:30.103874+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '11', '0', '11', '0', '2026-11-22 21:54:30.111263+00', '2026-11-22 21:54:30.111263+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '13', '0', '13', '0', '2026-11-22 21:54:30.117631+00', '2026-11-22 21:54:30.117631+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '15', '0', '15', '0', '2026-11-22 21:54:30.123628+00', '2026-11-22 21:54:30.123628+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '17', '0', '17', '0', '2026-11-22 21:54:30.129867+00', '2026-11-22 21:54:30.129867+00');
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
('acme', 'weather', '7', '7', '41', NULL, '{tenant}');
DELETE FROM files;
DELETE FROM group_members;
INSERT INTO group_members (tenant, group_id, subject, added_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'ana', '2026-11-22 21:54:28.131703+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'cec32f44-01ce-4adb-8a26-7beea471cf50', NULL, NULL, '2026-11-22 21:54:28.131703+00');
DELETE FROM groups_with_words;
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '3852363316534502901');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-2');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_f1d2f5d25cb848e9', 'acme', 'document.write', 'document:queued', 'api', '{content}', '35', 'key_a423d894c4dbd92f', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-22 21:54:30.190778+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-22 21:54:30.190778+00', NULL, NULL),
('2', 'job_04d3a3495a556c0a', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '40', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-22 21:55:30.203859+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-22 21:54:30.203859+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_39a784623fe7a20e', 'beta', E'\\xbbd951f3550901f4425f0f6f30bdbe3f095977967b312f6ab61569e0d842102c', '', 'bea', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-22 21:54:28.106736+00', NULL, NULL, '2026-11-22 21:54:30.403153+00'),
('key_57d767417fd186f0', 'acme', E'\\xb3bb49e91c73c98a46f8b17cee7b247e01fae7f5fed364fef0d3bad84d1b4d77', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-22 21:54:28.098129+00', NULL, NULL, NULL),
('key_a423d894c4dbd92f', 'acme', E'\\xa6803c8b5d2df8412d491262562f624fda4ee55025dc1edfff0db252d4797a04', '', 'ada', '{}', '{reader,writer,admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-22 21:54:28.083633+00', NULL, NULL, '2026-11-22 21:54:30.403153+00'),
('key_e11d11adebda0442', 'acme', E'\\x7397bdb5a1e0f68efd950ce633001bfd3902fe538aae7b84de47dc8e5e94fb16', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-22 21:54:28.094966+00', NULL, NULL, '2026-11-22 21:54:30.403153+00');
DELETE FROM noted_histories;
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
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '39', '2026-11-22 21:54:30.203859+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', 'f73346e90a5f22e0', 'true', '0');
DELETE FROM restricted_words;
DELETE FROM revisions_before;
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-22 21:54:28.776119+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-22 21:54:30.53118+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-22 21:54:28.799497+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{"rejected": 1, "documents": 8, "chunks_unchanged": 3}', 'true', 'false', NULL, NULL, '2026-11-22 21:54:30.103874+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-22 21:54:30.170363+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-22 21:54:28.071028+00', 'false', '20', '1', '0', '43', NULL, '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-22 21:54:28.080962+00', 'false', '3', '0', '0', '7', NULL, '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-22 21:54:27.904975+00', 'false', '4', '0', '0', '0', NULL, '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
DELETE FROM usage;
INSERT INTO usage (tenant, day, operation, source, tokens, cost, embedded, reused) OVERRIDING SYSTEM VALUE VALUES
('acme', '2026-11-22', 'ingest', 'api', '0', '0', '7', '0'),
('acme', '2026-11-22', 'ingest', 'events', '0', '0', '1', '0'),
('acme', '2026-11-22', 'ingest', 'hr', '0', '0', '2', '0'),
('acme', '2026-11-22', 'ingest', 'log', '0', '0', '8', '0'),
('beta', '2026-11-22', 'ingest', 'api', '0', '0', '3', '0');
DELETE FROM vector_store_files;
DELETE FROM vector_stores;
DELETE FROM vocabulary;
INSERT INTO vocabulary (tenant, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'clean', NULL),
('acme', 'cleaning', NULL),
('acme', 'cliff', NULL),
('acme', 'cloth', NULL),
('acme', 'compressed', NULL),
('acme', 'cost', NULL),
('acme', 'each', NULL),
('acme', 'euros', NULL),
('acme', 'every', NULL),
('acme', 'expected', NULL),
('acme', 'from', NULL),
('acme', 'gepruft', NULL),
('acme', 'guide', NULL),
('acme', 'horn', NULL),
('acme', 'house', NULL),
('acme', 'into', NULL),
('acme', 'keeper', NULL),
('acme', 'lamp', NULL),
('acme', 'lens', NULL),
('acme', 'lighthouse', NULL),
('acme', 'maschinenhaus', NULL),
('acme', 'minute', NULL),
('acme', 'nach', NULL),
('acme', 'nebel', NULL),
('acme', 'needs', NULL),
('acme', 'nine', NULL),
('acme', 'northern', NULL),
('acme', 'pump', NULL),
('acme', 'pumpen', NULL),
('acme', 'seconds', NULL),
('acme', 'signals', NULL),
('acme', 'soft', NULL),
('acme', 'sounds', NULL),
('acme', 'stands', NULL),
('acme', 'tickets', NULL),
('acme', 'tour', NULL),
('acme', 'turns', NULL),
('acme', 'twelve', NULL),
('acme', 'twice', NULL),
('acme', 'vinegar', NULL),
('acme', 'werden', NULL),
('acme', 'with', NULL),
('acme', 'writes', NULL),
('beta', 'boats', NULL),
('beta', 'knowledge', NULL),
('beta', 'lighthouse', NULL),
('beta', 'need', NULL),
('beta', 'permit', NULL),
('beta', 'public', NULL),
('beta', 'tides', NULL);
DELETE FROM web_pages;
SELECT setval('public.audiences_audience_key_seq', 11);
SELECT setval('public.chunk_ids', 21);
SELECT setval('public.document_versions', 43);
SELECT setval('public.documents_document_key_seq', 19);
SELECT setval('public.jobs_job_no_seq', 2);
SELECT setval('public.partition_numbers', 1);
RESET session_replication_role;
