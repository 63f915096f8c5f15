-- The order of acknowledged writes, and who brings documents to a source; see docs/decisions/0032.

-- A sequence number says when a write was acknowledged: at its commit, or when its job was queued. Of
-- each part of a document (content, owner, readers) the stored value is that of the highest number. The
-- numbers are those of document_versions; 0: any write counts.
ALTER TABLE documents
    ADD content_sequence bigint NOT NULL DEFAULT 0,
    ADD owner_sequence   bigint NOT NULL DEFAULT 0,
    ADD readers_sequence bigint NOT NULL DEFAULT 0;

-- Documents that were removed, as long as an earlier write may still come. Not by name: they are
-- forgotten.
-- digest: SHA-256 of the identifier.
CREATE TABLE removed_documents (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    digest     bytea NOT NULL,
    sequence   bigint NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, digest)
);
CREATE INDEX removed_documents_old ON removed_documents (removed_at);

-- access_sequence: when the last event was heard that said who may read the document.
ALTER TABLE heard ADD access_sequence bigint NOT NULL DEFAULT 0;

-- sequence: when the work was asked for. parts: what it sets of its document.
ALTER TABLE jobs
    ADD sequence bigint NOT NULL DEFAULT nextval('document_versions'),
    ADD parts    text[] NOT NULL DEFAULT '{}';
UPDATE jobs SET parts = '{content,owner,readers}' WHERE kind = 'document';
CREATE INDEX jobs_unfinished ON jobs (tenant, sequence) WHERE state <> 'done';

-- by_callers: whether callers have written documents of the source, which a reading would remove. Of
-- earlier documents, a reading has named those that begin with the source's name.
ALTER TABLE sources ADD by_callers boolean NOT NULL DEFAULT false;
UPDATE sources SET by_callers = true
WHERE kind IS NULL AND EXISTS (
    SELECT FROM documents
    WHERE documents.tenant = sources.tenant AND documents.source = sources.source
      AND NOT starts_with(document_id, sources.source || '/')
);
