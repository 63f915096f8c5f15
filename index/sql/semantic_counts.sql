-- name: add
-- $1 tenant, $2 generation, then increments: $3 seen, $4 served, $5 verified, $6 wrong; $7 the limit of
-- tenants without their own. Verified and wrong are halved when verified times the limit reaches $8.
-- A deleted tenant gets no row.
WITH own AS (
    SELECT tenant, coalesce(semantic_error_max, $7::float8) AS error_max FROM tenants WHERE tenant = $1
)
INSERT INTO semantic_counts AS stored (tenant, generation, seen, served, verified, wrong)
SELECT tenant, $2, $3::bigint, $4::bigint, $5::bigint, $6::bigint FROM own
ON CONFLICT (tenant, generation) DO UPDATE SET
    (seen, served, verified, wrong) = (
        SELECT
            stored.seen + excluded.seen,
            stored.served + excluded.served,
            (stored.verified + excluded.verified) / divisor,
            (stored.wrong + excluded.wrong + divisor - 1) / divisor
        FROM own
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN (stored.verified + excluded.verified) * own.error_max < $8::float8 THEN 1 ELSE 2
            END AS divisor
        ) AS halving
    );

-- name: read
-- $1 tenant, $2 generation: the tenant's limit, and its counts.
SELECT
    semantic_error_max AS error_max,
    coalesce(seen, 0) AS seen,
    coalesce(served, 0) AS served,
    coalesce(verified, 0) AS verified,
    coalesce(wrong, 0) AS wrong
FROM tenants
LEFT JOIN semantic_counts AS stored ON stored.tenant = tenants.tenant AND stored.generation = $2
WHERE tenants.tenant = $1;

-- name: set_error_max
UPDATE tenants SET semantic_error_max = $2 WHERE tenant = $1 RETURNING tenant;
