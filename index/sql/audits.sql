-- Audits of the index: when each tenant's is due, and what the last one has left.

-- name: plan
-- $1 the next date, for each tenant that has none yet.
INSERT INTO index_audits (tenant, next_run_at)
SELECT tenant, $1 FROM tenants
WHERE tenant <> 'public' AND NOT is_being_deleted
  AND NOT EXISTS (SELECT FROM index_audits WHERE index_audits.tenant = tenants.tenant AND next_run_at IS NOT NULL)
ON CONFLICT (tenant) DO UPDATE SET next_run_at = excluded.next_run_at;

-- name: due
-- One whose time has come, for whoever asks first.
SELECT tenant FROM index_audits
WHERE next_run_at <= now() ORDER BY next_run_at LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: schedule
-- $1 tenant, $2 next run
UPDATE index_audits SET next_run_at = $2 WHERE tenant = $1;

-- name: ended
-- $1 tenant, $2 flaws
INSERT INTO index_audits (tenant, last_run_at, problems)
SELECT tenant, now(), $2 FROM tenants WHERE tenant = $1
ON CONFLICT (tenant) DO UPDATE SET last_run_at = excluded.last_run_at, problems = excluded.problems;

-- name: last
-- $1 tenant
SELECT last_run_at, problems FROM index_audits WHERE tenant = $1 AND last_run_at IS NOT NULL;
