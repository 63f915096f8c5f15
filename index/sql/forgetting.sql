-- Rows that are deleted with a document and that no foreign key deletes.

-- name: digests
-- $1 key of a document: the digests of its chunks, also of its earlier versions.
SELECT digest FROM chunk_texts WHERE document_key = $1
UNION
SELECT digest FROM previous_digests WHERE document_key = $1;

-- name: delete_past
-- $1 tenant, whose row is locked, $2 document: its past versions, also of an earlier document of this name.
-- This transaction keeps none.
WITH marked AS (
    UPDATE past_windows SET forgotten_revision = tenants.revision
    FROM tenants, set_config('nearhit.keeps_past', 'off', true)
    WHERE past_windows.tenant = $1 AND tenants.tenant = $1
    RETURNING true
),
deleted AS (DELETE FROM past_documents WHERE tenant = $1 AND document_id = $2 RETURNING document_key),
texts AS (
    DELETE FROM past_document_texts WHERE tenant = $1 AND document_key IN (SELECT document_key FROM deleted)
),
chunks AS (
    DELETE FROM past_chunks WHERE tenant = $1 AND document_key IN (SELECT document_key FROM deleted)
),
chunk_texts AS (
    DELETE FROM past_chunk_texts WHERE tenant = $1 AND document_key IN (SELECT document_key FROM deleted)
)
SELECT count(*) FROM marked;

-- name: delete_embeddings
-- $1 tenant, whose row is locked, $2 digests: delete their embeddings of every space, unless a document
-- of the tenant has the digest. OFFSET 0: one lookup for each digest, never a scan of the tenant.
WITH RECURSIVE spaces AS (
    (SELECT embedding_space FROM embeddings WHERE tenant = $1 ORDER BY embedding_space LIMIT 1)
    UNION ALL
    SELECT (
        SELECT embeddings.embedding_space FROM embeddings
        WHERE tenant = $1 AND embeddings.embedding_space > spaces.embedding_space
        ORDER BY embeddings.embedding_space LIMIT 1
    )
    FROM spaces WHERE spaces.embedding_space IS NOT NULL
),
unused AS MATERIALIZED (
    SELECT digest FROM unnest($2::bytea[]) AS requested (digest)
    WHERE NOT EXISTS (
        SELECT FROM chunk_texts JOIN documents USING (document_key)
        WHERE chunk_texts.digest = requested.digest AND documents.tenant = $1
        OFFSET 0
    )
),
deleted AS (
    DELETE FROM embeddings USING spaces CROSS JOIN unused
    WHERE embeddings.tenant = $1 AND embeddings.embedding_space = spaces.embedding_space
      AND embeddings.digest = unused.digest
    RETURNING true
)
SELECT count(*) FROM deleted;

-- name: delete_failed_jobs
-- $1 tenant, $2 target: failed jobs, whose payloads hold the text.
WITH deleted AS (
    DELETE FROM jobs WHERE tenant = $1 AND target = $2 AND state = 'failed' RETURNING true
)
SELECT count(*) FROM deleted;

-- fragment: restored_embeddings
-- $1 tenant, whose row `advanced` has locked, $16 the embedding space of the new chunks $5, or null: insert
-- embeddings that another transaction has deleted since this write was planned. Only the index knows of those
-- whose deletion this statement has waited for.
restored_embeddings AS (
    INSERT INTO embeddings (tenant, embedding_space, digest, dense)
    SELECT DISTINCT ON (digest) $1, $16, digest, dense
    FROM advanced CROSS JOIN unnest($5::bigint[]) AS chunk_id
    JOIN chunk_texts USING (chunk_id)
    CROSS JOIN LATERAL (
        SELECT dense FROM chunks
        WHERE chunks.partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1)
          AND chunks.chunk_id = chunk_texts.chunk_id
        OFFSET 0
    ) AS chunks
    WHERE $16::text IS NOT NULL
    ORDER BY digest
    ON CONFLICT DO NOTHING
)
