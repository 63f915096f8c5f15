-- Where the documents of a source were read from, and removals that wait for a confirmation.

-- One row for each folder, file or repository that `nearhit ingest` has read into a source.
-- origin:    the machine and the path, or the name that the operator gave it.
-- origin_no: documents of the source without a row in document_origins belong to number 1. Number 1 is
--            never given if callers wrote documents first, so that these belong to no origin.
CREATE TABLE source_origins (
    tenant     text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    source     text NOT NULL,
    origin_no  integer NOT NULL,
    origin     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source, origin_no),
    UNIQUE (tenant, source, origin)
);

-- Which origin a document belongs to, in sources that several origins share; other sources have no rows.
-- A row is older than its document, so it names the document's identifier.
CREATE TABLE document_origins (
    tenant      text NOT NULL,
    source      text NOT NULL,
    document_id text NOT NULL,
    origin_no   integer NOT NULL,
    PRIMARY KEY (tenant, document_id),
    FOREIGN KEY (tenant, source, origin_no) REFERENCES source_origins ON DELETE CASCADE
);
CREATE INDEX document_origins_source ON document_origins (tenant, source, origin_no);

-- pending_removals:   how many documents the last reading no longer found and kept, because they were
--                     too many to remove without a confirmation; null for none.
-- confirmed_removals: how many the next reading may remove, as an admin has confirmed; null for none.
ALTER TABLE sources
    ADD pending_removals   integer,
    ADD confirmed_removals integer;
CREATE INDEX sources_pending ON sources (tenant) WHERE pending_removals IS NOT NULL;
