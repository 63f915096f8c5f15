-- Gateways and workers of this deployment.

-- name: announce
-- $1 process, $2 kind, $3 version, $4 whether it is warm or null, $5 when it started, $6 seconds after which
-- those that have been silent are forgotten
WITH forgotten AS (
    DELETE FROM processes WHERE process <> $1 AND seen_at < now() - make_interval(secs => $6)
)
INSERT INTO processes (process, kind, version, is_warm, started_at, seen_at)
VALUES ($1, $2, $3, $4, $5, now())
ON CONFLICT (process) DO UPDATE SET
    kind = excluded.kind, version = excluded.version, is_warm = excluded.is_warm,
    started_at = excluded.started_at, seen_at = excluded.seen_at;

-- name: forget
-- $1 process
DELETE FROM processes WHERE process = $1;

-- name: known
-- $1 most rows
SELECT
    process, kind, version, is_warm, started_at,
    greatest(0, extract(epoch FROM now() - seen_at))::double precision AS seen_s_ago
FROM processes ORDER BY kind, process LIMIT $1;
