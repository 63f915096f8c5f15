-- What has to be found when a document or a tenant is forgotten; see docs/decisions/0018.

-- What a document held in earlier versions: its vectors stay, should the words come back, and go with
-- the document.
CREATE TABLE outdated (
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    digest       bytea NOT NULL,
    PRIMARY KEY (document_key, digest)
);

-- Whether another document holds the same.
CREATE INDEX chunk_texts_digest ON chunk_texts USING hash (digest);

-- What has failed to write a document.
CREATE INDEX jobs_failed ON jobs (tenant, target) WHERE state = 'failed';

-- leaving: the tenant is being deleted: it lets nobody in, and nothing is written to it.
-- words:   beside how many it has learned, in units of 2^40 how often some were forgotten: equal numbers
--          still mean equal vocabularies.
ALTER TABLE tenants ADD leaving boolean NOT NULL DEFAULT false;

-- The highest counters of tenants that are gone. Those that come begin beyond them: whatever a cache
-- still holds of an older tenant of the same name is out of date.
CREATE TABLE departed (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    revision bigint NOT NULL DEFAULT 0,
    words    bigint NOT NULL DEFAULT 0
);
INSERT INTO departed DEFAULT VALUES;
