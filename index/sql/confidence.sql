-- name: read
-- $1 tenant
SELECT confidence FROM tenants WHERE tenant = $1;

-- name: put
-- $1 tenant, $2 confidence. A new revision without a row in the change log ends all cached answers.
UPDATE tenants SET
    confidence = $2,
    revision = revision + (coalesce(confidence, '{}') - 'fallback' <> $2::jsonb - 'fallback')::integer
WHERE tenant = $1
RETURNING revision;
