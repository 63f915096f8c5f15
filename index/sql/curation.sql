-- Questions whose answers had low confidence.

-- name: add
-- $1 tenants, $2 digests, $3 identifiers of new rows, $4 questions, $5 hits as JSON, $6 counts.
-- A resolved question that has low confidence again is open again; a dismissed one stays dismissed. Rows
-- are locked in one order, so that concurrent calls can't deadlock.
INSERT INTO curation AS stored (tenant, digest, item_id, question, hits, count)
SELECT tenant, digest, item_id, question, hits::jsonb, count
FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS added (tenant, digest, item_id, question, hits, count)
JOIN tenants USING (tenant)
WHERE NOT is_being_deleted
ORDER BY tenant, digest
ON CONFLICT (tenant, digest) DO UPDATE SET
    hits = excluded.hits,
    count = excluded.count + CASE stored.state WHEN 'resolved' THEN 0 ELSE stored.count END,
    state = CASE stored.state WHEN 'resolved' THEN 'open' ELSE stored.state END,
    document_id = NULL,
    last_at = now();

-- name: prune
-- $1 tenants, $2 limit of rows for each: closed rows are deleted first, then those asked longest ago.
DELETE FROM curation USING (
    SELECT tenant, digest,
        row_number() OVER (
            PARTITION BY tenant ORDER BY state <> 'open', last_at DESC, item_id
        ) AS position
    FROM curation WHERE tenant = ANY ($1::text[])
) AS ordered
WHERE curation.tenant = ordered.tenant AND curation.digest = ordered.digest AND position > $2::bigint;

-- fragment: columns
item_id, question, hits, count, state, document_id, first_at, last_at

-- name: page
-- $1 tenant, $2 state, $3 and $4 count and identifier of the last item of the previous page, $5 limit
SELECT :columns FROM curation
WHERE tenant = $1 AND state = $2 AND (count < $3 OR (count = $3 AND item_id > $4))
ORDER BY count DESC, item_id LIMIT $5;

-- name: get
-- $1 tenant, $2 item
SELECT :columns FROM curation WHERE tenant = $1 AND item_id = $2;

-- name: settle
-- $1 tenant, $2 item, $3 state, $4 document or null
UPDATE curation SET state = $3, document_id = $4, last_at = now()
WHERE tenant = $1 AND item_id = $2 AND state = 'open'
RETURNING :columns;
