-- name: add
-- $1 tenant, $2 generation, then by band what is to be added: $3 band, $4 seen, $5 served,
-- $6 verified, $7 wrong; $8 how many verified ones halve. Bands in one order, so that two who add
-- at once wait for each other and don't lock each other out. A tenant that is gone gets nothing.
INSERT INTO semantic_buckets AS kept (tenant, generation, bucket, seen, served, verified, wrong)
SELECT tenants.tenant, $2, added.*
FROM tenants
CROSS JOIN unnest($3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS added (bucket, seen, served, verified, wrong)
WHERE tenants.tenant = $1
ORDER BY added.bucket
ON CONFLICT (tenant, generation, bucket) DO UPDATE SET
    seen = kept.seen + excluded.seen,
    served = kept.served + excluded.served,
    verified = CASE
        WHEN kept.verified + excluded.verified < $8::bigint THEN kept.verified + excluded.verified
        ELSE (kept.verified + excluded.verified) / 2
    END,
    wrong = CASE
        WHEN kept.verified + excluded.verified < $8::bigint THEN kept.wrong + excluded.wrong
        ELSE (kept.wrong + excluded.wrong + 1) / 2
    END;

-- name: read
-- $1 tenant, $2 generation: the tenant's limit, and each band that anything is known of.
SELECT semantic_error_max, bucket, seen, served, verified, wrong
FROM tenants
LEFT JOIN semantic_buckets AS kept ON kept.tenant = tenants.tenant AND kept.generation = $2
WHERE tenants.tenant = $1
ORDER BY bucket;

-- name: set_error_max
UPDATE tenants SET semantic_error_max = $2 WHERE tenant = $1 RETURNING tenant;
