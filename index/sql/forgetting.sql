-- What goes with a document, or with a tenant, beside the rows that hang on it.

-- name: digests
-- $1 key of a document: all that it holds, and held in earlier versions.
SELECT digest FROM chunk_texts WHERE document_key = $1
UNION
SELECT digest FROM previous_digests WHERE document_key = $1;

-- name: embeddings
-- $1 tenant, whose row is locked, $2 digests: the vectors, in whatever space, of those that no document
-- of the tenant holds. Digest by digest: no plan may look through all that the tenant has.
WITH RECURSIVE spaces AS (
    (SELECT embedding_space FROM embeddings WHERE tenant = $1 ORDER BY embedding_space LIMIT 1)
    UNION ALL
    SELECT (
        SELECT embeddings.embedding_space FROM embeddings
        WHERE tenant = $1 AND embeddings.embedding_space > spaces.embedding_space ORDER BY embeddings.embedding_space LIMIT 1
    )
    FROM spaces WHERE spaces.embedding_space IS NOT NULL
),
gone AS MATERIALIZED (
    SELECT digest FROM unnest($2::bytea[]) AS asked (digest)
    WHERE NOT EXISTS (
        SELECT FROM chunk_texts JOIN documents USING (document_key)
        WHERE chunk_texts.digest = asked.digest AND documents.tenant = $1
        OFFSET 0
    )
),
forgotten AS (
    DELETE FROM embeddings USING spaces CROSS JOIN gone
    WHERE embeddings.tenant = $1 AND embeddings.embedding_space = spaces.embedding_space
      AND embeddings.digest = gone.digest
    RETURNING true
)
SELECT count(*) FROM forgotten;

-- name: jobs
-- $1 tenant, $2 target: what has failed and still holds what it was told.
WITH forgotten AS (
    DELETE FROM jobs WHERE tenant = $1 AND target = $2 AND state = 'failed' RETURNING true
)
SELECT count(*) FROM forgotten;

-- name: keep_again
-- $1 tenant, whose row is locked, $2 space, $3 new chunks: should somebody have forgotten a vector since
-- the write was planned with it.
INSERT INTO embeddings (tenant, embedding_space, digest, dense)
SELECT DISTINCT ON (digest) $1, $2, digest, dense
FROM unnest($3::bigint[]) AS chunk_id
JOIN chunk_texts USING (chunk_id)
CROSS JOIN LATERAL (
    SELECT dense FROM chunks
    WHERE chunks.partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1)
      AND chunks.chunk_id = chunk_texts.chunk_id
    OFFSET 0
) AS chunks
WHERE NOT EXISTS (
    SELECT FROM embeddings
    WHERE embeddings.tenant = $1 AND embeddings.embedding_space = $2
      AND embeddings.digest = chunk_texts.digest
    OFFSET 0
)
ORDER BY digest
ON CONFLICT DO NOTHING;
