-- What a tenant stores, and its quotas. Its row is locked while they are compared, so that concurrent
-- writes are compared one after the other.

-- fragment: amounts
documents, chunks, stored_bytes, documents_max, chunks_max, bytes_max, sources_max

-- name: get
-- $1 tenant: with the number of its sources.
SELECT :amounts, (SELECT count(*) FROM sources WHERE sources.tenant = $1) AS sources
FROM tenants WHERE tenant = $1 AND tenant <> 'public';

-- name: put
-- $1 tenant, $2 documents, $3 chunks, $4 bytes, $5 sources; null: the default.
UPDATE tenants SET documents_max = $2, chunks_max = $3, bytes_max = $4, sources_max = $5
WHERE tenant = $1 AND tenant <> 'public' AND NOT is_being_deleted
RETURNING true;

-- name: lock
-- $1 tenant
SELECT :amounts FROM tenants WHERE tenant = $1 FOR NO KEY UPDATE;

-- name: add_bytes
-- $1 tenant, $2 bytes
UPDATE tenants SET stored_bytes = stored_bytes + $2 WHERE tenant = $1 RETURNING :amounts;

-- name: count_sources
-- $1 tenant, whose row is locked, $2 limit: as many are counted, and one more.
SELECT count(*) FROM (SELECT FROM sources WHERE tenant = $1 LIMIT $2::bigint + 1) AS counted;
