-- name: lock
-- Writers of one document take turns; the identifier may not exist as a row yet.
SELECT pg_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 0));

-- name: stored
-- $1 tenant, $2 document: the document, with its chunks in the order of the text.
SELECT
    documents.document_key, document_id, source, title, uri, language, tags, metadata, owner, readers,
    version, texts.text,
    (SELECT revision FROM tenants WHERE tenants.tenant = documents.tenant) AS revision,
    coalesce(array_agg(chunk_texts.chunk_id ORDER BY chunk_texts.start_at, chunk_texts.chunk_id)
             FILTER (WHERE chunk_texts.chunk_id IS NOT NULL), '{}') AS chunk_ids,
    coalesce(array_agg(chunk_texts.digest ORDER BY chunk_texts.start_at, chunk_texts.chunk_id)
             FILTER (WHERE chunk_texts.chunk_id IS NOT NULL), '{}') AS digests
FROM documents
JOIN texts USING (document_key)
LEFT JOIN chunk_texts USING (document_key)
WHERE tenant = $1 AND document_id = $2
GROUP BY documents.document_key, texts.text;

-- name: version
SELECT version, readers FROM documents WHERE tenant = $1 AND document_id = $2;

-- name: register_source
INSERT INTO sources (tenant, source) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: put
-- $1 tenant, $2 document, then its fields: a new document, or the next version of it.
INSERT INTO documents
    (tenant, document_id, source, title, uri, language, tags, metadata, owner, readers)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (tenant, document_id) DO UPDATE SET
    source = excluded.source, title = excluded.title, uri = excluded.uri,
    language = excluded.language, tags = excluded.tags, metadata = excluded.metadata,
    owner = excluded.owner, readers = excluded.readers,
    version = nextval('document_versions'), updated_at = now()
RETURNING document_key;

-- name: put_text
INSERT INTO texts (document_key, text) VALUES ($1, $2)
ON CONFLICT (document_key) DO UPDATE SET text = excluded.text
WHERE texts.text <> excluded.text;

-- name: add_chunks
-- Identifiers rise with the order of the text.
INSERT INTO chunks (tenant, document_key, dense, lexical)
SELECT $1, $2, dense, lexical
FROM unnest($3::halfvec[], $4::sparsevec[]) WITH ORDINALITY AS new (dense, lexical, place)
ORDER BY place
RETURNING chunk_id;

-- name: put_chunk_texts
-- Added chunks get their text; kept ones may have moved.
INSERT INTO chunk_texts (chunk_id, document_key, digest, start_at, end_at, text)
SELECT chunk_id, $1, digest, start_at, end_at, text
FROM unnest($2::bigint[], $3::bytea[], $4::integer[], $5::integer[], $6::text[])
    AS new (chunk_id, digest, start_at, end_at, text)
ON CONFLICT (chunk_id) DO UPDATE SET start_at = excluded.start_at, end_at = excluded.end_at
WHERE chunk_texts.start_at <> excluded.start_at OR chunk_texts.end_at <> excluded.end_at;

-- name: put_lexical
-- The lexical vector also holds the title's words, so a new title gives kept chunks a new one.
UPDATE chunks SET lexical = new.lexical
FROM unnest($2::bigint[], $3::sparsevec[]) AS new (chunk_id, lexical)
WHERE chunks.tenant = $1 AND chunks.chunk_id = new.chunk_id AND chunks.lexical <> new.lexical;

-- name: remove_chunks
DELETE FROM chunks WHERE tenant = $1 AND chunk_id = ANY ($2::bigint[]);

-- name: remove
DELETE FROM documents WHERE tenant = $1 AND document_id = $2;

-- name: put_access
UPDATE documents SET owner = $3, readers = $4, version = nextval('document_versions')
WHERE tenant = $1 AND document_id = $2;

-- name: advance
-- The row lock makes revisions commit in order and without gaps; writers take it last.
UPDATE tenants SET
    revision = revision + 1,
    languages = CASE WHEN $2 = ANY (languages) THEN languages ELSE languages || $2::text END
WHERE tenant = $1
RETURNING revision;

-- name: record_change
-- The outbox keeps a tenant's last 10,000 changes; a cache that is further behind starts anew.
WITH forgotten AS (DELETE FROM changes WHERE tenant = $1 AND revision <= $2::bigint - 10000)
INSERT INTO changes (tenant, revision, added, removed, touched) VALUES ($1, $2, $3, $4, $5);

-- name: known_embeddings
-- $1 tenant, $2 space, $3 digests
SELECT digest, dense FROM embeddings WHERE tenant = $1 AND space = $2 AND digest = ANY ($3::bytea[]);

-- name: keep_embeddings
INSERT INTO embeddings (tenant, space, digest, dense)
SELECT $1, $2, digest, dense FROM unnest($3::bytea[], $4::halfvec[]) AS new (digest, dense)
ON CONFLICT DO NOTHING;

-- name: read
-- $1 tenant, $2 grants, $3 document: one that the caller may read.
SELECT document_id, source, title, uri, language, tags, metadata, owner, readers, text
FROM documents JOIN texts USING (document_key)
WHERE tenant = $1 AND audience && $2::text[] AND document_id = $3;

-- name: page
-- $1 tenant, $2 grants, $3 the last document of the page before, $4 source or null, $5 limit
SELECT document_id, source, title, uri, language, tags, metadata, owner, readers
FROM documents
WHERE tenant = $1 AND audience && $2::text[] AND document_id > $3 AND ($4::text IS NULL OR source = $4)
ORDER BY document_id LIMIT $5;

-- name: of_source
-- $1 tenant, $2 source: what a complete reading of the source is compared with.
SELECT document_id FROM documents WHERE tenant = $1 AND source = $2 ORDER BY document_id;
