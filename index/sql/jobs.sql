-- The queue. Whoever changes it tells the channel nearhit_jobs, which workers listen to.
-- A run is named by place, lease and attempts: who has lost it changes nothing any more.

-- name: crowd
-- $1 tenant, $2 most: whether as many jobs of the tenant wait. No row without a tenant, or if it is
-- being deleted.
SELECT (SELECT count(*) FROM (SELECT FROM jobs WHERE tenant = $1 AND state = 'waiting' LIMIT $2) AS waiting) >= $2
FROM tenants WHERE tenant = $1 AND NOT is_being_deleted;

-- name: enqueue
-- $1 job, $2 tenant, $3 kind, $4 target, $5 source, $6 key, $7 subject, $8 payload, $9 most attempts,
-- $10 in how many seconds it is due, $11 parts of a document that it sets
WITH added AS (
    INSERT INTO jobs
        (job_id, tenant, kind, target, source, key_id, subject, payload, attempts_max, due_at, parts)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10 * interval '1 second', $11)
    RETURNING job_id
)
SELECT job_id, pg_notify('nearhit_jobs', '') FROM added;

-- name: waiting_for
-- $1 tenant, $2 target, $3 kind: the job that will do it already, if there is one.
SELECT job_id FROM jobs
WHERE tenant = $1 AND target = $2 AND kind = $3 AND state = 'waiting'
ORDER BY tenant, target LIMIT 1;

-- name: ask_again
-- $1 tenant, $2 target, $3 kind: the job that waits already is asked for anew, so it comes after all
-- that was acknowledged before. No row if none waits.
UPDATE jobs SET sequence = nextval('document_versions')
WHERE job_no = (
    SELECT job_no FROM jobs
    WHERE tenant = $1 AND target = $2 AND kind = $3 AND state = 'waiting'
    ORDER BY tenant, target LIMIT 1 FOR UPDATE
)
RETURNING job_id;

-- name: supersede
-- $1 tenant, $2 targets, $3 parts that a write sets, $4 its sequence number or null for now: earlier
-- jobs that set no other part are done with.
UPDATE jobs SET
    state = 'done', result = '{"superseded": true}', payload = NULL, error = NULL,
    lease = NULL, leased_until = NULL, ended_at = now()
WHERE tenant = $1 AND target = ANY ($2::text[]) AND state IN ('waiting', 'running')
  AND parts <@ $3::text[] AND ($4::bigint IS NULL OR sequence < $4);

-- name: alone
-- Workers claim one after the other, so that a tenant's limit is one.
SELECT pg_advisory_xact_lock(hashtextextended(chr(31) || 'jobs', 0));

-- name: lapse
-- Jobs whose worker was lost wait again, or have failed if that was their last attempt.
UPDATE jobs SET
    state = CASE WHEN attempts < attempts_max THEN 'waiting' ELSE 'failed' END,
    ended_at = CASE WHEN attempts < attempts_max THEN NULL ELSE now() END,
    error = 'the worker was lost', due_at = now(), lease = NULL, leased_until = NULL
WHERE state = 'running' AND leased_until < now()
RETURNING job_id;

