-- Strategies of tenants: stored search plans.

-- name: read
-- $1 tenant, $2 name
SELECT name, strategy, updated_at FROM strategies WHERE tenant = $1 AND name = $2;

-- name: all
-- $1 tenant. Without the plans.
SELECT name, strategy - 'plan' AS strategy, updated_at FROM strategies WHERE tenant = $1 ORDER BY name;

-- name: count
-- $1 tenant, $2 name: the number of other strategies. The lock keeps concurrent calls within the limit.
SELECT (SELECT count(*) FROM strategies WHERE strategies.tenant = tenants.tenant AND name <> $2) AS others
FROM tenants WHERE tenant = $1 AND NOT is_being_deleted FOR UPDATE;

-- name: put
-- $1 tenant, $2 name, $3 strategy
INSERT INTO strategies (tenant, name, strategy) VALUES ($1, $2, $3)
ON CONFLICT (tenant, name) DO UPDATE SET strategy = excluded.strategy, updated_at = now()
RETURNING name, strategy, updated_at;

-- name: remove
-- $1 tenant, $2 name
DELETE FROM strategies WHERE tenant = $1 AND name = $2 RETURNING true;
