-- A tenant that is being deleted.

-- name: under_way
-- $1 target: the job that does it.
SELECT job_id FROM jobs
WHERE tenant = 'public' AND target = $1 AND state IN ('waiting', 'running')
ORDER BY job_no LIMIT 1;

-- name: drop_jobs
-- $1 tenant, here and below. Whoever is at one of them finds that it has lost it.
WITH dropped AS (DELETE FROM jobs WHERE tenant = $1 RETURNING true)
SELECT count(*) FROM dropped;

-- name: drop_keys
WITH dropped AS (DELETE FROM keys WHERE tenant = $1 RETURNING is_token)
SELECT count(*) FILTER (WHERE NOT is_token) FROM dropped;

-- name: stop_sources
UPDATE sources SET paused = true, next_run_at = NULL WHERE tenant = $1;

-- name: stop_audits
DELETE FROM index_audits WHERE tenant = $1;

-- name: mark
-- Raising access_revision bites at the next request.
UPDATE tenants SET is_being_deleted = true, access_revision = access_revision + 1
WHERE tenant = $1 AND tenant <> 'public'
RETURNING true;

-- name: public_chunks
-- $1 tenant, $2 how many at most: chunks that other tenants may have found, with their documents.
SELECT document_key, chunk_id
FROM documents JOIN chunk_texts USING (document_key)
WHERE tenant = $1 AND 'public' = ANY (readers)
LIMIT $2;

-- name: skip_public_revision
-- A revision without a row among the changes: a cache that meets the gap starts anew.
UPDATE tenants SET revision = revision + 1 WHERE tenant = 'public';

-- name: is_there
SELECT true FROM tenants WHERE tenant = $1 AND is_being_deleted;

-- name: documents
-- $1 tenant, $2 limit
SELECT document_key, document_id, language, readers, chunks,
    ARRAY(SELECT chunk_id FROM chunk_texts WHERE chunk_texts.document_key = documents.document_key)
        AS chunk_ids
FROM documents WHERE tenant = $1 ORDER BY document_id LIMIT $2;

-- name: remove
-- $1 tenant, $2 documents
DELETE FROM documents WHERE tenant = $1 AND document_id = ANY ($2::text[]);

-- name: embeddings
-- $1 tenant, $2 how many at a time; here and below
WITH gone AS (
    DELETE FROM embeddings
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM embeddings WHERE tenant = $1 LIMIT $2)) RETURNING true
)
SELECT count(*) FROM gone;

-- name: words
WITH gone AS (
    DELETE FROM vocabulary
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM vocabulary WHERE ARRAY[tenant] && ARRAY[$1::text] LIMIT $2
    ))
    RETURNING true
)
SELECT count(*) FROM gone;

-- name: heard
WITH gone AS (
    DELETE FROM event_versions
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM event_versions WHERE tenant = $1 LIMIT $2)) RETURNING true
)
SELECT count(*) FROM gone;

-- name: shelf
-- $1 tenant: the one of its own. is_pending: whether an earlier attempt has begun to detach it; null if
-- it is detached.
SELECT
    chunk_partitions.partition_no, to_regclass('chunks_' || chunk_partitions.partition_no) IS NOT NULL AS is_there,
    (SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass('chunks_' || chunk_partitions.partition_no))
        AS is_pending
FROM chunk_partitions JOIN tenants USING (tenant) WHERE tenant = $1 AND is_being_deleted;

-- name: detach
-- Searches go on: they are waited for, and wait for nothing.
ALTER TABLE chunks DETACH PARTITION chunks_{partition_no} CONCURRENTLY;

-- name: detach_on
ALTER TABLE chunks DETACH PARTITION chunks_{partition_no} FINALIZE;

-- name: hurry
-- The table's foreign key makes its end wait for all who read documents, and others behind it: not long.
SELECT set_config('lock_timeout', '1s', true);

-- name: drop
DROP TABLE chunks_{partition_no};

-- name: remember
-- $1 tenant: where tenants to come begin.
UPDATE deleted_tenant_counters SET
    revision = greatest(deleted_tenant_counters.revision, tenants.revision + 1, tenants.access_revision + 1),
    vocabulary_size = greatest(deleted_tenant_counters.vocabulary_size, ((tenants.vocabulary_size >> 40) + 1) << 40)
FROM tenants WHERE tenant = $1;

-- name: end
DELETE FROM tenants WHERE tenant = $1 AND is_being_deleted;
