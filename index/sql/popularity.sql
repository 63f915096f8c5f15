-- Openings of documents, and the popularity that follows from them.

-- name: add_openings
-- $1 tenants of the openers, $2 documents, $3 days, $4 openers. A tenant that counts none gets no rows; its
-- row is locked, so that none is added while counting is turned off. A document that is being removed is
-- left out. Rows are locked in one order, so that processes can't deadlock.
INSERT INTO document_openings (document_key, tenant, day, opener)
SELECT new.document_key, new.tenant, new.day, new.opener
FROM unnest($1::text[], $2::bigint[], $3::date[], $4::bytea[]) AS new (tenant, document_key, day, opener)
JOIN tenants ON tenants.tenant = new.tenant
JOIN documents ON documents.document_key = new.document_key
WHERE counted_openings <> 'nothing' AND NOT is_being_deleted
ORDER BY new.tenant, new.document_key, new.day, new.opener
FOR SHARE OF tenants FOR KEY SHARE OF documents SKIP LOCKED
ON CONFLICT DO NOTHING;

-- name: delete_openings
-- $1 day: of all tenants, those before it that are counted.
DELETE FROM document_openings WHERE day < $1 AND is_counted;

-- name: due
-- $1 seconds since the last time, $2 today, $3 limit: tenants with something to roll up.
SELECT tenant FROM tenants
WHERE counted_openings <> 'nothing' AND NOT is_being_deleted
  AND (popularity_rolled_up_at IS NULL OR popularity_rolled_up_at <= now() - $1 * interval '1 second')
  AND (
      EXISTS (
          SELECT FROM document_openings AS openings
          WHERE openings.tenant = tenants.tenant AND NOT is_counted
      )
      OR EXISTS (
          SELECT FROM document_popularity AS popularity
          WHERE popularity.tenant = tenants.tenant AND falls_on <= $2::date
      )
  )
ORDER BY popularity_rolled_up_at NULLS FIRST, tenant LIMIT $3;

-- name: try_lock
-- $1 tenant: false while another process rolls it up, or turns counting off. chr(31) as in documents.sql.
SELECT pg_try_advisory_xact_lock(hashtextextended(chr(31) || 'popularity' || chr(31) || $1, 0));

-- name: lock
-- $1 tenant: the same, but waits.
SELECT pg_advisory_xact_lock(hashtextextended(chr(31) || 'popularity' || chr(31) || $1, 0));

-- name: take
-- $1 tenant, $2 today, $3 limit: documents that were opened, and those whose level falls, with the days of
-- the openings, which count from now on. A document that is being removed is left out: this statement waits
-- for nobody while it holds rows.
WITH chosen AS MATERIALIZED (
    (
        SELECT DISTINCT document_key FROM document_openings
        WHERE tenant = $1 AND NOT is_counted LIMIT $3
    )
    UNION
    (
        SELECT document_key FROM document_popularity
        WHERE tenant = $1 AND falls_on <= $2::date LIMIT $3
    )
),
locked AS MATERIALIZED (
    SELECT document_key FROM documents WHERE document_key IN (SELECT document_key FROM chosen)
    FOR KEY SHARE SKIP LOCKED
),
counted AS (
    UPDATE document_openings AS opened SET is_counted = true
    FROM locked
    WHERE opened.document_key = locked.document_key AND tenant = $1 AND NOT is_counted
    RETURNING opened.document_key, day
),
days AS (SELECT document_key, array_agg(day) AS days FROM counted GROUP BY document_key)
SELECT
    locked.document_key, coalesce(openings, 0) AS openings, coalesce(counted_on, $2) AS counted_on,
    coalesce(level, 0) AS level, coalesce(days, '{}') AS days
FROM locked
LEFT JOIN days ON days.document_key = locked.document_key
LEFT JOIN document_popularity AS stored
    ON stored.document_key = locked.document_key AND stored.tenant = $1
ORDER BY locked.document_key;

-- name: store
-- $1 tenant, $2 documents, $3 openings, $4 the day as of which they are counted, $5 levels, $6 days on which
-- these fall. The documents are locked.
INSERT INTO document_popularity (document_key, tenant, openings, counted_on, level, falls_on)
SELECT document_key, $1, openings, $4, level, falls_on
FROM unnest($2::bigint[], $3::double precision[], $5::smallint[], $6::date[])
    AS new (document_key, openings, level, falls_on)
ON CONFLICT (document_key, tenant) DO UPDATE SET
    openings = excluded.openings, counted_on = excluded.counted_on, level = excluded.level,
    falls_on = excluded.falls_on;

-- name: forget
-- $1 tenant, $2 documents that were last opened long ago.
DELETE FROM document_popularity WHERE tenant = $1 AND document_key = ANY ($2::bigint[]);

-- name: record_run
-- $1 tenant
UPDATE tenants SET popularity_rolled_up_at = now() WHERE tenant = $1;

-- name: counted
SELECT counted_openings FROM tenants WHERE tenant = $1 AND NOT is_being_deleted;

-- name: put_counted
-- $1 tenant, $2 which openings count. Principals hold it, so gateways read them again at the next request.
UPDATE tenants SET
    counted_openings = $2,
    access_revision = access_revision + (counted_openings <> $2)::integer
WHERE tenant = $1 AND tenant <> 'public' AND NOT is_being_deleted
RETURNING access_revision;

-- name: delete_all_openings
-- $1 tenant
DELETE FROM document_openings WHERE tenant = $1;

-- name: forget_all
-- $1 tenant
DELETE FROM document_popularity WHERE tenant = $1 RETURNING document_key;
