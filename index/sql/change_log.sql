-- The changes of a partition after the revision that a cache or a shard has applied.

-- fragment: missed_changes
-- $1 partition, $2 revision, $3 limit of changes, $4 limit of added or updated chunks. `whole` is false if
-- a change is no longer stored or a limit is exceeded.
current AS MATERIALIZED (
    SELECT revision, audience_revision, languages, vocabulary_size, confidence,
        coalesce(embedding_space, (SELECT embedding_space FROM index_meta)) AS embedding_space,
        (SELECT history FROM histories) AS history
    FROM tenants WHERE tenant = $1
),
missed AS MATERIALIZED (
    SELECT added_chunks, removed_chunks, updated_chunks, repositioned_chunks, document_keys,
        popularity_keys
    FROM change_log
    WHERE tenant = $1 AND revision > $2 AND (SELECT revision FROM current) - $2 <= $3::bigint
),
whole AS MATERIALIZED (
    SELECT
        current.revision - $2 = (SELECT count(*) FROM missed)
        AND (SELECT coalesce(sum(cardinality(added_chunks) + cardinality(updated_chunks)), 0) FROM missed)
            <= $4::bigint AS is_whole
    FROM current
),
changed AS MATERIALIZED (
    SELECT DISTINCT chunk_id
    FROM missed CROSS JOIN LATERAL unnest(added_chunks || updated_chunks) AS chunk_id
    WHERE (SELECT is_whole FROM whole)
)

-- name: since
-- $1 to $4 as above, $5 tenant of the cache.
--
-- The first row holds the newest revision, and the changes that are not added or updated chunks. It is
-- the only row if a change is no longer stored or a limit is exceeded. Then each added or updated chunk
-- that still exists and is the tenant's own, or another tenant's public one unless that tenant is being
-- deleted. All rows are from one snapshot. OFFSET 0: one lookup for each row.
WITH :missed_changes,
changed_chunks AS (
    SELECT
        2 AS position, changed.chunk_id, visible.*, tenants.embedding_space AS tenant_embedding_space,
        dense, lexical
    FROM changed
    CROSS JOIN LATERAL (
        SELECT document_key FROM chunk_texts WHERE chunk_texts.chunk_id = changed.chunk_id OFFSET 0
    ) AS document_texts
    CROSS JOIN LATERAL (
        SELECT
            document_key, tenant, document_id, source, language, tags, metadata, owner, readers,
            updated_at, provenance ->> 'trust' AS trust
        FROM documents
        WHERE documents.document_key = document_texts.document_key
          AND ((tenant = $1 AND $1 <> 'public')
               OR ($1 = 'public' AND tenant <> $5 AND 'public' = ANY (readers)))
        OFFSET 0
    ) AS visible
    CROSS JOIN LATERAL (
        SELECT
            partition_no,
            coalesce(embedding_space, (SELECT embedding_space FROM index_meta)) AS embedding_space
        FROM tenants WHERE tenants.tenant = visible.tenant AND NOT is_being_deleted
        OFFSET 0
    ) AS tenants
    CROSS JOIN LATERAL (
        SELECT dense, lexical FROM chunks
        WHERE chunks.partition_no = tenants.partition_no AND chunks.chunk_id = changed.chunk_id
        OFFSET 0
    ) AS chunks
)
SELECT
    head.*,
    chunk_id, document_key, tenant, document_id, source, language, tags, metadata, owner, readers,
    updated_at, trust, tenant_embedding_space, dense, lexical
FROM (
    SELECT
        1 AS position, revision, audience_revision, history, languages AS partition_languages,
        vocabulary_size, embedding_space, is_whole,
        ARRAY(SELECT unnest(removed_chunks || updated_chunks) FROM missed WHERE is_whole)
            AS outdated_chunks,
        ARRAY(SELECT unnest(repositioned_chunks) FROM missed WHERE is_whole) AS repositioned_chunks,
        ARRAY(SELECT unnest(document_keys) FROM missed WHERE is_whole) AS document_keys,
        ARRAY(SELECT unnest(popularity_keys) FROM missed WHERE is_whole) AS popularity_keys
    FROM current CROSS JOIN whole
) AS head
FULL JOIN changed_chunks USING (position);
