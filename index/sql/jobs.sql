-- The job queue. Statements that make a job due notify the channel nearhit_jobs, to which workers listen.
-- job_no, lease and attempts identify a run: a worker that has lost its lease changes nothing.

-- uses: principals

-- name: enqueue
-- $1 job, $2 tenant, $3 kind, $4 target, $5 source, $6 key, $7 subject, $8 payload, $9 maximum of
-- attempts, $10 seconds until it is due, $11 parts of a document that it sets, $12 and $13 trace context,
-- $14 most jobs of the tenant, $15 most bytes of their payloads beside a write. No row if the tenant does not
-- exist or is being deleted; a row of null if there is no room. What fails stays, with its text, so it counts
-- for a write; removals and readings are not held up by it. The length of a payload is known without reading it.
WITH queued AS MATERIALIZED (
    SELECT
        count(*) FILTER (WHERE state = 'waiting' OR cardinality($11::text[]) > 0) AS jobs,
        coalesce(sum(octet_length(payload)) FILTER (WHERE cardinality($11) > 0), 0) AS bytes
    FROM jobs WHERE tenant = $2 AND state <> 'done'
),
added AS (
    INSERT INTO jobs
        (
            job_id, tenant, kind, target, source, key_id, subject, payload, attempts_max, due_at, parts,
            traceparent, tracestate
        )
    SELECT $1, tenant, $3, $4, $5, $6, $7, $8::bytea, $9, now() + $10 * interval '1 second', $11, $12, $13
    FROM tenants CROSS JOIN queued
    WHERE tenant = $2 AND NOT is_being_deleted AND jobs < $14::bigint
      AND (cardinality($11) = 0 OR bytes + octet_length($8::bytea) <= $15::bigint)
    RETURNING job_id
)
SELECT added.job_id, CASE WHEN added.job_id IS NOT NULL THEN pg_notify('nearhit_jobs', '') END
FROM tenants LEFT JOIN added ON true
WHERE tenant = $2 AND NOT is_being_deleted;

-- name: document_state
-- $1 tenant, $2 document, $3 target of its jobs: the stored version, 0 if there is none, and whether a write
-- of it is queued.
SELECT
    coalesce((SELECT version FROM documents WHERE tenant = $1 AND document_id = $2), 0) AS version,
    EXISTS (
        SELECT FROM jobs
        WHERE tenant = $1 AND target = $3 AND state IN ('waiting', 'running')
    ) AS is_awaited;

-- name: request_again
-- $1 tenant, $2 target, $3 kind: give the waiting job a new sequence number, so that it is newer than all
-- acknowledged writes. No row if none waits.
UPDATE jobs SET sequence = nextval('document_versions')
WHERE job_no = (
    SELECT job_no FROM jobs
    WHERE tenant = $1 AND target = $2 AND kind = $3 AND state = 'waiting'
    ORDER BY tenant, target LIMIT 1 FOR UPDATE
)
RETURNING job_id;

-- name: supersede
-- $1 tenant, $2 targets, $3 parts that a write sets, $4 its sequence number or null for the
-- next one: end earlier jobs that set no other part.
UPDATE jobs SET
    state = 'done', result = '{"superseded": true}', payload = NULL, error = NULL,
    lease = NULL, leased_until = NULL, ended_at = now()
WHERE tenant = $1 AND target = ANY ($2::text[]) AND state IN ('waiting', 'running')
  AND parts <@ $3::text[] AND ($4::bigint IS NULL OR sequence < $4);

-- name: begin_again
-- $1 tenant, $2 target, $3 kind: one that is running, or is being claimed meanwhile, has lost its job, and begins
-- again as if it had been requested now.
WITH begun AS (
    UPDATE jobs SET
        state = 'waiting', attempts = 0, due_at = now(), sequence = nextval('document_versions'),
        lease = NULL, leased_until = NULL
    WHERE tenant = $1 AND target = $2 AND kind = $3 AND state IN ('waiting', 'running')
    RETURNING true
)
SELECT pg_notify('nearhit_jobs', '') FROM (SELECT FROM begun LIMIT 1) AS some_begun;

-- name: lock_claims
-- Workers claim one after the other, so that the limit of a tenant holds across workers.
SELECT pg_advisory_xact_lock(hashtextextended(chr(31) || 'jobs', 0));

-- name: expire_leases
-- Jobs whose lease has expired wait again, or fail after their last attempt.
UPDATE jobs SET
    state = CASE WHEN attempts < attempts_max THEN 'waiting' ELSE 'failed' END,
    ended_at = CASE WHEN attempts < attempts_max THEN NULL ELSE now() END,
    error = 'the worker was lost', due_at = now(), lease = NULL, leased_until = NULL
