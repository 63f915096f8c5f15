-- name: read
-- $1 tenant, $2 gate
SELECT words FROM query_gates WHERE tenant = $1 AND name = $2;

-- name: count
-- $1 tenant, $2 gate: the number of other gates. The lock keeps concurrent calls within the limit.
SELECT (SELECT count(*) FROM query_gates WHERE query_gates.tenant = tenants.tenant AND name <> $2) AS others
FROM tenants WHERE tenant = $1 AND NOT is_being_deleted FOR UPDATE;

-- name: put
-- $1 tenant, $2 gate, $3 words
INSERT INTO query_gates (tenant, name, words) VALUES ($1, $2, $3)
ON CONFLICT (tenant, name) DO UPDATE SET words = excluded.words;

-- name: remove
-- $1 tenant, $2 gate
DELETE FROM query_gates WHERE tenant = $1 AND name = $2 RETURNING true;
