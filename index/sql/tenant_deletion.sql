-- The deletion of a tenant, in the order of the steps.

-- name: find_job
-- $1 target: the job that deletes the tenant.
SELECT job_id FROM jobs
WHERE tenant = 'public' AND target = $1 AND state IN ('waiting', 'running')
ORDER BY job_no LIMIT 1;

-- name: progress
-- $1 job: what its earlier attempts have recorded
SELECT progress FROM jobs WHERE job_id = $1;

-- name: delete_jobs
-- $1 tenant, here and below. A worker that runs one of these jobs loses it.
WITH deleted AS (DELETE FROM jobs WHERE tenant = $1 RETURNING true)
SELECT count(*) FROM deleted;

-- name: lock_keys
SELECT key_id FROM keys WHERE tenant = $1 FOR UPDATE;

-- name: delete_keys
WITH deleted AS (DELETE FROM keys WHERE tenant = $1 RETURNING is_token)
SELECT count(*) FILTER (WHERE NOT is_token) FROM deleted;

-- name: pause_sources
UPDATE sources SET paused = true, next_run_at = NULL WHERE tenant = $1;

-- name: delete_audits
DELETE FROM index_audits WHERE tenant = $1;

-- name: mark
-- The new access_revision makes gateways read its keys again at the next request.
UPDATE tenants SET is_being_deleted = true, access_revision = access_revision + 1
WHERE tenant = $1 AND tenant <> 'public'
RETURNING true;

-- name: public_chunks
-- $1 tenant, $2 limit: public chunks, with their documents.
SELECT document_key, chunk_id
FROM documents JOIN chunk_texts USING (document_key)
WHERE tenant = $1 AND 'public' = ANY (readers)
LIMIT $2;

-- name: skip_public_revision
-- $1 'public': a revision without a row in the change log. A cache that meets the gap starts anew.
UPDATE tenants SET revision = revision + 1 WHERE tenant = $1;

-- name: exists
SELECT true FROM tenants WHERE tenant = $1 AND is_being_deleted;

-- name: documents
-- $1 tenant, $2 limit
SELECT document_key, document_id, language, readers, chunks,
    coalesce((
        SELECT octet_length(text) FROM document_texts
        WHERE document_texts.document_key = documents.document_key
    ), 0) AS text_bytes,
    ARRAY(SELECT chunk_id FROM chunk_texts WHERE chunk_texts.document_key = documents.document_key)
        AS chunk_ids
FROM documents WHERE tenant = $1 ORDER BY document_id USING ~<~ LIMIT $2;

-- name: delete_documents
-- $1 tenant, $2 documents
DELETE FROM documents WHERE tenant = $1 AND document_id = ANY ($2::text[]);

-- name: delete_embeddings
-- $1 tenant, $2 limit; here and below
WITH deleted AS (
    DELETE FROM embeddings
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM embeddings WHERE tenant = $1 LIMIT $2)) RETURNING true
)
SELECT count(*) FROM deleted;

-- name: delete_words
WITH deleted AS (
    DELETE FROM vocabulary
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM vocabulary WHERE ARRAY[tenant] && ARRAY[$1::text] LIMIT $2
    ))
    RETURNING true
),
deleted_restricted AS (
    DELETE FROM restricted_words
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM restricted_words WHERE tenant = $1 LIMIT $2))
    RETURNING true
)
SELECT (SELECT count(*) FROM deleted) + (SELECT count(*) FROM deleted_restricted);

-- name: delete_event_versions
WITH deleted AS (
    DELETE FROM event_versions
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM event_versions WHERE tenant = $1 LIMIT $2)) RETURNING true
)
SELECT count(*) FROM deleted;

-- name: find_partition
-- $1 tenant: the one of its own. is_pending: whether an earlier attempt has begun to detach it; null if
-- it is detached.
SELECT
    chunk_partitions.partition_no,
    to_regclass('chunks_' || chunk_partitions.partition_no) IS NOT NULL AS is_there,
    (
        SELECT inhdetachpending FROM pg_inherits
        WHERE inhrelid = to_regclass('chunks_' || chunk_partitions.partition_no)
    ) AS is_pending
FROM chunk_partitions JOIN tenants USING (tenant) WHERE tenant = $1 AND is_being_deleted;

-- name: detach
-- The statement waits for running searches; no search waits for it.
ALTER TABLE chunks DETACH PARTITION chunks_{partition_no} CONCURRENTLY;

-- name: finish_detach
ALTER TABLE chunks DETACH PARTITION chunks_{partition_no} FINALIZE;

-- name: set_lock_timeout
-- DROP TABLE locks `documents` because of its foreign key, and others queue behind it: so it gives up
-- after a second.
SELECT set_config('lock_timeout', '1s', true);

-- name: drop_partition
DROP TABLE chunks_{partition_no};

-- name: keep_counters
-- $1 tenant: a later tenant of the same name begins beyond its counters.
UPDATE deleted_tenant_counters SET
    revision = greatest(
        deleted_tenant_counters.revision,
        tenants.revision + 1, tenants.access_revision + 1, tenants.audience_revision + 1
    ),
    vocabulary_size = greatest(
        deleted_tenant_counters.vocabulary_size, ((tenants.vocabulary_size >> 40) + 1) << 40
    )
FROM tenants WHERE tenant = $1;

-- name: delete_tenant
DELETE FROM tenants WHERE tenant = $1 AND is_being_deleted;
