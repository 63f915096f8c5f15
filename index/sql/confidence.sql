-- name: read
-- $1 tenant
SELECT confidence FROM tenants WHERE tenant = $1;

-- name: put
-- $1 tenant, $2 confidence or null: a revision without a row among the changes ends all cached answers.
UPDATE tenants SET
    confidence = $2::jsonb,
    revision = revision + (confidence - 'fallback' IS DISTINCT FROM $2::jsonb - 'fallback')::integer
WHERE tenant = $1
RETURNING revision;
