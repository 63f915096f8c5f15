-- Rows and counters that an audit of the index compares.

-- name: documents
-- $1 tenant, $2 the last document of the previous page, $3 limit: each with its chunks in the order of
-- the text, and summaries apart. mismatched: chunks without a vector, or with another vector than that of
-- their digest. strays: chunks that only one of the tables holds, or in another partition.
SELECT
    document_id, document_texts.text, chunker, summaries, is_active,
    documents.chunks AS counted,
    pieces.chunks, pieces.summary_chunks, pieces.mismatched,
    pieces.without_vector || misplaced.chunk_ids AS strays
FROM documents
JOIN tenants USING (tenant)
LEFT JOIN document_texts USING (document_key)
CROSS JOIN LATERAL (
    SELECT
        array_agg(
            (start_at, end_at, chunk_texts.digest, chunk_texts.text) ORDER BY start_at, chunk_id
        ) FILTER (WHERE chunk_id > 0) AS chunks,
        array_agg(
            (start_at, end_at, chunk_texts.digest, chunk_texts.text)
            ORDER BY start_at, end_at DESC
        ) FILTER (WHERE chunk_id < 0) AS summary_chunks,
        count(*) FILTER (WHERE chunks.dense <> embeddings.dense OR embeddings.dense IS NULL)
            AS mismatched,
        coalesce(array_agg(chunk_id) FILTER (WHERE chunks.dense IS NULL), '{}') AS without_vector
    FROM chunk_texts
    LEFT JOIN chunks USING (chunk_id, document_key)
    LEFT JOIN embeddings
        ON embeddings.tenant = $1 AND embeddings.digest = chunk_texts.digest
        AND embeddings.embedding_space
            = coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta))
    WHERE chunk_texts.document_key = documents.document_key
) AS pieces
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(chunk_id), '{}') AS chunk_ids
    FROM chunks
    WHERE chunks.document_key = documents.document_key AND (
        chunks.partition_no <> tenants.partition_no OR chunks.tenant <> $1 OR NOT EXISTS (
            SELECT FROM chunk_texts
            WHERE chunk_texts.chunk_id = chunks.chunk_id
              AND chunk_texts.document_key = chunks.document_key
        )
    )
) AS misplaced
WHERE tenant = $1 AND document_id ~>~ $2
ORDER BY document_id USING ~<~ LIMIT $3;

-- name: counts
-- $1 tenant: its counters and the counter of public chunks, and the numbers that they should be.
WITH actual AS (
    SELECT
        coalesce(sum(documents.chunks), 0)::bigint AS chunks,
        coalesce(sum(documents.chunks) FILTER (WHERE 'public' = ANY (readers)), 0)::bigint
            AS public_chunks,
        count(*) AS documents,
        (coalesce(sum(octet_length(text)), 0) + (
            SELECT coalesce(sum(octet_length(content)), 0) FROM files WHERE files.tenant = $1
        ))::bigint AS bytes
    FROM documents LEFT JOIN document_texts USING (document_key) WHERE tenant = $1
)
SELECT
    ARRAY[
        tenants.chunks, tenants.public_chunks, everyone.chunks, tenants.documents, tenants.stored_bytes
    ] AS stored,
    ARRAY[
        actual.chunks, actual.public_chunks,
        (SELECT sum(public_chunks)::bigint FROM tenants WHERE tenant <> 'public'),
        actual.documents, actual.bytes
    ] AS actual
FROM tenants CROSS JOIN actual JOIN tenants AS everyone ON everyone.tenant = 'public'
WHERE tenants.tenant = $1;

-- name: recount
-- $1 tenant, which the caller has locked against writers.
UPDATE tenants SET
    chunks = actual.chunks, public_chunks = actual.public_chunks, documents = actual.documents,
    stored_bytes = actual.bytes + (
        SELECT coalesce(sum(octet_length(content)), 0) FROM files WHERE files.tenant = $1
    )
FROM (
    SELECT
        count(*) AS documents, coalesce(sum(octet_length(text)), 0) AS bytes,
        coalesce(sum(documents.chunks), 0) AS chunks,
        coalesce(sum(documents.chunks) FILTER (WHERE 'public' = ANY (readers)), 0) AS public_chunks
    FROM documents LEFT JOIN document_texts USING (document_key) WHERE tenant = $1
) AS actual
WHERE tenant = $1;

-- name: lock_public
-- The lock waits for writers that have changed this counter; later writers add to the corrected one.
SELECT true FROM tenants WHERE tenant = 'public' FOR UPDATE;

-- name: recount_public
UPDATE tenants SET chunks = (SELECT sum(public_chunks) FROM tenants WHERE tenant <> 'public')
WHERE tenant = 'public';

-- name: unused_spaces
-- $1 tenant, $2 embedding spaces in use: the others, with the number of vectors of each.
SELECT embeddings.embedding_space, count(*) AS vectors
FROM embeddings JOIN tenants USING (tenant)
WHERE tenant = $1 AND embeddings.embedding_space <> ALL ($2::text[])
  AND embeddings.embedding_space
      <> coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta))
GROUP BY embeddings.embedding_space ORDER BY embeddings.embedding_space;

-- name: delete_space
-- $1 tenant, $2 embedding space, unless the tenant uses it by now.
DELETE FROM embeddings USING tenants
WHERE embeddings.tenant = $1 AND embeddings.embedding_space = $2 AND tenants.tenant = $1
  AND $2 <> coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta));
