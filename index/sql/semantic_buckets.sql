-- name: add
-- $1 tenant, $2 generation, then the increments by bucket: $3 bucket, $4 seen, $5 served, $6 verified,
-- $7 wrong; at $8 verified answers the counts are halved. Rows are locked in the order of the buckets, so
-- that concurrent calls can't deadlock. A deleted tenant gets no rows.
INSERT INTO semantic_buckets AS stored (tenant, generation, bucket, seen, served, verified, wrong)
SELECT tenants.tenant, $2, added.*
FROM tenants
CROSS JOIN unnest($3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS added (bucket, seen, served, verified, wrong)
WHERE tenants.tenant = $1
ORDER BY added.bucket
ON CONFLICT (tenant, generation, bucket) DO UPDATE SET
    seen = stored.seen + excluded.seen,
    served = stored.served + excluded.served,
    verified = CASE
        WHEN stored.verified + excluded.verified < $8::bigint THEN stored.verified + excluded.verified
        ELSE (stored.verified + excluded.verified) / 2
    END,
    wrong = CASE
        WHEN stored.verified + excluded.verified < $8::bigint THEN stored.wrong + excluded.wrong
        ELSE (stored.wrong + excluded.wrong + 1) / 2
    END;

-- name: read
-- $1 tenant, $2 generation: the tenant's limit, and the counts of each bucket that has any.
SELECT semantic_error_max, bucket, seen, served, verified, wrong
FROM tenants
LEFT JOIN semantic_buckets AS stored ON stored.tenant = tenants.tenant AND stored.generation = $2
WHERE tenants.tenant = $1
ORDER BY bucket;

-- name: set_error_max
UPDATE tenants SET semantic_error_max = $2 WHERE tenant = $1 RETURNING tenant;
