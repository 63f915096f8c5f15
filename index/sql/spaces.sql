-- A tenant's move from one embedder's space to another's.

-- name: current
-- $1 tenant: the space of its vectors, null if nothing was ever embedded; no row without a tenant.
SELECT coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta)) AS embedding_space
FROM tenants WHERE tenant = $1;

-- name: tenants
-- With how many documents each.
SELECT tenants.tenant, count(document_key) AS documents
FROM tenants LEFT JOIN documents USING (tenant)
WHERE tenants.tenant <> 'public' GROUP BY tenants.tenant ORDER BY tenants.tenant;

-- name: documents
-- $1 tenant, $2 the last document of the page before, $3 limit: what their chunks are made of.
SELECT document_key, document_id, text, chunker, told.starts, told.ends, told.summaries_told
FROM documents JOIN document_texts USING (document_key)
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(start_at ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS starts,
        coalesce(array_agg(end_at ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS ends,
        array_agg((start_at, end_at, chunk_texts.text) ORDER BY start_at, chunk_id)
            FILTER (WHERE chunk_id < 0) AS summaries_told
    FROM chunk_texts WHERE chunk_texts.document_key = documents.document_key
) AS told
WHERE tenant = $1 AND document_key > $2 ORDER BY document_key LIMIT $3;

-- name: lacking
-- $1 tenant, $2 space, $3 limit: documents with chunks that have no vector there.
SELECT document_id FROM documents
WHERE tenant = $1 AND EXISTS (
    SELECT FROM chunk_texts
    WHERE chunk_texts.document_key = documents.document_key AND NOT EXISTS (
        SELECT FROM embeddings
        WHERE embeddings.tenant = $1 AND embeddings.embedding_space = $2
          AND embeddings.digest = chunk_texts.digest
    )
)
LIMIT $3;

-- name: unindex
-- Another space's vectors are another graph; until there is one, the shelf is looked through exactly.
UPDATE chunk_partitions SET dimensions = NULL WHERE tenant = $1 RETURNING partition_no;

-- name: switch
-- $1 tenant, $2 space
UPDATE chunks SET dense = embeddings.dense
FROM documents
JOIN chunk_texts USING (document_key)
JOIN embeddings ON embeddings.tenant = $1 AND embeddings.embedding_space = $2
    AND embeddings.digest = chunk_texts.digest
WHERE documents.tenant = $1
  AND chunks.partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1)
  AND chunks.document_key = documents.document_key
  AND chunks.chunk_id = chunk_texts.chunk_id;

-- name: enter
UPDATE tenants SET embedding_space = $2 WHERE tenant = $1;

-- name: touched
-- $1 tenant, $2 whether only public ones are meant.
SELECT coalesce(array_agg(chunk_id ORDER BY chunk_id), '{}') AS chunk_ids
FROM documents JOIN chunk_texts USING (document_key)
WHERE tenant = $1 AND ($2::boolean IS FALSE OR 'public' = ANY (readers));

-- name: forget
-- What an older space has paid for; $2 the one to keep.
DELETE FROM embeddings WHERE tenant = $1 AND embedding_space <> $2;

-- name: settle
-- $1 space, $2 dimensions: when every tenant has come to one space, it is the index's.
WITH settled AS (
    UPDATE index_meta SET embedding_space = $1, dimensions = $2
    WHERE NOT EXISTS (
        SELECT FROM tenants WHERE tenant <> 'public' AND coalesce(embedding_space, index_meta.embedding_space) <> $1
    )
    RETURNING embedding_space
),
stale AS (
    UPDATE chunk_partitions SET dimensions = NULL WHERE dimensions <> $2 AND EXISTS (SELECT FROM settled)
)
-- The row of 'public' has no space: writers, who lock theirs before it, can't meet this in a circle.
UPDATE tenants SET embedding_space = NULL WHERE embedding_space IS NOT NULL AND EXISTS (SELECT FROM settled);
