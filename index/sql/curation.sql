-- Questions that could not be answered well.

-- name: add
-- $1 tenants, $2 digests, $3 identifiers of new rows, $4 questions, $5 hits as JSON, $6 how often each was asked.
-- What was settled by a document, and is asked again in vain, is open again; what was dismissed stays
-- so. In one order, so that two who add at once wait for each other.
INSERT INTO curation AS kept (tenant, digest, item_id, question, hits, count)
SELECT tenant, digest, item_id, question, hits::jsonb, count
FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS added (tenant, digest, item_id, question, hits, count)
JOIN tenants USING (tenant)
WHERE NOT is_being_deleted
ORDER BY tenant, digest
ON CONFLICT (tenant, digest) DO UPDATE SET
    hits = excluded.hits,
    count = excluded.count + CASE kept.state WHEN 'resolved' THEN 0 ELSE kept.count END,
    state = CASE kept.state WHEN 'resolved' THEN 'open' ELSE kept.state END,
    document_id = NULL,
    last_at = now();

-- name: prune
-- $1 tenants, $2 how many each may have: settled ones go first, then those not asked for longest.
DELETE FROM curation USING (
    SELECT tenant, digest,
        row_number() OVER (
            PARTITION BY tenant ORDER BY state <> 'open', last_at DESC, item_id
        ) AS place
    FROM curation WHERE tenant = ANY ($1::text[])
) AS placed
WHERE curation.tenant = placed.tenant AND curation.digest = placed.digest AND place > $2::bigint;

-- fragment: shown
item_id, question, hits, count, state, document_id, first_at, last_at

-- name: page
-- $1 tenant, $2 state, $3 and $4 count and identifier of the last item of the page before, $5 limit
SELECT :shown FROM curation
WHERE tenant = $1 AND state = $2 AND (count < $3 OR (count = $3 AND item_id > $4))
ORDER BY count DESC, item_id LIMIT $5;

-- name: one
-- $1 tenant, $2 item
SELECT :shown FROM curation WHERE tenant = $1 AND item_id = $2;

-- name: settle
-- $1 tenant, $2 item, $3 state, $4 document or null
UPDATE curation SET state = $3, document_id = $4, last_at = now()
WHERE tenant = $1 AND item_id = $2 AND state = 'open'
RETURNING :shown;
