-- The audit log; see migrations/0013_audit_log.sql.

-- name: append
SELECT audit_append($1, $2, $3, $4, $5, $6);

-- name: heads
-- $1 tenant, or null for each that has a log or what is left of one, which is found by going from one
-- tenant's rows to the next one's. All as of one instant: the last row by the head and by the rows, and
-- the first one.
WITH RECURSIVE written AS (
    (SELECT tenant FROM audit_log ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM audit_log WHERE audit_log.tenant > written.tenant ORDER BY tenant LIMIT 1)
    FROM written WHERE written.tenant IS NOT NULL
)
SELECT
    tenant, number, hash, pruned_number, pruned_hash,
    (SELECT min(audit_log.number) FROM audit_log WHERE audit_log.tenant = known.tenant) AS first,
    (SELECT max(audit_log.number) FROM audit_log WHERE audit_log.tenant = known.tenant) AS last
FROM (
    SELECT tenant FROM audit_log_heads
    UNION SELECT tenant FROM written WHERE tenant IS NOT NULL
) AS known
LEFT JOIN audit_log_heads USING (tenant)
WHERE $1::text IS NULL OR tenant = $1
ORDER BY tenant;

-- name: head
SELECT number, pruned_number FROM audit_log_heads WHERE tenant = $1;

-- name: page
-- $1 tenant, $2 the first and $3 the last number to look at, $4 subject, or `operator` or `system`, $5
-- document, $6 instant, or null for any; $7 how many.
SELECT tenant, number, at, subject, key_id, action, target, details, hash
FROM audit_log
WHERE tenant = $1 AND number BETWEEN $2 AND $3
  AND ($4::text IS NULL OR coalesce(subject, key_id) = $4)
  AND ($5::text IS NULL OR details -> 'documents' ? $5)
  AND ($6::timestamptz IS NULL OR at >= $6)
ORDER BY number DESC LIMIT $7;

-- name: begun
SELECT created_at FROM tenants WHERE tenant = $1;

-- name: at
SELECT at FROM audit_log WHERE tenant = $1 AND number = $2;

-- name: links
-- $1 tenant, $2 number and $3 hash of the row before, $4 how many rows: the last of these, the first
-- one before which one is missing, and the first whose hash is not its own.
WITH links AS MATERIALIZED (
    SELECT
        number, hash,
        lag(number, 1, $2::bigint) OVER (ORDER BY number) + 1 AS wanted,
        audit_hash(
            lag(hash, 1, $3::bytea) OVER (ORDER BY number),
            tenant, number, at, subject, key_id, action, target, details
        ) AS fitting
    FROM (
        SELECT * FROM audit_log WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $4
    ) AS page
)
SELECT
    (SELECT max(number) FROM links) AS last,
    (SELECT hash FROM links ORDER BY number DESC LIMIT 1) AS hash,
    (SELECT min(number) FROM links WHERE number <> wanted) AS after_gap,
    (SELECT min(wanted) FROM links WHERE number <> wanted) AS missing,
    (SELECT min(number) FROM links WHERE hash <> fitting) AS other;

-- name: hash
SELECT hash FROM audit_log WHERE tenant = $1 AND number = $2;

-- name: logged
-- Whose logs there are.
SELECT tenant FROM audit_log_heads ORDER BY tenant;

-- name: lock
SELECT pruned_number FROM audit_log_heads WHERE tenant = $1 FOR UPDATE;

-- name: allow_pruning
-- To the end of the transaction.
SELECT set_config('nearhit.audit_log_prunes', 'yes', true);

-- name: prune
-- $1 tenant, $2 base, $3 instant, $4 how many rows at most: those from before, all at the beginning.
-- Which is the last of them; no row if there is none.
WITH oldest AS MATERIALIZED (
    SELECT number, at, hash FROM audit_log
    WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $4
),
kept AS MATERIALIZED (SELECT min(number) AS number FROM oldest WHERE at >= $3),
base AS MATERIALIZED (
    SELECT number, hash FROM oldest
    WHERE (SELECT number FROM kept) IS NULL OR number < (SELECT number FROM kept)
    ORDER BY number DESC LIMIT 1
),
pruned AS (
    DELETE FROM audit_log
    WHERE tenant = $1 AND number <= (SELECT number FROM base)
)
UPDATE audit_log_heads SET pruned_number = base.number, pruned_hash = base.hash
FROM base WHERE tenant = $1
RETURNING pruned_number;
