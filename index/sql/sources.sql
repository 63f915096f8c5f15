-- Where documents come from. The jobs of a source have the target `source:ID`.

-- name: put
-- $1 tenant, $2 source, $3 kind, $4 settings, $5 schedule, $6 paused, $7 next run, $8 whether its documents
-- may be public. is_read_anew: whether other documents, or others' readers, come of a reading now.
WITH before AS (
    SELECT kind, settings, may_publish FROM sources WHERE tenant = $1 AND source = $2
)
INSERT INTO sources (tenant, source, kind, settings, schedule, paused, next_run_at, may_publish)
SELECT tenant, $2, $3, $4, $5, $6, $7, $8 FROM tenants WHERE tenant = $1 AND NOT is_being_deleted
ON CONFLICT (tenant, source) DO UPDATE SET
    kind = excluded.kind, settings = excluded.settings, schedule = excluded.schedule,
    paused = excluded.paused, next_run_at = excluded.next_run_at,
    may_publish = excluded.may_publish, by_callers = false
RETURNING
    xmax = 0 AS is_new,  -- an updated row has a transaction there
    EXISTS (
        SELECT FROM before
        WHERE (kind, settings, before.may_publish) IS DISTINCT FROM ($3, $4::jsonb, $8::boolean)
    ) AS is_read_anew;

-- name: users
-- $1 tenant, $2 source: who writes documents to it. Documents of callers may still be queued.
SELECT
    EXISTS (SELECT FROM sources WHERE tenant = $1 AND source = $2 AND kind IS NOT NULL) AS is_read,
    EXISTS (SELECT FROM vector_stores WHERE tenant = $1 AND source = $2) AS is_vector_store,
    EXISTS (
        SELECT FROM documents JOIN sources USING (tenant, source)
        WHERE tenant = $1 AND source = $2 AND by_callers
    )
    OR EXISTS (
        SELECT FROM jobs
        WHERE tenant = $1 AND source = $2 AND kind = 'document.write' AND state IN ('waiting', 'running')
    )
    OR EXISTS (SELECT FROM vector_store_files WHERE tenant = $1 AND source = $2) AS has_documents;

-- fragment: columns
tenant, source, kind, settings, schedule, paused, next_run_at, last_run_at, last_error, counts,
pending_removals, confirmed_removals,
may_publish,
CASE
    WHEN EXISTS (
        SELECT FROM jobs
        WHERE jobs.tenant = sources.tenant AND target = 'source:' || sources.source AND state = 'running'
    ) THEN 'running'
    WHEN paused THEN 'paused'
    WHEN last_error IS NOT NULL THEN 'failed'
    WHEN pending_removals IS NOT NULL THEN 'needs_attention'
    ELSE 'idle'
END AS state

-- name: all
-- $1 tenant
SELECT :columns FROM sources WHERE tenant = $1 ORDER BY source;

-- name: page
-- $1 tenant, $2 the last source of the previous page, $3 limit
SELECT :columns FROM sources WHERE tenant = $1 AND source > $2 ORDER BY source LIMIT $3;

-- name: get
-- $1 tenant, $2 source
SELECT :columns FROM sources WHERE tenant = $1 AND source = $2;

-- name: lock
-- $1 tenant, $2 source: no other transaction registers documents with it until this one ends.
SELECT kind FROM sources WHERE tenant = $1 AND source = $2 FOR UPDATE;

-- name: due
-- A source that is due; each is returned to one caller.
SELECT tenant, source, schedule FROM sources
WHERE next_run_at <= now() AND NOT paused
ORDER BY next_run_at LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: schedule
-- $1 tenant, $2 source, $3 next run
UPDATE sources SET next_run_at = $3 WHERE tenant = $1 AND source = $2;

-- name: pause
UPDATE sources SET paused = true, next_run_at = NULL WHERE tenant = $1 AND source = $2;

-- name: delete_failed_reads
-- $1 tenant, $2 target
DELETE FROM jobs WHERE tenant = $1 AND target = $2 AND kind = 'source.sync' AND state = 'failed';

-- name: end_reads
-- $1 tenant, $2 target, $3 error: one that is running has lost its job. One that is being claimed is waited for.
UPDATE jobs SET state = 'failed', error = $3, ended_at = now(), lease = NULL, leased_until = NULL
WHERE tenant = $1 AND target = $2 AND kind = 'source.sync' AND state IN ('waiting', 'running');

-- name: record_read
-- $1 tenant, $2 source, $3 error or null, $4 counts: the result of a reading, null for a failed one;
-- $5 the removals that wait for a confirmation, or null; $6 the confirmation that the reading knew: a
-- later one stays.
UPDATE sources SET
    last_run_at = now(), last_error = $3, counts = coalesce($4, counts),
    pending_removals = CASE WHEN $4 IS NULL THEN pending_removals ELSE $5 END,
    confirmed_removals = CASE
        WHEN $4 IS NOT NULL AND confirmed_removals IS NOT DISTINCT FROM $6 THEN NULL
        ELSE confirmed_removals
    END
WHERE tenant = $1 AND source = $2;

-- name: attention
-- How many sources of all tenants wait for a confirmation.
SELECT count(*) AS number FROM sources WHERE pending_removals IS NOT NULL AND kind IS NOT NULL;

-- name: confirm_removals
-- $1 tenant, $2 source: no row if no removal waits for a confirmation.
UPDATE sources SET confirmed_removals = pending_removals
WHERE tenant = $1 AND source = $2 AND kind IS NOT NULL AND pending_removals IS NOT NULL
RETURNING confirmed_removals;

-- name: remove
-- $1 tenant, $2 source: no row if documents of it are left, which the foreign key would delete. Its
-- origins are forgotten with it.
WITH removed AS (
    DELETE FROM sources
    WHERE tenant = $1 AND source = $2
      AND NOT EXISTS (SELECT FROM documents WHERE documents.tenant = $1 AND documents.source = $2)
    RETURNING true
),
forgotten AS (
    DELETE FROM source_origins WHERE tenant = $1 AND source = $2 AND EXISTS (SELECT FROM removed)
)
SELECT true FROM removed;