-- name: claim
-- $1 lease, $2 its seconds, $3 most jobs of one tenant at once, $4 places that are still at work here,
-- $5 kinds.
-- The oldest of the tenant that has fewest at work; tenants are leapt through, not counted.
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
        SELECT count(*) AS running FROM jobs WHERE jobs.tenant = waiting.tenant AND state = 'running'
    ) AS busy
    CROSS JOIN LATERAL (
        SELECT job_no, due_at FROM jobs
        WHERE jobs.tenant = waiting.tenant AND state = 'waiting' AND due_at <= now()
          AND busy.running < $3 AND job_no <> ALL ($4::bigint[]) AND kind = ANY ($5::text[])
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
    sequence;

-- name: renew
-- $1 lease, $2 its seconds, $3 places
UPDATE jobs SET leased_until = now() + $2 * interval '1 second'
WHERE lease = $1 AND state = 'running' AND job_no = ANY ($3::bigint[]);

-- name: hold
-- $1 place, $2 lease, $3 attempts: whether this run still has its job; nobody takes it before the
-- transaction ends.
SELECT true FROM jobs
WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running' FOR UPDATE;

-- name: progress
-- $1 place, $2 lease, $3 attempts, $4 how far it is
UPDATE jobs SET progress = $4
WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
RETURNING true;

-- name: finish
-- $1 place, $2 lease, $3 attempts, $4 result
WITH finished AS (
    UPDATE jobs SET
        state = 'done', result = $4, payload = NULL, error = NULL, lease = NULL, leased_until = NULL,
        ended_at = now()
    WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
    RETURNING true AS was_ours
)
SELECT was_ours, pg_notify('nearhit_jobs', '') FROM finished;

-- name: put_off
-- $1 place, $2 lease, $3 attempts, $4 in how many seconds it is due again, $5 error, $6 whether the
-- attempt counts
WITH put_off AS (
    UPDATE jobs SET
        state = 'waiting', attempts = attempts - CASE WHEN $6 THEN 0 ELSE 1 END,
        due_at = now() + $4 * interval '1 second', error = $5, lease = NULL, leased_until = NULL
    WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
    RETURNING true AS was_ours
)
SELECT was_ours, pg_notify('nearhit_jobs', '') FROM put_off;

-- name: fail
-- $1 place, $2 lease, $3 attempts, $4 error
WITH failed AS (
    UPDATE jobs SET
        state = 'failed', error = $4, lease = NULL, leased_until = NULL, ended_at = now()
    WHERE job_no = $1 AND lease = $2 AND attempts = $3 AND state = 'running'
    RETURNING true AS was_ours
)
SELECT was_ours, pg_notify('nearhit_jobs', '') FROM failed;

-- name: hurry
-- $1 tenant
WITH hurried AS (
    UPDATE jobs SET due_at = now() WHERE tenant = $1 AND state = 'waiting' AND due_at > now()
    RETURNING true
)
SELECT pg_notify('nearhit_jobs', '') FROM (SELECT FROM hurried LIMIT 1) AS some_hurried;

-- name: next_s
-- In how many seconds a job is due or a lease ends, null if there is none of either. What was due
-- within the last second may have become so after somebody looked, so it counts.
SELECT extract(epoch FROM least(
    (SELECT min(due_at) FROM jobs WHERE state = 'waiting' AND due_at > now() - interval '1 second'),
    (SELECT min(leased_until) FROM jobs WHERE state = 'running')
) - now())::double precision;

-- name: are_left
SELECT EXISTS (SELECT FROM jobs WHERE state = 'waiting');

-- name: tell
-- $1 something to all who listen
SELECT pg_notify('nearhit_jobs', $1);

-- fragment: shown
job_no, job_id, tenant, kind, target, source, subject, state, attempts, attempts_max, progress, result,
error, due_at, created_at, started_at, ended_at

-- name: page
-- $1 tenant or null for all, $2 subject or null for all, $3 state or null for all, $4 kind or null for
-- all, $5 the last place of the page before, $6 limit: the newest first
SELECT :shown FROM jobs
WHERE ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR subject = $2)
  AND ($3::text IS NULL OR state = $3) AND ($4::text IS NULL OR kind = $4) AND job_no < $5
ORDER BY job_no DESC LIMIT $6;

-- name: show
-- $1 tenant or null for all, $2 job
SELECT :shown, payload FROM jobs WHERE ($1::text IS NULL OR tenant = $1) AND job_id = $2;

-- name: replay
-- $1 tenant or null for all, $2 job
WITH replayed AS (
    UPDATE jobs SET state = 'waiting', attempts = 0, due_at = now(), ended_at = NULL
    WHERE ($1::text IS NULL OR tenant = $1) AND job_id = $2 AND state = 'failed'
    RETURNING true AS is_waiting
)
SELECT is_waiting, pg_notify('nearhit_jobs', '') FROM replayed;

-- name: drop
-- $1 tenant or null for all, $2 job
DELETE FROM jobs
WHERE ($1::text IS NULL OR tenant = $1) AND job_id = $2 AND state <> 'running'
RETURNING true;

-- name: forget
-- $1 how many seconds a job that is done is kept
DELETE FROM jobs WHERE state = 'done' AND ended_at < now() - $1 * interval '1 second';
