-- What the tables hold, as an audit of the index reads it: each statement sees one instant.

-- name: documents
-- $1 tenant, $2 the last document of the page before, $3 limit: each with its chunks in the order of
-- the text, and summaries, below zero, by themselves. unlike: chunks without a vector, or with another
-- one than their digest's in the tenant's space. strays: those that only one of the tables holds, or that stand on another's shelf.
SELECT
    document_key, document_id, document_texts.text, chunker, summaries, documents.chunks AS counted,
    told.chunks, told.told, told.unlike, told.untold || stood.strays AS strays
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
        ) FILTER (WHERE chunk_id < 0) AS told,
        count(*) FILTER (WHERE chunks.dense <> embeddings.dense OR embeddings.dense IS NULL) AS unlike,
        coalesce(array_agg(chunk_id) FILTER (WHERE chunks.dense IS NULL), '{}') AS untold
    FROM chunk_texts
    LEFT JOIN chunks USING (chunk_id, document_key)
    LEFT JOIN embeddings
        ON embeddings.tenant = $1 AND embeddings.digest = chunk_texts.digest
        AND embeddings.embedding_space = coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta))
    WHERE chunk_texts.document_key = documents.document_key
) AS told
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(chunk_id), '{}') AS strays
    FROM chunks
    WHERE chunks.document_key = documents.document_key AND (
        chunks.partition_no <> tenants.partition_no OR chunks.tenant <> $1 OR NOT EXISTS (
            SELECT FROM chunk_texts
            WHERE chunk_texts.chunk_id = chunks.chunk_id
              AND chunk_texts.document_key = chunks.document_key
        )
    )
) AS stood
WHERE tenant = $1 AND document_key > $2
ORDER BY document_key LIMIT $3;

-- name: counts
-- $1 tenant: how many chunks it and everybody are said to have, and have.
WITH found AS (
    SELECT
        coalesce(sum(documents.chunks), 0)::bigint AS chunks,
        coalesce(sum(documents.chunks) FILTER (WHERE 'public' = ANY (readers)), 0)::bigint AS public_chunks
    FROM documents WHERE tenant = $1
)
SELECT
    ARRAY[tenants.chunks, tenants.public_chunks, everyone.chunks] AS told,
    ARRAY[
        found.chunks, found.public_chunks,
        (SELECT sum(public_chunks)::bigint FROM tenants WHERE tenant <> 'public')
    ] AS found
FROM tenants CROSS JOIN found JOIN tenants AS everyone ON everyone.tenant = 'public'
WHERE tenants.tenant = $1;

-- name: recount
-- $1 tenant, whose writers wait.
UPDATE tenants SET chunks = found.chunks, public_chunks = found.public_chunks
FROM (
    SELECT
        coalesce(sum(documents.chunks), 0) AS chunks,
        coalesce(sum(documents.chunks) FILTER (WHERE 'public' = ANY (readers)), 0) AS public_chunks
    FROM documents WHERE tenant = $1
) AS found
WHERE tenant = $1;

-- name: close_public
-- Whoever has counted public chunks has committed; whoever has not will add to what is found now.
SELECT true FROM tenants WHERE tenant = 'public' FOR UPDATE;

-- name: recount_public
UPDATE tenants SET chunks = (SELECT sum(public_chunks) FROM tenants WHERE tenant <> 'public')
WHERE tenant = 'public';

-- name: old_spaces
-- $1 tenant, $2 spaces that are in use: the others, with how many vectors each.
SELECT embeddings.embedding_space, count(*) AS vectors
FROM embeddings JOIN tenants USING (tenant)
WHERE tenant = $1 AND embeddings.embedding_space <> ALL ($2::text[])
  AND embeddings.embedding_space <> coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta))
GROUP BY embeddings.embedding_space ORDER BY embeddings.embedding_space;

-- name: forget_space
-- $1 tenant, $2 space, unless it has become the tenant's.
DELETE FROM embeddings USING tenants
WHERE embeddings.tenant = $1 AND embeddings.embedding_space = $2 AND tenants.tenant = $1
  AND $2 <> coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta));
