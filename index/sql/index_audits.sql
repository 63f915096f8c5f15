-- When the index of each tenant is audited next, and the problems that the last audit left.

-- name: plan
-- $1 the next time, for each tenant without one.
INSERT INTO index_audits (tenant, next_run_at)
SELECT tenant, $1 FROM tenants
WHERE tenant <> 'public' AND NOT is_being_deleted
  AND NOT EXISTS (
      SELECT FROM index_audits
      WHERE index_audits.tenant = tenants.tenant AND next_run_at IS NOT NULL
  )
ON CONFLICT (tenant) DO UPDATE SET next_run_at = excluded.next_run_at;

-- name: due
-- A tenant whose audit is due; each is returned to one caller.
SELECT tenant FROM index_audits
WHERE next_run_at <= now() ORDER BY next_run_at LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: schedule
-- $1 tenant, $2 next run
UPDATE index_audits SET next_run_at = $2 WHERE tenant = $1;

-- name: record
-- $1 tenant, $2 problems by kind
INSERT INTO index_audits (tenant, last_run_at, problems)
SELECT tenant, now(), $2 FROM tenants WHERE tenant = $1
ON CONFLICT (tenant) DO UPDATE SET last_run_at = excluded.last_run_at, problems = excluded.problems;

-- name: last
-- $1 tenant
SELECT last_run_at, problems FROM index_audits WHERE tenant = $1 AND last_run_at IS NOT NULL;
