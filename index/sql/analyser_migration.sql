-- The migration of chunks to another analyser of words.

-- name: adopt
-- $1 the analyser of this version, $2 the older one of the index: writes use the new one from now on, and
-- what each tenant has is analysed anew.
WITH adopted AS (UPDATE index_meta SET analyser = $1 WHERE analyser = $2 RETURNING analyser)
UPDATE tenants SET analyser = coalesce(tenants.analyser, $2)
WHERE tenant <> 'public' AND EXISTS (SELECT FROM adopted);

-- name: due
-- $1 kind: the tenants with chunks of an older analyser and without an unfinished job of the kind.
SELECT tenant FROM tenants
WHERE analyser IS NOT NULL AND NOT is_being_deleted AND NOT EXISTS (
    SELECT FROM jobs
    WHERE jobs.tenant = tenants.tenant AND jobs.kind = $1 AND state IN ('waiting', 'running')
);

-- name: is_due
-- $1 tenant
SELECT FROM tenants WHERE tenant = $1 AND analyser IS NOT NULL;

-- name: documents
-- $1 tenant, $2 the last document of the previous page, $3 limit: those that have chunks.
SELECT document_id FROM documents
WHERE tenant = $1 AND document_id ~>~ $2 AND chunks > 0 ORDER BY document_id USING ~<~ LIMIT $3;

-- name: finish
-- $1 tenant, $2 the analyser of all its chunks: changes nothing if the index has a later analyser by now.
UPDATE tenants SET analyser = NULL
WHERE tenant = $1 AND EXISTS (SELECT FROM index_meta WHERE index_meta.analyser = $2);
