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
('acme', '1', '2026-11-30 17:06:57.274729+00', NULL, 'operator', 'tenant.create', 'acme', '{}', 'a8b459fb-b20d-43e9-9390-f7fec3045e62', E'\\x7d76c1af12460c40309a146516119886e15f5bc26d50468e8d7d4da04ca8b598'),
('acme', '10', '2026-11-30 17:06:58.75329+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"salaries": "added"}}', '0e50d413-1254-463a-940a-ee8ab2691c8e', E'\\xf871a7fa011832c07b7afa7ddd6289e8469713e5c1cb392c81bf97e8264c951c'),
('acme', '11', '2026-11-30 17:06:58.940767+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"pump": "added"}}', '44413df4-7909-45dd-a333-d7e6ed6c6841', E'\\x3da00d05d0e5455ae71e3221cdb61856e36c17145c9a06d28bac9a3e13529f16'),
('acme', '12', '2026-11-30 17:06:59.116352+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log1": "added"}}', 'f7ef25e8-b9e1-49ed-ba14-1a9de383142c', E'\\x63bd3e99cdd1347954414dcd9229b145740a79b4a1840c759cdcabd5029046d0'),
('acme', '13', '2026-11-30 17:06:59.301389+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log2": "added"}}', '7d7f50f2-8f35-444a-b2ff-45be5632f96e', E'\\x407a907e51d20cbd7aed3d7ba10d2af0bf579912d2e5b96da92269cc700aad62'),
('acme', '14', '2026-11-30 17:06:59.346849+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log3": "added"}}', 'b2f95cf8-947e-4b45-bef0-c2c2a4418ea4', E'\\xc65122742989b2441e6773b54530b65fd49e5e3808e1cc0d146c70e65ed33184'),
('acme', '15', '2026-11-30 17:06:59.436894+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log4": "added"}}', 'cbc3c379-caa3-432f-8f3c-4c8b764a295e', E'\\x5907f6128a90e3f238af2e2d6a3ed200ba876d021df6c554018b91b39ddf90fb'),
('acme', '16', '2026-11-30 17:06:59.59198+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log5": "added"}}', 'b906b26c-6eef-4b05-8dd2-b568fa36621b', E'\\x7726b7e75cb5a9e3a0a268322eeb60d45609ef3f2d15992529c1849bbdccffd0'),
('acme', '17', '2026-11-30 17:06:59.633156+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log6": "added"}}', 'ffcb532f-e40a-4516-b645-1c735b6ec9ff', E'\\xd7ecf47a87952871ecb2fc552e73ea41b7ce3d51aab5dcd692c7fbb052305373'),
('acme', '18', '2026-11-30 17:06:59.704183+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log7": "added"}}', '52d4abdf-3cdb-44d9-947b-976a6e2f935c', E'\\xa84e8d1fb0ddd02f8517bd567d3d232f979cecebe3d4cc7cd735ac8e07241b36'),
('acme', '19', '2026-11-30 17:06:59.761267+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"log8": "added"}}', 'd7c7cddc-3217-475e-a38c-6ae00d9ef5fe', E'\\xf399f99564065d2256d7ac89e1cd25c3daaf7c20be9af95ffd254920a80f2202'),
('acme', '2', '2026-11-30 17:06:57.375139+00', NULL, 'operator', 'key.create', 'key_69907ce27a0abf6f', '{"roles": ["reader", "writer", "admin", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', '4552416d-21fc-4f38-9ed5-d863a9962e80', E'\\xb9eb49f704588142521961be4f620d7da4e901b2310d56bc3923ab73e075199a'),
('acme', '20', '2026-11-30 17:06:59.873692+00', 'ana', 'key_6bc048d17e9c376d', 'documents.write', '', '{"documents": {"notes": "added"}}', 'cd34f1fb-616f-48ca-9efb-137f4d4b34bd', E'\\x671ff630f3792740851c966f9a265646af6376d0399bf4c55235231d5149f214'),
('acme', '21', '2026-11-30 17:06:59.926204+00', 'ana', 'key_6bc048d17e9c376d', 'documents.write', '', '{"documents": {"list": "added"}}', 'db2bf572-24e0-4618-9b05-b2c249f10b08', E'\\xe75e01bb5337915146031d20ea45e37827c12e15daed40747f3f8b89e840f959'),
('acme', '22', '2026-11-30 17:07:00.531099+00', 'ana', 'key_6bc048d17e9c376d', 'documents.write', '', '{"documents": {"notes": "changed"}}', '9ee443b7-2ab3-4021-b459-d5253d029698', E'\\xe1d80d317cfe64942f89fa3236f3ce65ac891b5014d4a80e1dd2dfcbe2383256'),
('acme', '23', '2026-11-30 17:07:00.633554+00', 'ada', 'key_69907ce27a0abf6f', 'documents.remove', '', '{"documents": {"log8": "removed"}}', 'cc057ab8-7594-473c-914d-e8b3929230b3', E'\\x36e5748d3b86bed93655035ec8fe5b02b33ed03d2b0be4253f27809086a68947'),
('acme', '24', '2026-11-30 17:07:00.73775+00', NULL, 'operator', 'key.create', 'key_a1450f94b7aafaa3', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', '61797908-47a5-491b-86b7-3aaf7edbabe5', E'\\xde8443c6c5bae565ae100e0f4088069a32fb9c87e8c3f63e4f55b157b1921665'),
('acme', '25', '2026-11-30 17:07:00.84473+00', 'receiving-admin', 'key_a1450f94b7aafaa3', 'receives_public.put', 'acme', '{"receives_public": true}', 'a68cb4ac-ea9f-4a46-9983-b2677093b2c8', E'\\x7993b9dd68e009740f265cc3f7ae3d56829e8efec5814a4253175987e6afd8c6'),
('acme', '26', '2026-11-30 17:07:01.879734+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', '25c24dd9-8455-4f8d-b2ec-921ef4dfbc28', E'\\x4dea3450d472178b6a27628efe246323d9669d4311d5f97c5eb054de874ed88b'),
('acme', '3', '2026-11-30 17:06:57.465787+00', NULL, 'operator', 'key.create', 'key_6bc048d17e9c376d', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', '37448b9c-d427-49a1-95e5-1dd12f573a3a', E'\\x01a6cd6b4bab6013a683db773e5c23ab82324ef0c4b1055ff63bae45a6383da7'),
('acme', '4', '2026-11-30 17:06:57.509708+00', NULL, 'operator', 'key.create', 'key_93eab7046c88ace2', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', '2e5995db-421f-4937-8a09-b6ef266d207c', E'\\xfedc873fc2e705d827bf97a260d372e9ae4b6a9449abb70a6d3a9b49275dd3de'),
('acme', '5', '2026-11-30 17:06:57.778566+00', 'ada', 'key_69907ce27a0abf6f', 'member.add', 'crew', '{"member": "ana"}', '6ed8c48c-48b3-49c3-b5f0-5e3add2e6657', E'\\xf61df0bbaaa8488df722dbc889b4b2e00ffa04c530bc6a981a30836ce4ef7527'),
('acme', '6', '2026-11-30 17:06:57.915751+00', 'ada', 'key_69907ce27a0abf6f', 'confidence.put', 'acme', '{"sources": {"log": 0.95}, "score_min": 0.1}', '61335129-270a-4f2d-a948-4677345d2fbb', E'\\x80eb372688a4a75770c6696f215182ffa8b62e4cdf96493cf3ebc92bd67dbcbf'),
('acme', '7', '2026-11-30 17:06:58.014413+00', 'ada', 'key_69907ce27a0abf6f', 'gate.put', 'lamps', '{"custom": true}', 'c3ee8750-fdae-47cb-8acc-62213cd947da', E'\\x0e893fb9a61c684987b529eb5df32deb0a485f9a5634bb77e063ed4b90254801'),
('acme', '8', '2026-11-30 17:06:58.335968+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"guide": "added"}}', '0a5d87a7-b275-4a5b-bb1d-4c5b89eced5c', E'\\xc4c8efdf23e5ffbfc542325c229f5bedbb22668a3db57318b7652167844d1a62'),
('acme', '9', '2026-11-30 17:06:58.544156+00', 'ada', 'key_69907ce27a0abf6f', 'documents.write', '', '{"documents": {"prices": "added"}}', 'dc65c3ca-8a1f-4c07-a812-8cb471fd1112', E'\\x358dff71c844e761b0a33db7766992f9aefda8ec954e3ae575f8758fce76a4dc'),
('beta', '1', '2026-11-30 17:06:57.3069+00', NULL, 'operator', 'tenant.create', 'beta', '{}', 'c2ed0076-9783-44a0-8853-4258dd4cf10e', E'\\x81b44ba9eb675e1dc84ab94fc84a2e366503ab8e928c19da92dec6be1da24a10'),
('beta', '2', '2026-11-30 17:06:57.582575+00', NULL, 'operator', 'key.create', 'key_43b59e7d7708eff7', '{"roles": ["reader", "writer", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', '76b673cb-4454-42a4-82de-e09c2d90489b', E'\\xaa4946957d471302c36ab390949f4c0e8828f4c387004891e4c5a50dfbab7252'),
('beta', '3', '2026-11-30 17:06:59.995192+00', 'bea', 'key_43b59e7d7708eff7', 'documents.write', '', '{"documents": {"harbour": "added"}}', 'd3c84333-12d1-4934-a523-7b325b1ca584', E'\\x611d5a5172bb6c57bf1ad0b5466905ac4eb973946966f92fb6f622bcfd8275bd'),
('beta', '4', '2026-11-30 17:07:00.138183+00', 'bea', 'key_43b59e7d7708eff7', 'documents.write', '', '{"documents": {"tides": "added"}}', '98e8125a-7a8b-45f4-8379-fc7c0c06699f', E'\\x9dab05582360d649f8bce8f747cc9819399a8a9e763243cba06ed9cd18bbb934'),
('beta', '5', '2026-11-30 17:07:00.200629+00', 'bea', 'key_43b59e7d7708eff7', 'documents.write', '', '{"documents": {"boats": "added"}}', '49fb2b58-9f15-4c18-9de8-d23ca9b1a13b', E'\\x853a92a1087158cbad93b65f36a15c11feed028aeced7a59ac706bef2c95e955'),
('beta', '6', '2026-11-30 17:07:00.897219+00', NULL, 'operator', 'key.create', 'key_918f5feb4e3f6a8b', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', '91eda912-018f-4390-b1c9-28a65006980d', E'\\xae45ea83c217cf7fef9597784c2951c48ca4690f220e7835d9e5e117c7d4540a'),
('beta', '7', '2026-11-30 17:07:00.95716+00', 'receiving-admin', 'key_918f5feb4e3f6a8b', 'receives_public.put', 'beta', '{"receives_public": true}', 'f67b766d-2c83-4ceb-8bf2-01a34531be7b', E'\\x05c4eccf734d90fda991c6b7da191d1f49d53ec3cc4dca7ff0c0f8828f121d78');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '26', E'\\x4dea3450d472178b6a27628efe246323d9669d4311d5f97c5eb054de874ed88b', '0', E'\\x'),
('beta', '7', E'\\x05c4eccf734d90fda991c6b7da191d1f49d53ec3cc4dca7ff0c0f8828f121d78', '0', E'\\x');
DELETE FROM best_scores;
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-30 17:06:59.574549+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-30 17:06:59.622533+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-30 17:06:59.698722+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-30 17:06:59.740896+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-30 17:06:59.830814+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-30 17:06:59.914332+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-30 17:07:00.41812+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-30 17:07:00.585181+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{18}', '{}', '2026-11-30 17:07:01.686257+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-30 17:07:02.805539+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-30 17:06:58.177119+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-30 17:06:58.489537+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-30 17:06:58.667335+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-30 17:06:58.886211+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-30 17:06:59.050903+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-30 17:06:59.288055+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-30 17:06:59.330913+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-30 17:06:59.417838+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-30 17:06:59.974348+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-30 17:07:00.080538+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-30 17:07:00.170468+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-30 17:06:58.489537+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-30 17:07:00.080538+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-30 17:07:02.805539+00');
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
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '{"owner": 0, "active": 0, "chunker": 0, "content": 1, "readers": 1, "metadata": 1, "summaries": 1}', '2026-11-30 17:06:58.177119+00', '2026-11-30 17:06:58.177119+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '{"owner": 0, "active": 0, "chunker": 0, "content": 19, "readers": 19, "metadata": 19, "summaries": 0}', '2026-11-30 17:06:59.622533+00', '2026-11-30 17:06:59.622533+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '{"owner": 0, "active": 0, "chunker": 0, "content": 21, "readers": 21, "metadata": 21, "summaries": 0}', '2026-11-30 17:06:59.698722+00', '2026-11-30 17:06:59.698722+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '37', '{"owner": 0, "active": 0, "chunker": 0, "content": 36, "readers": 25, "metadata": 36, "summaries": 0}', '2026-11-30 17:06:59.830814+00', '2026-11-30 17:07:00.41812+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '{"owner": 0, "active": 0, "chunker": 0, "content": 27, "readers": 27, "metadata": 27, "summaries": 0}', '2026-11-30 17:06:59.914332+00', '2026-11-30 17:06:59.914332+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '{"owner": 0, "active": 0, "chunker": 0, "content": 29, "readers": 0, "metadata": 29, "summaries": 0}', '2026-11-30 17:06:59.974348+00', '2026-11-30 17:06:59.974348+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '{"owner": 0, "active": 0, "chunker": 0, "content": 31, "readers": 31, "metadata": 31, "summaries": 0}', '2026-11-30 17:07:00.080538+00', '2026-11-30 17:07:00.080538+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '{"owner": 0, "active": 0, "chunker": 0, "content": 33, "readers": 33, "metadata": 33, "summaries": 0}', '2026-11-30 17:07:00.170468+00', '2026-11-30 17:07:00.170468+00'),
('18', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '42', '{"owner": 41, "active": 0, "chunker": 0, "content": 41, "readers": 41, "metadata": 41, "summaries": 0}', '2026-11-30 17:07:01.686257+00', '2026-11-30 17:07:01.686257+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '{"owner": 0, "active": 0, "chunker": 0, "content": 3, "readers": 3, "metadata": 3, "summaries": 0}', '2026-11-30 17:06:58.489537+00', '2026-11-30 17:06:58.489537+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '{"owner": 0, "active": 0, "chunker": 0, "content": 5, "readers": 5, "metadata": 5, "summaries": 0}', '2026-11-30 17:06:58.667335+00', '2026-11-30 17:06:58.667335+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '{"owner": 0, "active": 0, "chunker": 0, "content": 7, "readers": 7, "metadata": 7, "summaries": 0}', '2026-11-30 17:06:58.886211+00', '2026-11-30 17:06:58.886211+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '{"owner": 0, "active": 0, "chunker": 0, "content": 9, "readers": 9, "metadata": 9, "summaries": 0}', '2026-11-30 17:06:59.050903+00', '2026-11-30 17:06:59.050903+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '{"owner": 0, "active": 0, "chunker": 0, "content": 11, "readers": 11, "metadata": 11, "summaries": 0}', '2026-11-30 17:06:59.288055+00', '2026-11-30 17:06:59.288055+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '{"owner": 0, "active": 0, "chunker": 0, "content": 13, "readers": 13, "metadata": 13, "summaries": 0}', '2026-11-30 17:06:59.330913+00', '2026-11-30 17:06:59.330913+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '{"owner": 0, "active": 0, "chunker": 0, "content": 15, "readers": 15, "metadata": 15, "summaries": 0}', '2026-11-30 17:06:59.417838+00', '2026-11-30 17:06:59.417838+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '{"owner": 0, "active": 0, "chunker": 0, "content": 17, "readers": 17, "metadata": 17, "summaries": 0}', '2026-11-30 17:06:59.574549+00', '2026-11-30 17:06:59.574549+00');
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
DELETE FROM ended_readers;
DELETE FROM event_versions;
INSERT INTO event_versions (tenant, document_id, content_version, access_version, access_sequence, owner, readers) OVERRIDING SYSTEM VALUE VALUES
('acme', 'weather', '7', '7', '40', NULL, '{tenant}');
DELETE FROM files;
DELETE FROM group_members;
INSERT INTO group_members (tenant, group_id, subject, added_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'ana', '2026-11-30 17:06:57.698365+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'b4dae15e-6a66-4697-99b0-e2315e8187f7', NULL, NULL, '2026-11-30 17:06:57.698365+00');
DELETE FROM groups_with_words;
INSERT INTO groups_with_words (tenant, token) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew'),
('acme', 'group:sales');
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '5309905689104785915');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-6');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_da3f541ab8cadb9e', 'acme', 'document.write', 'document:queued', 'api', '{content,metadata}', '35', 'key_69907ce27a0abf6f', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-30 17:07:00.284561+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 17:07:00.284561+00', NULL, NULL),
('2', 'job_37f0f360766c9115', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '39', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-30 17:08:00.585181+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 17:07:00.585181+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_43b59e7d7708eff7', 'beta', E'\\xd7c39c7ab8c5a4ad8a247e57667e71daac81eede3c451fdfa84fec57a6f295c5', '', 'bea', '{}', '{reader,writer,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 17:06:57.56135+00', NULL, NULL, '2026-11-30 17:07:00.157363+00'),
('key_69907ce27a0abf6f', 'acme', E'\\x77990a4f5cbd85bd84a3ef6bbb00dc06d4e48e1b299cf251f87a64f88fcebc4b', '', 'ada', '{}', '{reader,writer,admin,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 17:06:57.357532+00', NULL, NULL, '2026-11-30 17:07:00.564114+00'),
('key_6bc048d17e9c376d', 'acme', E'\\x5868e4d32b2fd216ba54752e7931ed97f48e4a215a252a12aaae9724a6fd9579', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 17:06:57.397526+00', NULL, NULL, '2026-11-30 17:07:00.360399+00'),
('key_918f5feb4e3f6a8b', 'beta', E'\\xb8f199f8d83662e5e727c6977979cea207c22d8d84974589d8517e8f82cb7e63', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 17:07:00.875988+00', NULL, NULL, '2026-11-30 17:07:00.913413+00'),
('key_93eab7046c88ace2', 'acme', E'\\x38a71fcd327bc0321967fc5be855dacc8bd2bdcd2bd5593849827cb00efa0dac', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 17:06:57.503869+00', NULL, NULL, NULL),
('key_a1450f94b7aafaa3', 'acme', E'\\xde8437ff1f08b408e82378ab086c6cca437e64fc5b0933c03201e221a3b50d1b', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 17:07:00.724974+00', NULL, NULL, '2026-11-30 17:07:00.808622+00');
DELETE FROM noted_histories;
INSERT INTO noted_histories (history, number) OVERRIDING SYSTEM VALUE VALUES
('134abdb43c47189', '1');
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
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '38', '2026-11-30 17:07:00.585181+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', '134abdb43c47189', 'true', '0');
DELETE FROM restricted_words;
INSERT INTO restricted_words (tenant, token, word, learned_by) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew', 'burned', '785'),
('acme', 'group:crew', 'horn', '785'),
('acme', 'group:crew', 'hours', '785'),
('acme', 'group:crew', 'lamp', '785'),
('acme', 'group:crew', 'sounded', '785'),
('acme', 'group:crew', 'times', '785'),
('acme', 'group:sales', 'burned', '788'),
('acme', 'group:sales', 'horn', '788'),
('acme', 'group:sales', 'hours', '788'),
('acme', 'group:sales', 'lamp', '788'),
('acme', 'group:sales', 'sounded', '788'),
('acme', 'group:sales', 'times', '788');
DELETE FROM revisions_before;
INSERT INTO revisions_before (tenant, history, revision, number) OVERRIDING SYSTEM VALUE VALUES
('acme', '134abdb43c47189', '0', '2'),
('beta', '134abdb43c47189', '0', '4'),
('public', '134abdb43c47189', '0', '3');
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 17:06:58.177119+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 17:07:01.686257+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 17:06:58.667335+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 17:06:59.050903+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 17:06:59.974348+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, analyser, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-30 17:06:57.24781+00', 'false', '20', '2', '10', '55', '134abdb43c47189', '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-30 17:06:57.295489+00', 'false', '3', '1', '3', '7', '134abdb43c47189', '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-30 17:06:55.353128+00', 'false', '4', '0', '0', '0', '134abdb43c47189', '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'false', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
DELETE FROM usage;
INSERT INTO usage (tenant, day, operation, source, tokens, cost, embedded, reused) OVERRIDING SYSTEM VALUE VALUES
('acme', '2026-11-30', 'ingest', 'api', '0', '0', '7', '0'),
('acme', '2026-11-30', 'ingest', 'events', '0', '0', '1', '0'),
('acme', '2026-11-30', 'ingest', 'hr', '0', '0', '2', '0'),
('acme', '2026-11-30', 'ingest', 'log', '0', '0', '8', '0'),
('beta', '2026-11-30', 'ingest', 'api', '0', '0', '3', '0');
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
