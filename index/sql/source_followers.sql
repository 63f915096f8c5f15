-- The processes that follow sources on other servers. Another process that has claimed a follower since has
-- another lease: the one that has lost it changes nothing.

-- fragment: is_current
EXISTS (
    SELECT FROM sources JOIN tenants USING (tenant)
    WHERE tenant = followers.tenant AND source = followers.source AND kind = 'postgres' AND NOT paused
      AND sources.settings = followers.settings AND sources.may_publish = followers.may_publish
      AND NOT is_being_deleted
)

-- name: enroll
-- A follower for each source that has none with its settings.
INSERT INTO source_followers (tenant, source, slot, settings, may_publish)
SELECT tenant, source, 'nearhit_' || replace(gen_random_uuid()::text, '-', ''), settings, may_publish
FROM sources JOIN tenants USING (tenant)
WHERE kind = 'postgres' AND NOT paused AND NOT is_being_deleted
  AND NOT EXISTS (
      SELECT FROM source_followers AS other
      WHERE other.tenant = sources.tenant AND other.source = sources.source
        AND other.settings = sources.settings AND other.may_publish = sources.may_publish
  )
ON CONFLICT DO NOTHING;

-- name: claim
-- $1 lease, $2 its seconds, $3 how many to follow, $4 how many of one tenant all processes follow at once, $5
-- how many whose slots are to be dropped: these wait for no other, since their slots keep a server's log.
WITH ranked AS (
    SELECT
        follower_no, due_at, leased_until, is_current,
        row_number() OVER (
            PARTITION BY tenant, is_current
            ORDER BY leased_until >= now() DESC NULLS LAST, due_at, follower_no
        ) AS place
    FROM (SELECT *, :is_current AS is_current FROM source_followers AS followers) AS known
),
due AS (
    SELECT
        follower_no, is_current,
        row_number() OVER (PARTITION BY is_current ORDER BY due_at, follower_no) AS turn
    FROM ranked
    WHERE due_at <= now() AND (leased_until IS NULL OR leased_until < now())
      AND (place <= $4 OR NOT is_current)
),
free AS (
    SELECT follower_no FROM source_followers
    WHERE follower_no IN (
        SELECT follower_no FROM due WHERE turn <= CASE WHEN is_current THEN $3::bigint ELSE $5::bigint END
    )
    FOR UPDATE SKIP LOCKED
)
UPDATE source_followers AS followers SET lease = $1, leased_until = now() + $2 * interval '1 second'
FROM free
WHERE followers.follower_no = free.follower_no
  AND (followers.leased_until IS NULL OR followers.leased_until < now())
RETURNING
    followers.follower_no, tenant, source, slot, settings, may_publish, history, definition,
    lsn::text AS lsn, failures, :is_current AS is_current;

-- name: renew
-- $1 lease, $2 its seconds, $3 followers: those that this process still has.
UPDATE source_followers AS followers SET leased_until = now() + $2 * interval '1 second'
WHERE lease = $1 AND follower_no = ANY ($3::bigint[])
RETURNING follower_no, is_copy_requested, :is_current AS is_current;

-- name: hold
-- $1 follower, $2 lease: a row if the process still has it and the source is still to be followed so, both
-- until the transaction ends.
SELECT true
FROM source_followers AS followers JOIN sources USING (tenant, source)
WHERE follower_no = $1 AND lease = $2 AND kind = 'postgres' AND NOT paused
  AND sources.settings = followers.settings AND sources.may_publish = followers.may_publish
FOR KEY SHARE OF followers FOR SHARE OF sources;

-- name: begin_copy
-- $1 follower, $2 lease
UPDATE source_followers SET lsn = NULL, is_copy_requested = false
WHERE follower_no = $1 AND lease = $2 RETURNING true;

-- name: record
-- $1 follower, $2 lease, $3 history, $4 definition, $5 LSN
UPDATE source_followers SET history = $3, definition = $4, lsn = $5::text::pg_lsn, failures = 0
WHERE follower_no = $1 AND lease = $2 RETURNING true;

-- name: release
-- $1 follower, $2 lease, $3 seconds until it is due, $4 how many times it has failed in a row
UPDATE source_followers SET
    lease = NULL, leased_until = NULL, due_at = now() + $3 * interval '1 second', failures = $4
WHERE follower_no = $1 AND lease = $2;

-- name: remove
-- $1 follower, $2 lease
DELETE FROM source_followers WHERE follower_no = $1 AND lease = $2;

-- name: request_copy
-- $1 tenant, $2 source
UPDATE source_followers SET is_copy_requested = true, due_at = now() WHERE tenant = $1 AND source = $2;

-- name: positions
-- $1 tenants, $2 sources: up to where each is stored; no row for one that is not followed.
SELECT tenant, source, lsn::text AS lsn
FROM unnest($1::text[], $2::text[]) AS asked (tenant, source)
JOIN source_followers AS followers USING (tenant, source)
WHERE :is_current;
