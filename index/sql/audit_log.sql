-- The audit log; see migrations/0001_schema.sql.

-- name: append
-- The time is that of the end of the wait for other changes, by the database's clock.
SELECT audit_append($1, $2, $3, $4, $5, $6) AS access_revision, clock_timestamp() AS appended_at;

-- name: omit
-- $1 tenant: as `append`, without a row.
SELECT audit_omit($1) AS access_revision, clock_timestamp() AS appended_at;

-- name: heads
-- $1 tenant, or null for every tenant with a head or rows. The recursion jumps from one tenant's rows to
-- the next tenant's. One snapshot returns the last row by the head, and the first and last by the rows.
WITH RECURSIVE tenants_with_rows AS (
    (SELECT tenant FROM audit_log WHERE tenant >= coalesce($1::text, '') ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (
        SELECT tenant FROM audit_log
        WHERE audit_log.tenant > tenants_with_rows.tenant AND $1::text IS NULL ORDER BY tenant LIMIT 1
    )
    FROM tenants_with_rows WHERE tenants_with_rows.tenant IS NOT NULL
)
SELECT
    tenant, number, hash, pruned_number, pruned_hash,
    (SELECT min(audit_log.number) FROM audit_log WHERE audit_log.tenant = logged.tenant) AS first,
    (SELECT max(audit_log.number) FROM audit_log WHERE audit_log.tenant = logged.tenant) AS last
FROM (
    SELECT tenant FROM audit_log_heads
    UNION SELECT tenant FROM tenants_with_rows WHERE tenant IS NOT NULL
) AS logged
LEFT JOIN audit_log_heads USING (tenant)
WHERE $1::text IS NULL OR tenant = $1
ORDER BY tenant;

-- name: head
SELECT number, pruned_number, hash FROM audit_log_heads WHERE tenant = $1;

-- name: page
-- $1 tenant, $2 first and $3 last number to read, $4 spellings of a subject, or `operator` or `system`, $5 document,
-- $6 earliest time, each null for any; $7 limit.
SELECT tenant, number, at, subject, key_id, action, target, details, hash
FROM audit_log
WHERE tenant = $1 AND number BETWEEN $2 AND $3
  AND ($4::text[] IS NULL OR coalesce(subject, key_id) = ANY ($4))
  AND ($5::text IS NULL OR details -> 'documents' ? $5)
  AND ($6::timestamptz IS NULL OR at >= $6)
ORDER BY number DESC LIMIT $7;

-- fragment: first_shown
CASE action WHEN 'documents.read' THEN (details ->> 'first')::timestamptz ELSE at END

-- fragment: last_shown
CASE action WHEN 'documents.read' THEN (details ->> 'last')::timestamptz ELSE at END

-- name: recipients
-- $1 tenant, $2 first and $3 last number to read, $4 document, $5 chunk, $6 earliest and $7 latest time, these
-- three null for any; $8 the most rows to count. A row that names no chunk of the document has shown all of it.
-- Of each actor that was shown it the times, and of all the number of the first row that was counted.
WITH shown AS MATERIALIZED (
    SELECT number, subject, key_id, :first_shown AS first, :last_shown AS last
    FROM audit_log
    WHERE tenant = $1 AND number BETWEEN $2 AND $3 AND action IN ('documents.read', 'search.as')
      AND details -> 'documents' ? $4
      AND ($5::bigint IS NULL OR coalesce(details -> 'chunks' -> $4 @> to_jsonb($5), true))
      AND ($6::timestamptz IS NULL OR :last_shown >= $6)
      AND ($7::timestamptz IS NULL OR :first_shown < $7)
    ORDER BY number DESC LIMIT $8::bigint
)
SELECT
    subject, key_id, min(first) AS first, max(last) AS last,
    (SELECT count(*) FROM shown) AS rows_counted, (SELECT min(number) FROM shown) AS first_counted
FROM shown GROUP BY subject, key_id ORDER BY max(number) DESC;

-- name: chunks_shown
-- $1 tenant, $2 first and $3 last number to read, $4 document, $5 earliest time or null: how many rows name each
-- of its chunks, and when it was shown last.
SELECT chunk_id::bigint AS chunk_id, count(*) AS views, max(:last_shown) AS last
FROM audit_log, jsonb_array_elements_text(details -> 'chunks' -> $4) AS chunk_id
WHERE tenant = $1 AND number BETWEEN $2 AND $3 AND action IN ('documents.read', 'search.as')
  AND details -> 'documents' ? $4 AND ($5::timestamptz IS NULL OR :last_shown >= $5)
GROUP BY chunk_id ORDER BY chunk_id;

-- name: lost
-- $1 tenant, $2 first and $3 last number: how many answers were counted without what they had shown.
SELECT coalesce(sum((details ->> 'answers_lost')::bigint), 0)::bigint AS answers
FROM audit_log
WHERE tenant = $1 AND number BETWEEN $2 AND $3 AND action = 'documents.read' AND details ? 'answers_lost';

-- name: created_at
SELECT created_at FROM tenants WHERE tenant = $1;

-- name: at
SELECT at FROM audit_log WHERE tenant = $1 AND number = $2;

-- name: links
-- $1 tenant, $2 number and $3 hash of the previous row, $4 number of rows to check. Returns the last of
-- these rows, the first one after a gap, the first whose hash does not match its content, and if there is
-- one of these the last row before, else the previous one.
WITH links AS MATERIALIZED (
    SELECT
        number, hash,
        lag(number, 1, $2::bigint) OVER (ORDER BY number) + 1 AS expected_number,
        audit_hash(
            lag(hash, 1, $3::bytea) OVER (ORDER BY number),
            tenant, number, at, subject, key_id, action, target, details, nonce
        ) AS expected_hash
    FROM (
        SELECT * FROM audit_log WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $4
    ) AS page
),
whole AS (
    SELECT number, hash FROM links
    WHERE number < (
        SELECT min(number) FROM links WHERE number <> expected_number OR hash <> expected_hash
    )
    ORDER BY number DESC LIMIT 1
)
SELECT
    (SELECT max(number) FROM links) AS last,
    (SELECT hash FROM links ORDER BY number DESC LIMIT 1) AS hash,
    (SELECT min(number) FROM links WHERE number <> expected_number) AS after_gap,
    (SELECT min(expected_number) FROM links WHERE number <> expected_number) AS missing,
    (SELECT min(number) FROM links WHERE hash <> expected_hash) AS mismatched,
    coalesce((SELECT number FROM whole), $2) AS whole,
    coalesce((SELECT hash FROM whole), $3) AS whole_hash;

-- name: hash
SELECT hash FROM audit_log WHERE tenant = $1 AND number = $2;

-- name: tenants
-- Tenants that have a log.
SELECT tenant FROM audit_log_heads ORDER BY tenant;

-- name: lock
SELECT pruned_number FROM audit_log_heads WHERE tenant = $1 FOR UPDATE;

-- name: allow_pruning
-- The trigger then permits DELETE until the transaction ends.
SELECT set_config('nearhit.audit_log_prunes', 'yes', true);

-- name: prune
-- $1 tenant, $2 last pruned number, $3 time, $4 limit: delete the oldest rows, up to the first that is
-- not older than $3. Returns the last deleted number; no row if nothing is deleted.
WITH oldest AS MATERIALIZED (
    SELECT number, at, hash FROM audit_log
    WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $4
),
first_kept AS MATERIALIZED (SELECT min(number) AS number FROM oldest WHERE at >= $3),
base AS MATERIALIZED (
    SELECT number, hash FROM oldest
    WHERE (SELECT number FROM first_kept) IS NULL OR number < (SELECT number FROM first_kept)
    ORDER BY number DESC LIMIT 1
),
pruned AS (
    DELETE FROM audit_log
    WHERE tenant = $1 AND number <= (SELECT number FROM base)
)
UPDATE audit_log_heads SET pruned_number = base.number, pruned_hash = base.hash
FROM base WHERE tenant = $1
RETURNING pruned_number;
