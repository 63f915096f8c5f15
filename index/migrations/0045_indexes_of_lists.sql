-- Indexes of lists, whose pages read only what they show: see docs/decisions/0075. Each DROP comes first: it
-- takes the strongest lock, which after CREATE might wait for a writer that waits for CREATE.

-- Documents in the order of their identifiers' bytes, whatever the collation of the database.
-- text_pattern_ops compares bytes, and serves `=`, `= ANY` and ON CONFLICT as well.
ALTER TABLE documents DROP CONSTRAINT documents_tenant_document_id_key;
DROP INDEX documents_source;
CREATE UNIQUE INDEX documents_document_id ON documents (tenant, document_id text_pattern_ops);
CREATE INDEX documents_source ON documents (tenant, source, document_id text_pattern_ops);

-- A tenant's keys, or its tokens, by identifier.
DROP INDEX keys_tenant;
CREATE INDEX keys_listed ON keys (tenant, is_token, key_id);

-- The files of a source, the oldest or the newest first.
CREATE INDEX vector_store_files_created ON vector_store_files (tenant, source, created_at, file_id);