WHERE state = 'running' AND leased_until < now()
RETURNING job_id;

-- name: claim
-- $1 lease, $2 its seconds, $3 limit of running jobs of a tenant, $4 job_no of jobs that still run in this
-- worker, $5 kinds, $6 those of them whose jobs may run for hours, $7 limit of running jobs of such a kind
-- of a tenant, $8 seconds for which the job has been due. Claims the oldest job of the tenant with the fewest
-- running jobs. The recursion jumps from tenant to tenant, so its time does not grow with the queue.
WITH RECURSIVE waiting AS (
    (SELECT tenant FROM jobs WHERE state = 'waiting' ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (
        SELECT jobs.tenant FROM jobs
        WHERE state = 'waiting' AND jobs.tenant > waiting.tenant ORDER BY jobs.tenant LIMIT 1
    )
    FROM waiting WHERE waiting.tenant IS NOT NULL
),
candidates AS (
    SELECT first.job_no, first.due_at, busy.running
    FROM waiting
    CROSS JOIN LATERAL (
        SELECT count(*) AS running, count(*) FILTER (WHERE kind = ANY ($6::text[])) AS long_running
        FROM jobs WHERE jobs.tenant = waiting.tenant AND state = 'running'
    ) AS busy
    CROSS JOIN LATERAL (
        SELECT job_no, due_at FROM jobs
        WHERE jobs.tenant = waiting.tenant AND state = 'waiting'
          AND due_at <= now() - $8 * interval '1 second' AND busy.running < $3 AND job_no <> ALL ($4::bigint[]) AND kind = ANY ($5::text[])
          AND (busy.long_running < $7 OR kind <> ALL ($6::text[]))
          AND NOT EXISTS (
              SELECT FROM jobs AS other
              WHERE other.tenant = jobs.tenant AND other.target = jobs.target
                AND other.state = 'running'
          )
        ORDER BY due_at, job_no LIMIT 1
        FOR UPDATE OF jobs SKIP LOCKED
    ) AS first
)
UPDATE jobs SET
    state = 'running', attempts = attempts + 1, lease = $1,
    leased_until = now() + $2 * interval '1 second', started_at = now()
WHERE job_no = (SELECT job_no FROM candidates ORDER BY running, due_at, job_no LIMIT 1)
RETURNING
    job_no, job_id, tenant, kind, target, source, key_id, subject, payload, attempts, attempts_max, due_at,
    sequence, progress, traceparent, tracestate;

-- name: renew
-- $1 lease, $2 its seconds, $3 job_no of the jobs
UPDATE jobs SET leased_until = now() + $2 * interval '1 second'
WHERE lease = $1 AND state = 'running' AND job_no = ANY ($3::bigint[]);

-- name: check_lease
-- $1 job_no, $2 lease, $3 attempts: a row if the run still has its job, which no other worker can take
-- before the transaction ends.
SELECT true FROM jobs
WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running' FOR UPDATE;

-- name: has_rights
-- $1 job_no: whether the credential with whose rights the job runs still works, or it needs none.
SELECT :still_works FROM jobs AS acting WHERE job_no = $1;

-- name: progress
-- $1 job_no, $2 lease, $3 attempts, $4 progress
UPDATE jobs SET progress = $4
WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
RETURNING true;

-- name: finish
-- $1 job_no, $2 lease, $3 attempts, $4 result
WITH finished AS (
    UPDATE jobs SET
        state = 'done', result = $4, payload = NULL, error = NULL, lease = NULL, leased_until = NULL,
        ended_at = now()
    WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
    RETURNING true AS was_ours
)
SELECT was_ours, pg_notify('nearhit_jobs', '') FROM finished;

-- name: reschedule
-- $1 job_no, $2 lease, $3 attempts, $4 seconds until it is due again, $5 error, $6 the attempt counts
WITH put_off AS (
    UPDATE jobs SET
        state = 'waiting', attempts = attempts - CASE WHEN $6 THEN 0 ELSE 1 END,
        due_at = now() + $4 * interval '1 second', error = $5, lease = NULL, leased_until = NULL
    WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
    RETURNING true AS was_ours
)
SELECT was_ours, pg_notify('nearhit_jobs', '') FROM put_off;

-- name: fail
-- $1 job_no, $2 lease, $3 attempts, $4 error
WITH failed AS (
    UPDATE jobs SET
        state = 'failed', error = $4, lease = NULL, leased_until = NULL, ended_at = now()
    WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
    RETURNING true AS was_ours
)
SELECT was_ours, pg_notify('nearhit_jobs', '') FROM failed;

-- name: run_now
-- $1 tenant: its waiting jobs are due now.
WITH hurried AS (
    UPDATE jobs SET due_at = now() WHERE tenant = $1 AND state = 'waiting' AND due_at > now()
    RETURNING true
)
SELECT pg_notify('nearhit_jobs', '') FROM (SELECT FROM hurried LIMIT 1) AS some_hurried;

-- name: next_s
-- Seconds until a job is due or a lease ends; null without either. A job that became due within the last
-- second counts, because the last claim may have been before that.
SELECT extract(epoch FROM least(
    (SELECT min(due_at) FROM jobs WHERE state = 'waiting' AND due_at > now() - interval '1 second'),
    (SELECT min(leased_until) FROM jobs WHERE state = 'running')
) - now())::double precision;

-- name: is_any_waiting
SELECT EXISTS (SELECT FROM jobs WHERE state = 'waiting');

-- name: counts
-- The jobs of all tenants that are not done, by state, and for how many seconds the oldest waiting one has
-- been due; 0 if none is.
SELECT
    count(*) FILTER (WHERE state = 'waiting') AS waiting,
    count(*) FILTER (WHERE state = 'running') AS running,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    coalesce(
        extract(epoch FROM now() - min(due_at) FILTER (WHERE state = 'waiting' AND due_at <= now())), 0
    )::double precision AS oldest_due_s
FROM jobs WHERE state <> 'done';

-- name: notify
-- $1 payload
SELECT pg_notify('nearhit_jobs', $1);

-- fragment: columns
job_no, job_id, tenant, kind, target, source, subject, state, attempts, attempts_max, progress, result,
error, due_at, created_at, started_at, ended_at

-- fragment: is_listed
-- $1 tenant, $2 subject or null for all, $3 state or null for all, $4 kind or null for all, $5 the job_no of
-- the last job of the previous page, $6 limit, $7 null or a token as in `is_made_with`: the newest first.
($2::text IS NULL OR subject = $2) AND is_made_with(tenant, key_id, $7) AND ($3::text IS NULL OR state = $3) AND ($4::text IS NULL OR kind = $4)

-- name: page
-- Of a tenant, in a form that only the index `jobs_listed` has: by the key, which is in the order of
-- job_no too, the planner may read through the jobs of all tenants.
SELECT :columns FROM jobs
WHERE (tenant, job_no) > ($1, 0) AND (tenant, job_no) < ($1, $5) AND :is_listed
ORDER BY tenant DESC, job_no DESC LIMIT $6;

-- name: page_of_all
-- Of all tenants; $1 is null.
SELECT :columns FROM jobs WHERE $1::text IS NULL AND job_no < $5 AND :is_listed
ORDER BY job_no DESC LIMIT $6;

-- name: get
-- $1 tenant or null for all, $2 job, $3 subject or null for all, $4 null or a token as in `is_made_with`,
-- $5 kinds whose jobs are anybody's.
SELECT :columns, payload FROM jobs
WHERE ($1::text IS NULL OR tenant = $1) AND job_id = $2
  AND (($3::text IS NULL OR subject = $3) AND is_made_with(tenant, key_id, $4) OR kind = ANY ($5::text[]));

-- name: lock_tenant
-- $1 tenant or null for all, $2 job: the tenant of the job. A forgotten document locks its tenant before its jobs.
SELECT tenant FROM tenants
WHERE tenant = (SELECT tenant FROM jobs WHERE ($1::text IS NULL OR tenant = $1) AND job_id = $2)
FOR NO KEY UPDATE;

-- name: replay
-- $1 tenant, which is locked, $2 job
WITH replayed AS (
    UPDATE jobs SET state = 'waiting', attempts = 0, due_at = now(), ended_at = NULL
    WHERE tenant = $1 AND job_id = $2 AND state = 'failed'
    RETURNING kind, source, target
)
SELECT kind, source, target, pg_notify('nearhit_jobs', '') FROM replayed;

-- name: delete
-- $1 tenant, which is locked, $2 job
DELETE FROM jobs WHERE tenant = $1 AND job_id = $2 AND state <> 'running'
RETURNING kind, source, target;

-- name: delete_done
-- $1 seconds that a finished job is kept
DELETE FROM jobs WHERE state = 'done' AND ended_at < now() - $1 * interval '1 second';
