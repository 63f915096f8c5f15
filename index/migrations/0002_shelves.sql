-- A tenant that outgrows the others' table gets a shelf of its own, with indexes that only a large
-- set of chunks repays; what a search reads before it reads chunks is counted as it is written.

-- Shelf 0 is everybody's. width: of the vectors that its index holds, null while it has none.
CREATE TABLE shelves (
    shelf  integer PRIMARY KEY,
    tenant text UNIQUE REFERENCES tenants ON DELETE CASCADE,
    width  integer
);
INSERT INTO shelves (shelf) VALUES (0);
CREATE SEQUENCE shelf_numbers AS integer;

-- chunks: of the tenant's documents; in the row 'public', of all that every tenant may read.
-- public_chunks: those of the tenant's own that every tenant may read.
ALTER TABLE tenants
    ADD shelf         integer NOT NULL DEFAULT 0 REFERENCES shelves,
    ADD chunks        bigint NOT NULL DEFAULT 0,
    ADD public_chunks bigint NOT NULL DEFAULT 0;
CREATE INDEX tenants_public ON tenants (shelf) WHERE public_chunks > 0;

-- dice: equal chances for every document, so that the lowest of them are a fair sample.
ALTER TABLE documents
    ADD chunks integer NOT NULL DEFAULT 0,
    ADD dice   integer NOT NULL GENERATED ALWAYS AS (hashint8(document_key)) STORED;
CREATE INDEX documents_dice ON documents (tenant, dice);
DROP INDEX documents_public;
CREATE INDEX documents_public ON documents (dice) WHERE 'public' = ANY (readers);
-- A tenant in a form that no other index holds: what asks for it so is found by audience, whatever
-- the planner believes of the table. Without a pending list, which every search would read through.
CREATE INDEX documents_audience ON documents USING gin ((ARRAY[tenant]), audience)
    WITH (fastupdate = off);

-- What the exact pass reads, and nothing else: rows stay short and vectors stay in line.
ALTER TABLE chunks RENAME TO chunks_before;
CREATE SEQUENCE chunk_ids;
CREATE TABLE chunks (
    shelf        integer NOT NULL,
    chunk_id     bigint NOT NULL DEFAULT nextval('chunk_ids'),
    tenant       text NOT NULL,
    document_key bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    dense        halfvec NOT NULL,
    lexical      sparsevec NOT NULL
) PARTITION BY LIST (shelf);
CREATE TABLE chunks_0 PARTITION OF chunks FOR VALUES IN (0) WITH (toast_tuple_target = 8160);
INSERT INTO chunks (shelf, chunk_id, tenant, document_key, dense, lexical)
SELECT 0, chunk_id, tenant, document_key, dense, lexical FROM chunks_before ORDER BY chunk_id;
SELECT setval('chunk_ids', coalesce(max(chunk_id), 0) + 1, false) FROM chunks;
ALTER TABLE chunk_texts DROP CONSTRAINT chunk_texts_chunk_id_fkey;
DROP TABLE chunks_before;
ALTER TABLE chunks ADD PRIMARY KEY (chunk_id, shelf);
CREATE INDEX chunks_document ON chunks (document_key);
CREATE INDEX chunks_tenant ON chunks (tenant);

UPDATE documents SET chunks = counted.chunks
FROM (SELECT document_key, count(*) AS chunks FROM chunks GROUP BY document_key) AS counted
WHERE documents.document_key = counted.document_key;
UPDATE tenants SET chunks = counted.chunks, public_chunks = counted.public_chunks
FROM (
    SELECT
        tenant, sum(chunks) AS chunks,
        coalesce(sum(chunks) FILTER (WHERE 'public' = ANY (readers)), 0) AS public_chunks
    FROM documents GROUP BY tenant
) AS counted
WHERE tenants.tenant = counted.tenant;
UPDATE tenants SET chunks = (SELECT coalesce(sum(public_chunks), 0) FROM tenants)
WHERE tenant = 'public';

-- The terms of a lexical vector, for the index that a large shelf finds them by.
CREATE FUNCTION lexical_terms(lexical sparsevec) RETURNS integer[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(
    (SELECT array_agg(split_part(term, ':', 1)::integer)
     FROM unnest(string_to_array(split_part(ltrim(lexical::text, '{'), '}', 1), ',')) AS term
     WHERE term <> ''),
    '{}'
);
