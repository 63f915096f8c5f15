-- name: revisions
-- One statement for all that wait: the counters that say whether a cached thing still holds.
SELECT tenant, revision, access_revision FROM tenants WHERE tenant = ANY ($1::text[]);

-- name: all_revisions
SELECT tenant, revision FROM tenants ORDER BY tenant;

-- name: all_languages
SELECT DISTINCT unnest(languages) AS language FROM tenants ORDER BY 1;

-- name: create
INSERT INTO tenants (tenant, name) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING tenant;

-- name: exists
SELECT true FROM tenants WHERE tenant = $1;

-- name: create_key
INSERT INTO keys (key_id, tenant, digest, subject, groups, roles, expires_at)
SELECT $2, tenant, $3, $4, $5, $6, $7 FROM tenants WHERE tenant = $1
RETURNING key_id;

-- name: revoke_key
-- $1 tenant or null for the operator, $2 key. Raising access_revision bites at the next request.
WITH revoked AS (
    UPDATE keys SET revoked_at = now()
    WHERE ($1::text IS NULL OR tenant = $1) AND key_id = $2 AND revoked_at IS NULL
    RETURNING tenant
)
UPDATE tenants SET access_revision = access_revision + 1 FROM revoked
WHERE tenants.tenant = revoked.tenant
RETURNING access_revision;

-- fragment: holder
SELECT
    keys.digest, keys.key_id, keys.tenant, keys.subject, keys.roles, keys.expires_at,
    tenants.access_revision, tenants.revision, everyone.revision AS public_revision,
    ARRAY(
        SELECT unnest(keys.groups)
        UNION
        SELECT group_id FROM members WHERE tenant = keys.tenant AND subject = keys.subject
        ORDER BY 1
    ) AS groups
FROM keys JOIN tenants USING (tenant) JOIN tenants AS everyone ON everyone.tenant = 'public'

-- name: key_holder
-- $1 the key's digest: who holds it, in which groups, as of which revisions.
:holder WHERE keys.digest = $1 AND keys.revoked_at IS NULL;

-- name: holder_now
-- $1 tenant, $2 key: who holds it, for work that was asked for with it.
:holder WHERE keys.tenant = $1 AND keys.key_id = $2 AND keys.revoked_at IS NULL;

-- name: create_group
INSERT INTO groups (tenant, group_id) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: add_member
WITH added AS (
    INSERT INTO members (tenant, group_id, subject) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING RETURNING tenant
)
UPDATE tenants SET access_revision = access_revision + 1 FROM added
WHERE tenants.tenant = added.tenant
RETURNING access_revision;

-- name: remove_member
WITH removed AS (
    DELETE FROM members WHERE tenant = $1 AND group_id = $2 AND subject = $3 RETURNING tenant
)
UPDATE tenants SET access_revision = access_revision + 1 FROM removed
WHERE tenants.tenant = removed.tenant
RETURNING access_revision;
