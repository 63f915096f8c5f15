-- Leases of gateways that answer without asking the primary; see gateway/extensions/regions/read_lease.py.

-- name: renew
-- $1 holder, $2 region, $3 seconds, $4 `since` of the renewal before, or null; not in a transaction.
CALL renew_read_lease($1, $2, $3, $4, NULL, NULL);

-- name: announce
-- $1 tenants whose changes are committed, $2 writer, $3 number of the announcement, $4 whether to send it,
-- $5 seconds of the longest lease that the writer knows of. One row for each lease; of a row without a
-- holder only the other columns count. A message has less than 8,000 bytes.
WITH current AS (
    SELECT
        histories.history, lease_s_max,
        is_settled AND replicated_history.history = histories.history AS is_settled
    FROM replicated_history CROSS JOIN histories
),
sent AS (
    SELECT pg_notify('nearhit_moved', json_build_object(
        'writer', $2::text, 'number', $3::bigint, 'history', history, 'moved', moved
    )::text)
    FROM current
    CROSS JOIN (
        SELECT json_agg(json_build_array(tenant, revision, access_revision, audience_revision)) AS moved
        FROM tenants WHERE tenant = ANY ($1::text[])
    ) AS written
    WHERE $4 AND EXISTS (SELECT FROM read_leases)
)
SELECT
    holder, number, duration_s, history,
    greatest(lease_s_max, $5::double precision) AS longest_s,
    is_settled OR greatest(lease_s_max, $5) = 0 AS is_settled,
    (SELECT count(*) FROM sent) AS messages
FROM current LEFT JOIN read_leases ON true;

-- name: stored
-- One row for each lease; without leases one row that has no holder.
SELECT histories.history, holder, number, duration_s FROM histories LEFT JOIN read_leases ON true;

-- name: acknowledge
-- $1 channels of writers, $2 a message to each.
SELECT pg_notify(channel, message) FROM unnest($1::text[], $2::text[]) AS sent (channel, message);

-- name: remove
-- $1 holder, $2 number, $3 history: unless the lease was renewed since.
DELETE FROM read_leases
WHERE holder = $1 AND number = $2 AND $3 = (SELECT history FROM histories);

-- name: release
DELETE FROM read_leases WHERE holder = $1;

-- name: replicate_history
SELECT replicate_history(0);

-- name: settle
-- $1 history: the leases of earlier ones have run out.
UPDATE replicated_history SET is_settled = true
WHERE history = $1 AND $1 = (SELECT history FROM histories) AND NOT is_settled;

-- name: regions
SELECT region FROM read_leases ORDER BY region, holder;
