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
('acme', '1', '2026-11-30 21:10:33.167751+00', NULL, 'operator', 'tenant.create', 'acme', '{}', '9d8d5b6c-96ee-457d-8b9c-ce2859f26245', E'\\x739861906c7ab99cef107294c72e5447a3a56d0bcac84c8840b699cc9f185c74'),
('acme', '10', '2026-11-30 21:10:34.312098+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"salaries": "added"}}', 'bab8e5cb-2a71-49ad-86d3-6be182747095', E'\\x8284dcda741275b94d3ce6cdcdcc66045691480812aa8a50b1275f685ac202da'),
('acme', '11', '2026-11-30 21:10:34.424216+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"pump": "added"}}', '0330d39c-7d19-42d8-af76-7c82d5164699', E'\\x36e6b3293f6716d83ab90ff10460c74be531e4b1461a77789486afa189f81ceb'),
('acme', '12', '2026-11-30 21:10:34.564318+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log1": "added"}}', 'ff8f320a-6461-4dea-9f34-9f0c5e9e6926', E'\\xe80625ab90c7d942012303208dbdaafeb326673211ef4caa5cdc876a6f1b6e8a'),
('acme', '13', '2026-11-30 21:10:34.693277+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log2": "added"}}', 'd141a578-0827-414a-acef-84929e98ce6a', E'\\xcd39f0c7715860dd01e848b15e735dc45109526e71cd4369822ec7ed1248a461'),
('acme', '14', '2026-11-30 21:10:34.77363+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log3": "added"}}', '575573ee-4951-4c86-95c4-23ebbac99bbe', E'\\xf36df8e5c941b01dc4169b05ee957f00f7de86f12edf6269ebdab4fb44af2a3b'),
('acme', '15', '2026-11-30 21:10:34.830241+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log4": "added"}}', 'c4a21c23-0935-4b84-926e-6c546805370a', E'\\x353d2634a134c4b648aaca18d3a84a1c801e6a620722981417557824e1844be1'),
('acme', '16', '2026-11-30 21:10:35.104654+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log5": "added"}}', '0c38d93b-a7bd-498b-b7a1-2f5acec750b5', E'\\xd42a0bbdd9232fa733b98088c2575a304a6be89572c33edc0e7a3418c38936ca'),
('acme', '17', '2026-11-30 21:10:35.186694+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log6": "added"}}', '850e12b1-7418-4d15-96c2-16734cc31514', E'\\x146a3501c0a52145c8467f5bc7d0dd2b1472190d54a6bf7adc6cfb5b6e7a2f2f'),
('acme', '18', '2026-11-30 21:10:35.284625+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log7": "added"}}', 'b392492d-ada1-4dcd-bb85-d5a0c4c9fd6a', E'\\xaec50831d6adf4e25b04267f3ed016f8c9146f65841f11f84a3bca641a5c3ddb'),
('acme', '19', '2026-11-30 21:10:35.317192+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"log8": "added"}}', '9d1bcb40-0719-4494-a8e6-19875bdc257a', E'\\x1e6eb6de12b3522e4882cb9a91d6714016fe7ba0767f0fb522d7a959de6dbf95'),
('acme', '2', '2026-11-30 21:10:33.240269+00', NULL, 'operator', 'key.create', 'key_4bfd5bc99e395764', '{"roles": ["reader", "writer", "admin", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ada", "made_with": null, "expires_at": null}', '999468bc-57f4-41c9-af29-bf4b747fd24d', E'\\x894ef8df4d4186f5ca052af780dfa39619eb8e298aa7d81e76737338fb0a7375'),
('acme', '20', '2026-11-30 21:10:35.362026+00', 'ana', 'key_61bb759f57290ccc', 'documents.write', '', '{"documents": {"notes": "added"}}', '2da17fc3-a8c2-4354-ab70-9ddcd56bb5b1', E'\\xbd34b6b755e0d7f9210e5facc797c7ae107a0b31e9175d10fa3f5074e424f3e6'),
('acme', '21', '2026-11-30 21:10:35.404504+00', 'ana', 'key_61bb759f57290ccc', 'documents.write', '', '{"documents": {"list": "added"}}', '23ba6dbe-b12c-4f2b-8f76-6b1f63b200d8', E'\\x515dfe010d1aaed506dda9e486defc79ed3b7aaaa64532d24edb9f24b01ea43a'),
('acme', '22', '2026-11-30 21:10:35.60695+00', 'ana', 'key_61bb759f57290ccc', 'documents.write', '', '{"documents": {"notes": "changed"}}', '3b2f980f-ee54-48f0-a642-f6cfd8021900', E'\\xce727fea8a03126b92a5bb4d8a40b566f8a4173a911bdac3cf570164c5c01c54'),
('acme', '23', '2026-11-30 21:10:35.635826+00', 'ada', 'key_4bfd5bc99e395764', 'documents.remove', '', '{"documents": {"log8": "removed"}}', '5dccace4-4b7e-474e-bc98-e201a29b99b5', E'\\x1171abca1c1ed1e658908d8f314afb76bb4cbfa08fa208b99cd35ce7669a7129'),
('acme', '24', '2026-11-30 21:10:35.662989+00', NULL, 'operator', 'key.create', 'key_bffdb9bce413710c', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', 'a5ec938f-09fb-4655-a86c-027afffb4e9e', E'\\xb9ef7bd5e92989b1a0760c6053aa8c242d9e8bc96ea89feefd0785de9c0a4dd8'),
('acme', '25', '2026-11-30 21:10:35.676314+00', 'receiving-admin', 'key_bffdb9bce413710c', 'receives_public.put', 'acme', '{"receives_public": true}', 'd3a2b863-9a41-4660-b6b7-48367d9a84e3', E'\\xf92e1a0eae28b21166413e2dfe18b337515ec97b77e355415c484f76e4d54e9f'),
('acme', '26', '2026-11-30 21:10:35.887674+00', NULL, 'system', 'documents.write', '', '{"documents": {"weather": "added"}}', '9285d73e-76dd-470e-a2ea-ade1aff994ad', E'\\x8d3a4173d672dfbbe5ed8500d0fb9c5ccd100083eddfc0d480722221adcce283'),
('acme', '3', '2026-11-30 21:10:33.27706+00', NULL, 'operator', 'key.create', 'key_61bb759f57290ccc', '{"roles": ["reader", "writer"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "ana", "made_with": null, "expires_at": null}', '6fe83bb7-9d2b-4b66-b91a-ae2c14c4d8ff', E'\\x360ee8f4a18101f0cf13c3903e5ce1224d2e8092fc1c802a7fe90bf1f2cea3bf'),
('acme', '4', '2026-11-30 21:10:33.301114+00', NULL, 'operator', 'key.create', 'key_e02b72a5f04d6aae', '{"roles": ["reader", "writer"], "groups": ["sales"], "scopes": ["private", "shared", "tenant", "public"], "subject": "ben", "made_with": null, "expires_at": null}', '37ab268d-1658-4d6c-8d63-072aebab87c7', E'\\xce2e076e495f968b6592ad50af3b49ab5664e1b8205459124ad54c9014ab7ed6'),
('acme', '5', '2026-11-30 21:10:33.438444+00', 'ada', 'key_4bfd5bc99e395764', 'member.add', 'crew', '{"member": "ana"}', '6943674d-49ca-44e0-8afb-5373e86fa80f', E'\\x65682ed484eb32a759a6c5bd372debd03883fa236fe0804d00833ef2da2b1a19'),
('acme', '6', '2026-11-30 21:10:33.541925+00', 'ada', 'key_4bfd5bc99e395764', 'confidence.put', 'acme', '{"sources": {"log": 0.95}, "score_min": 0.1}', 'f0ec9175-ab99-4077-a89e-ce6ba8a69cdd', E'\\x6e83312e42d17b748628d95284e5a4ad6361dd65cd95f31d6123c1655725bed3'),
('acme', '7', '2026-11-30 21:10:33.615627+00', 'ada', 'key_4bfd5bc99e395764', 'gate.put', 'lamps', '{"custom": true}', 'bdbfbae3-d247-415c-a5dc-c38b3c121fe5', E'\\x7ab0d31cde3ae31f344f3e4eb1c3fec3fbb8fd80cc9abbf6f49678879e4f49a6'),
('acme', '8', '2026-11-30 21:10:33.97151+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"guide": "added"}}', '083ad013-e3b2-42f2-9b48-f3a293319c55', E'\\x816b0a720a197147d43e854adb9be9efe6048258b3fadf2901e658b42b674b97'),
('acme', '9', '2026-11-30 21:10:34.168832+00', 'ada', 'key_4bfd5bc99e395764', 'documents.write', '', '{"documents": {"prices": "added"}}', '3326541f-eecc-4dc7-b6f7-0011df05806c', E'\\x00721081de8165b7d55387707266764670c0c9f21abcedf720345a79930f8077'),
('beta', '1', '2026-11-30 21:10:33.211564+00', NULL, 'operator', 'tenant.create', 'beta', '{}', 'ddfe1cda-59fd-4be1-837b-59da21833cbf', E'\\x7f3367275de6878d21c2769dcfe927665a9f6ccd017725bdc8f5bbee705739d3'),
('beta', '2', '2026-11-30 21:10:33.334484+00', NULL, 'operator', 'key.create', 'key_638a984b1081989c', '{"roles": ["reader", "writer", "publisher"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "bea", "made_with": null, "expires_at": null}', 'a84d8439-2d1e-43ff-90a6-0383e644e473', E'\\x1855d2c0a7555cfefd0507ec5dbcd53f185084c5a208ca7444c562f2c7dababd'),
('beta', '3', '2026-11-30 21:10:35.453746+00', 'bea', 'key_638a984b1081989c', 'documents.write', '', '{"documents": {"harbour": "added"}}', 'efe7b0eb-2c8a-497c-a16e-6e1c6153a9f2', E'\\x21c758dd7eaa922b2b02fee5eb28163cc0dca5815370f8815e0188ec12583c56'),
('beta', '4', '2026-11-30 21:10:35.501929+00', 'bea', 'key_638a984b1081989c', 'documents.write', '', '{"documents": {"tides": "added"}}', '910a31c3-3411-4616-b3df-3cc287224bfc', E'\\x7dbb381d8b1ba5a15d30222ea1e884f4e7dab8f957dfbaf9b2534b54428edadf'),
('beta', '5', '2026-11-30 21:10:35.531424+00', 'bea', 'key_638a984b1081989c', 'documents.write', '', '{"documents": {"boats": "added"}}', '08e76c76-fd32-432f-bc5b-7d107167d0e1', E'\\xe4df13aa9d36454f76b5d0f685a5293b60e587c63806d894ccb16d0854274f47'),
('beta', '6', '2026-11-30 21:10:35.685151+00', NULL, 'operator', 'key.create', 'key_6644fd375edceefc', '{"roles": ["admin"], "groups": [], "scopes": ["private", "shared", "tenant", "public"], "subject": "receiving-admin", "made_with": null, "expires_at": null}', '80a63d02-ecd3-4bfd-a757-3bc7dd4201a7', E'\\x306075a2e54d52204bbb993cb719e9fd0af242bc67c571540ad7951921ed4fcc'),
('beta', '7', '2026-11-30 21:10:35.696951+00', 'receiving-admin', 'key_6644fd375edceefc', 'receives_public.put', 'beta', '{"receives_public": true}', '011cb164-376d-4dbf-9f49-83519c98eba2', E'\\x74f12f983b47ecb9216dd04208d6ff59b80f2f242ebd50e862701774d956cb0b');
DELETE FROM audit_log_heads;
INSERT INTO audit_log_heads (tenant, number, hash, pruned_number, pruned_hash) OVERRIDING SYSTEM VALUE VALUES
('acme', '26', E'\\x8d3a4173d672dfbbe5ed8500d0fb9c5ccd100083eddfc0d480722221adcce283', '0', E'\\x'),
('beta', '7', E'\\x74f12f983b47ecb9216dd04208d6ff59b80f2f242ebd50e862701774d956cb0b', '0', E'\\x');
DELETE FROM best_scores;
DELETE FROM change_log;
INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys, popularity_keys, committed_at) OVERRIDING SYSTEM VALUE VALUES
('acme', '10', '{11}', '{}', '{}', '{}', '{9}', '{}', '2026-11-30 21:10:35.016074+00'),
('acme', '11', '{12}', '{}', '{}', '{}', '{10}', '{}', '2026-11-30 21:10:35.179524+00'),
('acme', '12', '{13}', '{}', '{}', '{}', '{11}', '{}', '2026-11-30 21:10:35.264067+00'),
('acme', '13', '{14}', '{}', '{}', '{}', '{12}', '{}', '2026-11-30 21:10:35.31261+00'),
('acme', '14', '{15}', '{}', '{}', '{}', '{13}', '{}', '2026-11-30 21:10:35.349393+00'),
('acme', '15', '{16}', '{}', '{}', '{}', '{14}', '{}', '2026-11-30 21:10:35.397073+00'),
('acme', '16', '{20}', '{15}', '{}', '{}', '{13}', '{}', '2026-11-30 21:10:35.586697+00'),
('acme', '17', '{}', '{14}', '{}', '{}', '{12}', '{}', '2026-11-30 21:10:35.623635+00'),
('acme', '18', '{21}', '{}', '{}', '{}', '{18}', '{}', '2026-11-30 21:10:35.854842+00'),
('acme', '19', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-30 21:10:36.096388+00'),
('acme', '2', '{1,2,3}', '{}', '{}', '{}', '{1}', '{}', '2026-11-30 21:10:33.778302+00'),
('acme', '3', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-30 21:10:34.084069+00'),
('acme', '4', '{5}', '{}', '{}', '{}', '{3}', '{}', '2026-11-30 21:10:34.274596+00'),
('acme', '5', '{6}', '{}', '{}', '{}', '{4}', '{}', '2026-11-30 21:10:34.388668+00'),
('acme', '6', '{7}', '{}', '{}', '{}', '{5}', '{}', '2026-11-30 21:10:34.521016+00'),
('acme', '7', '{8}', '{}', '{}', '{}', '{6}', '{}', '2026-11-30 21:10:34.650992+00'),
('acme', '8', '{9}', '{}', '{}', '{}', '{7}', '{}', '2026-11-30 21:10:34.763499+00'),
('acme', '9', '{10}', '{}', '{}', '{}', '{8}', '{}', '2026-11-30 21:10:34.814123+00'),
('beta', '1', '{17}', '{}', '{}', '{}', '{15}', '{}', '2026-11-30 21:10:35.436632+00'),
('beta', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-30 21:10:35.484453+00'),
('beta', '3', '{19}', '{}', '{}', '{}', '{17}', '{}', '2026-11-30 21:10:35.52481+00'),
('public', '1', '{4}', '{}', '{}', '{}', '{2}', '{}', '2026-11-30 21:10:34.084069+00'),
('public', '2', '{18}', '{}', '{}', '{}', '{16}', '{}', '2026-11-30 21:10:35.484453+00'),
('public', '3', '{}', '{}', '{}', '{}', '{}', '{}', '2026-11-30 21:10:36.096388+00');
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
('1', 'acme', 'guide', 'api', 'Lighthouse guide', 'https://example.org/guide', 'en', '{light,manual}', '{}', 'structure', 'extract', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '3', '2', '{"owner": 0, "active": 0, "chunker": 0, "content": 1, "readers": 1, "metadata": 1, "summaries": 1}', '2026-11-30 21:10:33.778302+00', '2026-11-30 21:10:33.778302+00'),
('10', 'acme', 'log6', 'log', '', '', 'en', '{log,day6}', '{"day": 6}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '20', '{"owner": 0, "active": 0, "chunker": 0, "content": 19, "readers": 19, "metadata": 19, "summaries": 0}', '2026-11-30 21:10:35.179524+00', '2026-11-30 21:10:35.179524+00'),
('11', 'acme', 'log7', 'log', '', '', 'en', '{log,day7}', '{"day": 7}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '22', '{"owner": 0, "active": 0, "chunker": 0, "content": 21, "readers": 21, "metadata": 21, "summaries": 0}', '2026-11-30 21:10:35.264067+00', '2026-11-30 21:10:35.264067+00'),
('13', 'acme', 'notes', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana}', '{user:ana,owner:ana}', '6', 'true', '1', '37', '{"owner": 0, "active": 0, "chunker": 0, "content": 36, "readers": 25, "metadata": 36, "summaries": 0}', '2026-11-30 21:10:35.349393+00', '2026-11-30 21:10:35.586697+00'),
('14', 'acme', 'list', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ana', '{user:ana,user:ben}', '{user:ana,user:ben,owner:ana}', '7', 'true', '1', '28', '{"owner": 0, "active": 0, "chunker": 0, "content": 27, "readers": 27, "metadata": 27, "summaries": 0}', '2026-11-30 21:10:35.397073+00', '2026-11-30 21:10:35.397073+00'),
('15', 'beta', 'harbour', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{}', '{owner:bea}', '8', 'true', '1', '30', '{"owner": 0, "active": 0, "chunker": 0, "content": 29, "readers": 0, "metadata": 29, "summaries": 0}', '2026-11-30 21:10:35.436632+00', '2026-11-30 21:10:35.436632+00'),
('16', 'beta', 'tides', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'bea', '{public}', '{public,owner:bea}', '9', 'true', '1', '32', '{"owner": 0, "active": 0, "chunker": 0, "content": 31, "readers": 31, "metadata": 31, "summaries": 0}', '2026-11-30 21:10:35.484453+00', '2026-11-30 21:10:35.484453+00'),
('17', 'beta', 'boats', 'api', '', '', 'en', '{manual}', '{}', 'structure', 'none', 'bea', '{tenant}', '{tenant,owner:bea}', '10', 'true', '1', '34', '{"owner": 0, "active": 0, "chunker": 0, "content": 33, "readers": 33, "metadata": 33, "summaries": 0}', '2026-11-30 21:10:35.52481+00', '2026-11-30 21:10:35.52481+00'),
('18', 'acme', 'weather', 'events', '', '', 'en', '{}', '{}', 'structure', 'none', NULL, '{tenant}', '{tenant}', '11', 'true', '1', '42', '{"owner": 41, "active": 0, "chunker": 0, "content": 41, "readers": 41, "metadata": 41, "summaries": 0}', '2026-11-30 21:10:35.854842+00', '2026-11-30 21:10:35.854842+00'),
('2', 'acme', 'prices', 'api', '', '', 'en', '{}', '{}', 'structure', 'none', 'ada', '{public}', '{public,owner:ada}', '2', 'true', '1', '4', '{"owner": 0, "active": 0, "chunker": 0, "content": 3, "readers": 3, "metadata": 3, "summaries": 0}', '2026-11-30 21:10:34.084069+00', '2026-11-30 21:10:34.084069+00'),
('3', 'acme', 'salaries', 'hr', '', '', 'en', '{}', '{"year": 2025, "level": "secret"}', 'structure', 'none', 'ada', '{user:ada}', '{user:ada,owner:ada}', '3', 'true', '1', '6', '{"owner": 0, "active": 0, "chunker": 0, "content": 5, "readers": 5, "metadata": 5, "summaries": 0}', '2026-11-30 21:10:34.274596+00', '2026-11-30 21:10:34.274596+00'),
('4', 'acme', 'pump', 'hr', '', '', 'de', '{}', '{"year": 2024}', 'structure', 'none', 'ada', '{tenant}', '{tenant,owner:ada}', '1', 'true', '1', '8', '{"owner": 0, "active": 0, "chunker": 0, "content": 7, "readers": 7, "metadata": 7, "summaries": 0}', '2026-11-30 21:10:34.388668+00', '2026-11-30 21:10:34.388668+00'),
('5', 'acme', 'log1', 'log', '', '', 'en', '{log,day1}', '{"day": 1}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '10', '{"owner": 0, "active": 0, "chunker": 0, "content": 9, "readers": 9, "metadata": 9, "summaries": 0}', '2026-11-30 21:10:34.521016+00', '2026-11-30 21:10:34.521016+00'),
('6', 'acme', 'log2', 'log', '', '', 'en', '{log,day2}', '{"day": 2}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '12', '{"owner": 0, "active": 0, "chunker": 0, "content": 11, "readers": 11, "metadata": 11, "summaries": 0}', '2026-11-30 21:10:34.650992+00', '2026-11-30 21:10:34.650992+00'),
('7', 'acme', 'log3', 'log', '', '', 'en', '{log,day3}', '{"day": 3}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '14', '{"owner": 0, "active": 0, "chunker": 0, "content": 13, "readers": 13, "metadata": 13, "summaries": 0}', '2026-11-30 21:10:34.763499+00', '2026-11-30 21:10:34.763499+00'),
('8', 'acme', 'log4', 'log', '', '', 'en', '{log,day4}', '{"day": 4}', 'structure', 'none', 'ada', '{group:sales}', '{group:sales,owner:ada}', '5', 'true', '1', '16', '{"owner": 0, "active": 0, "chunker": 0, "content": 15, "readers": 15, "metadata": 15, "summaries": 0}', '2026-11-30 21:10:34.814123+00', '2026-11-30 21:10:34.814123+00'),
('9', 'acme', 'log5', 'log', '', '', 'en', '{log,day5}', '{"day": 5}', 'structure', 'none', 'ada', '{group:crew}', '{group:crew,owner:ada}', '4', 'true', '1', '18', '{"owner": 0, "active": 0, "chunker": 0, "content": 17, "readers": 17, "metadata": 17, "summaries": 0}', '2026-11-30 21:10:35.016074+00', '2026-11-30 21:10:35.016074+00');
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
('acme', 'crew', 'ana', '2026-11-30 21:10:33.384112+00');
DELETE FROM groups;
INSERT INTO groups (tenant, group_id, scim_id, display_name, external_id, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'crew', 'c661aec0-43e4-41d9-92f2-106edddf8d11', NULL, NULL, '2026-11-30 21:10:33.384112+00');
DELETE FROM groups_with_words;
INSERT INTO groups_with_words (tenant, token) OVERRIDING SYSTEM VALUE VALUES
('acme', 'group:crew'),
('acme', 'group:sales');
DELETE FROM history_numbers;
INSERT INTO history_numbers (singleton, number) OVERRIDING SYSTEM VALUE VALUES
('true', '4562261212742736303');
DELETE FROM identifier_cases;
INSERT INTO identifier_cases (singleton, identifier_case) OVERRIDING SYSTEM VALUE VALUES
('true', 'fold');
DELETE FROM index_audits;
DELETE FROM index_meta;
INSERT INTO index_meta (singleton, embedding_space, dimensions, analyser) OVERRIDING SYSTEM VALUE VALUES
('true', 'exact-32', '32', 'bm25-6');
DELETE FROM jobs;
INSERT INTO jobs (job_no, job_id, tenant, kind, target, source, parts, sequence, key_id, subject, payload, state, attempts, attempts_max, due_at, lease, leased_until, progress, result, error, traceparent, tracestate, created_at, started_at, ended_at) OVERRIDING SYSTEM VALUE VALUES
('1', 'job_e44d61b8d6f5a576', 'acme', 'document.write', 'document:queued', 'api', '{content,metadata}', '35', 'key_4bfd5bc99e395764', 'ada', E'\\x7b2274657874223a22412071756575656420646f63756d656e742e227d', 'waiting', '0', '8', '2026-11-30 21:10:35.550869+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 21:10:35.550869+00', NULL, NULL),
('2', 'job_5f55f9c72b8fa691', 'acme', 'vocabulary.prune', 'vocabulary', NULL, '{}', '39', NULL, NULL, E'\\x', 'waiting', '0', '8', '2026-11-30 21:11:35.623635+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 21:10:35.623635+00', NULL, NULL);
DELETE FROM keys;
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, is_token, ancestor_key_ids, allowed_groups, filter, issuer_key, is_for_job, created_at, expires_at, revoked_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES
('key_4bfd5bc99e395764', 'acme', E'\\xb75f3c85423cac03dc55b2890875ae0e59507ab97ca0f16d668b5bf42264f5f8', '', 'ada', '{}', '{reader,writer,admin,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 21:10:33.218147+00', NULL, NULL, '2026-11-30 21:10:35.61729+00'),
('key_61bb759f57290ccc', 'acme', E'\\x8239496b0919eff0c7a29c840eeb95c5c419f263110023566a2bb5f0b27f4883', '', 'ana', '{}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 21:10:33.260983+00', NULL, NULL, '2026-11-30 21:10:35.560357+00'),
('key_638a984b1081989c', 'beta', E'\\x889f95df7ea5a86b5b804ce83f830e07c67ad2ab5c94e6232d6125f555e07b62', '', 'bea', '{}', '{reader,writer,publisher}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 21:10:33.31359+00', NULL, NULL, '2026-11-30 21:10:35.507471+00'),
('key_6644fd375edceefc', 'beta', E'\\x108a4d88f3e495364e1b53d2d77acce071ef2c2754e58ca428cdf5712b0ea63a', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 21:10:35.683242+00', NULL, NULL, '2026-11-30 21:10:35.690849+00'),
('key_bffdb9bce413710c', 'acme', E'\\xe75414145b9abb6ac56cb06fc03d6b4dc3b0c7fe400f1ddd8a2162b91b89de74', '', 'receiving-admin', '{}', '{admin}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 21:10:35.658976+00', NULL, NULL, '2026-11-30 21:10:35.670479+00'),
('key_e02b72a5f04d6aae', 'acme', E'\\x45217687c6225e72f429418f9c4b334f2d9b33492133d28415b46a5767efc2c2', '', 'ben', '{sales}', '{reader,writer}', '{private,shared,tenant,public}', 'false', '{}', NULL, NULL, NULL, 'false', '2026-11-30 21:10:33.294545+00', NULL, NULL, NULL);
DELETE FROM noted_histories;
INSERT INTO noted_histories (history, number) OVERRIDING SYSTEM VALUE VALUES
('1798661ae3b0859f', '1');
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
('acme', E'\\x4c9eae06de3b6a120a51f84225200257d56076355a8162e9bc915922ee7ef3f0', '38', '2026-11-30 21:10:35.623635+00');
DELETE FROM replicated_history;
INSERT INTO replicated_history (singleton, history, is_settled, lease_s_max) OVERRIDING SYSTEM VALUE VALUES
('true', '1798661ae3b0859f', 'true', '0');
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
('acme', '1798661ae3b0859f', '0', '2'),
('beta', '1798661ae3b0859f', '0', '4'),
('public', '1798661ae3b0859f', '0', '3');
DELETE FROM search_statistics;
DELETE FROM semantic_counts;
DELETE FROM source_origins;
DELETE FROM sources;
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts, by_callers, may_publish, pending_removals, confirmed_removals, created_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 21:10:33.778302+00'),
('acme', 'events', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 21:10:35.854842+00'),
('acme', 'hr', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 21:10:34.274596+00'),
('acme', 'log', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 21:10:34.521016+00'),
('beta', 'api', NULL, '{}', NULL, 'false', NULL, NULL, NULL, '{}', 'true', 'false', NULL, NULL, '2026-11-30 21:10:35.436632+00');
DELETE FROM strategies;
DELETE FROM subscription_events;
DELETE FROM subscription_webhooks;
DELETE FROM subscriptions;
DELETE FROM suspended_subjects;
DELETE FROM tenants;
INSERT INTO tenants (tenant, name, created_at, is_being_deleted, revision, access_revision, audience_revision, vocabulary_size, written_in, documents, chunks, public_chunks, stored_bytes, languages, partition_no, embedding_space, analyser, documents_max, chunks_max, bytes_max, sources_max, budget_month, receives_public, shares_answers, max_staleness_ms, semantic_error_max, confidence, questions_kept_days, counted_openings, popularity_rolled_up_at) OVERRIDING SYSTEM VALUE VALUES
('acme', 'acme', '2026-11-30 21:10:33.133181+00', 'false', '20', '2', '10', '55', '1798661ae3b0859f', '14', '16', '1', '1080', '{en,de}', '1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, '{"sources": {"log": 0.95}, "score_min": 0.1}', '0', 'nothing', NULL),
('beta', 'beta', '2026-11-30 21:10:33.195604+00', 'false', '3', '1', '3', '7', '1798661ae3b0859f', '3', '3', '1', '137', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'true', 'true', NULL, NULL, NULL, '0', 'nothing', NULL),
('public', 'What every tenant may read', '2026-11-30 21:10:32.404075+00', 'false', '4', '0', '0', '0', '1798661ae3b0859f', '0', '2', '0', '0', '{en}', '0', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'false', 'true', NULL, NULL, NULL, '0', 'nothing', NULL);
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
