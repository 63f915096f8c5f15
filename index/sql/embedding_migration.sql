-- The migration of a tenant from one embedding space to another.

-- name: current_space
-- $1 tenant: the embedding space of its vectors, null if there never was one; no row without the tenant.
SELECT
    coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta)) AS embedding_space
FROM tenants WHERE tenant = $1;

-- name: tenants
-- Each with the number of its documents.
SELECT tenants.tenant, count(document_key) AS documents
FROM tenants LEFT JOIN documents USING (tenant)
WHERE tenants.tenant <> 'public' GROUP BY tenants.tenant ORDER BY tenants.tenant;

-- name: documents
-- $1 tenant, $2 the last document of the previous page, $3 limit: the texts and offsets of their chunks.
-- $4 null, or an embedding space: only documents with a chunk that has no vector in that space.
SELECT document_id, text, chunker, pieces.starts, pieces.ends, pieces.summary_rows
FROM documents JOIN document_texts USING (document_key)
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(start_at ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS starts,
        coalesce(array_agg(end_at ORDER BY start_at, chunk_id) FILTER (WHERE chunk_id > 0), '{}')
            AS ends,
        array_agg((start_at, end_at, chunk_texts.text) ORDER BY start_at, chunk_id)
            FILTER (WHERE chunk_id < 0) AS summary_rows
    FROM chunk_texts WHERE chunk_texts.document_key = documents.document_key
) AS pieces
WHERE tenant = $1 AND document_id ~>~ $2 AND ($4::text IS NULL OR EXISTS (
    SELECT FROM chunk_texts
    WHERE chunk_texts.document_key = documents.document_key AND NOT EXISTS (
        SELECT FROM embeddings
        WHERE embeddings.tenant = $1 AND embeddings.embedding_space = $4
          AND embeddings.digest = chunk_texts.digest
    )
))
ORDER BY document_id USING ~<~ LIMIT $3;

-- name: missing
-- $1 tenant, $2 embedding space, $3 limit: chunks that have no vector in that space.
SELECT document_id, digest FROM documents JOIN chunk_texts USING (document_key)
WHERE tenant = $1 AND NOT EXISTS (
    SELECT FROM embeddings
    WHERE embeddings.tenant = $1 AND embeddings.embedding_space = $2
      AND embeddings.digest = chunk_texts.digest
)
LIMIT $3;

-- name: unpublish_index
-- $1 tenant: its partition is searched exactly until a graph of the new vectors exists.
UPDATE chunk_partitions SET dimensions = NULL WHERE tenant = $1 RETURNING partition_no;

-- name: switch
-- $1 tenant, $2 embedding space
UPDATE chunks SET dense = embeddings.dense
FROM documents
JOIN chunk_texts USING (document_key)
JOIN embeddings ON embeddings.tenant = $1 AND embeddings.embedding_space = $2
    AND embeddings.digest = chunk_texts.digest
WHERE documents.tenant = $1
  AND chunks.partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1)
  AND chunks.document_key = documents.document_key
  AND chunks.chunk_id = chunk_texts.chunk_id;

-- name: fill
-- $1 tenant, $2 embedding space: give chunks without a vector, which have the zero vector, that of their
-- digest. Nothing if the tenant has left the space.
WITH filled AS (
    SELECT chunk_texts.chunk_id, chunk_texts.document_key, partition_no, embeddings.dense
    FROM tenants
    JOIN documents USING (tenant)
    JOIN chunk_texts USING (document_key)
    JOIN embeddings ON embeddings.tenant = $1 AND embeddings.embedding_space = $2
        AND embeddings.digest = chunk_texts.digest AND l2_norm(embeddings.dense) > 0
    WHERE documents.tenant = $1
      AND coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta)) = $2
)
UPDATE chunks SET dense = filled.dense
FROM filled
WHERE chunks.partition_no = filled.partition_no AND chunks.document_key = filled.document_key
  AND chunks.chunk_id = filled.chunk_id AND l2_norm(chunks.dense) = 0
RETURNING chunks.chunk_id;

-- name: set_space
UPDATE tenants SET embedding_space = $2 WHERE tenant = $1;

-- name: chunk_ids
-- $1 tenant, $2 only public chunks, $3 null, or only these chunks.
SELECT coalesce(array_agg(chunk_id ORDER BY chunk_id), '{}') AS chunk_ids
FROM documents JOIN chunk_texts USING (document_key)
WHERE tenant = $1 AND ($2::boolean IS FALSE OR 'public' = ANY (readers))
  AND ($3::bigint[] IS NULL OR chunk_id = ANY ($3));

-- name: delete_old
-- $1 tenant, $2 the embedding space to keep.
DELETE FROM embeddings WHERE tenant = $1 AND embedding_space <> $2;

-- name: set_index_space
-- $1 embedding space, $2 dimensions: set those of the index if every tenant has migrated to them.
WITH settled AS (
    UPDATE index_meta SET embedding_space = $1, dimensions = $2
    WHERE NOT EXISTS (
        SELECT FROM tenants
        WHERE tenant <> 'public' AND coalesce(embedding_space, index_meta.embedding_space) <> $1
    )
    RETURNING embedding_space
),
stale AS (
    UPDATE chunk_partitions SET dimensions = NULL WHERE dimensions <> $2 AND EXISTS (SELECT FROM settled)
)
-- The row of 'public' has no embedding space and is not locked here, so this can't deadlock with writers,
-- which lock it last.
UPDATE tenants SET embedding_space = NULL
WHERE embedding_space IS NOT NULL AND EXISTS (SELECT FROM settled);
