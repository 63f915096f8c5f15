-- What of agents' writing a tenant holds until somebody ratifies it.

-- name: quarantine
SELECT quarantine FROM tenants WHERE tenant = $1 AND NOT is_being_deleted;

-- name: put_quarantine
-- $1 tenant, $2 what is held, or null. Principals hold it, so gateways read them again at the next request.
UPDATE tenants SET
    quarantine = $2,
    access_revision = access_revision + (quarantine IS DISTINCT FROM $2)::integer
WHERE tenant = $1 AND tenant <> 'public' AND NOT is_being_deleted
RETURNING access_revision;
