-- name: revisions
-- The counters that validate cached entries, and their history; one statement serves all waiting callers.
SELECT
    tenant, revision, access_revision, audience_revision, (SELECT history FROM histories) AS history
FROM tenants WHERE tenant = ANY ($1::text[]);

-- name: all_revisions
SELECT tenant, revision, (SELECT history FROM histories) AS history FROM tenants ORDER BY tenant;

-- name: all_languages
SELECT DISTINCT unnest(languages) AS language FROM tenants ORDER BY 1;

-- name: create
-- The counters begin beyond those of a deleted tenant of this name: see `deleted_tenant_counters`.
INSERT INTO tenants (tenant, name, revision, access_revision, audience_revision, vocabulary_size)
SELECT $1, $2, revision, revision, revision, vocabulary_size FROM deleted_tenant_counters
ON CONFLICT DO NOTHING RETURNING tenant;

-- name: exists
SELECT true FROM tenants WHERE tenant = $1 AND NOT is_being_deleted;

-- fragment: summary
-- $2 first day of the month
tenant, name, created_at, is_being_deleted, documents, chunks, stored_bytes, budget_month,
coalesce((SELECT sum(cost) FROM usage WHERE usage.tenant = tenants.tenant AND day >= $2), 0) AS cost_month

-- fragment: listed
-- $3 limit, $4 what the identifier or the name contains, '' for all
SELECT :summary FROM tenants
WHERE tenant <> 'public' AND (strpos(lower(tenant), lower($4)) > 0 OR strpos(lower(name), lower($4)) > 0)

-- name: page
-- $1 the last tenant of the previous page
:listed AND tenant > $1 ORDER BY tenant LIMIT $3;

-- name: page_by_cost
-- $1 the last tenant of the previous page. Those that cost most come first; the next page begins below what the
-- last tenant costs by now.
WITH listed AS (:listed),
last AS (SELECT -cost_month AS position FROM listed WHERE tenant = $1)
SELECT * FROM listed
WHERE $1 = '' OR (-cost_month, tenant) > ((SELECT position FROM last), $1)
ORDER BY cost_month DESC, tenant LIMIT $3;

-- name: inventory
-- $1 tenant. A key that has expired or was revoked, and a token, are not counted.
SELECT
    :summary, revision, access_revision, languages,
    (SELECT count(*) FROM sources WHERE sources.tenant = $1) AS sources,
    (SELECT count(*) FROM groups WHERE groups.tenant = $1) AS groups,
    (
        SELECT count(*) FROM keys
        WHERE keys.tenant = $1 AND NOT is_token
          AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    ) AS keys
FROM tenants WHERE tenant = $1 AND tenant <> 'public';

-- name: skip_revision
-- $1 tenant. A revision without a row in the change log: no cache and no shard can follow it, so each
-- begins anew, wherever it is.
UPDATE tenants SET revision = revision + 1
WHERE tenant = $1 AND tenant <> 'public' AND NOT is_being_deleted
RETURNING revision;

-- name: put_max_staleness
-- $1 tenant, $2 milliseconds or null. Principals hold it, so gateways read them again at the next request.
UPDATE tenants SET
    max_staleness_ms = $2,
    access_revision = access_revision + (max_staleness_ms IS DISTINCT FROM $2)::integer
WHERE tenant = $1 AND NOT is_being_deleted
RETURNING access_revision;

-- name: receives_public
SELECT receives_public FROM tenants WHERE tenant = $1 AND NOT is_being_deleted;

-- name: put_receives_public
-- $1 tenant, $2 whether it receives public documents. Principals hold it, so gateways read them again at the
-- next request, and their scopes select other cached answers.
UPDATE tenants SET
    receives_public = $2,
    access_revision = access_revision + (receives_public <> $2)::integer
WHERE tenant = $1 AND tenant <> 'public' AND NOT is_being_deleted
RETURNING access_revision;

-- name: shares_answers
SELECT shares_answers FROM tenants WHERE tenant = $1 AND NOT is_being_deleted;

-- name: put_shares_answers
-- $1 tenant, $2 whether callers who see the same share answers. Principals hold it, so gateways read them
-- again at the next request.
UPDATE tenants SET
    shares_answers = $2,
    access_revision = access_revision + (shares_answers <> $2)::integer
WHERE tenant = $1 AND tenant <> 'public' AND NOT is_being_deleted
RETURNING access_revision;

-- name: create_group
INSERT INTO groups (tenant, group_id) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: add_member
WITH added AS (
    INSERT INTO group_members (tenant, group_id, subject) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING RETURNING tenant
)
UPDATE tenants SET access_revision = access_revision + 1 FROM added
WHERE tenants.tenant = added.tenant
RETURNING access_revision;

-- name: remove_member
WITH removed AS (
    DELETE FROM group_members WHERE tenant = $1 AND group_id = $2 AND subject = $3 RETURNING tenant
)
UPDATE tenants SET access_revision = access_revision + 1 FROM removed
WHERE tenants.tenant = removed.tenant
RETURNING access_revision;

-- name: groups_page
-- $1 tenant, $2 the last group of the previous page, $3 limit. One scan counts the members of all of them.
WITH page AS (
    SELECT group_id FROM groups WHERE tenant = $1 AND group_id > $2 ORDER BY group_id LIMIT $3
)
SELECT page.group_id, count(subject) AS members
FROM page LEFT JOIN group_members ON group_members.tenant = $1 AND group_members.group_id = page.group_id
GROUP BY page.group_id ORDER BY page.group_id;

-- name: members_page
-- $1 tenant, $2 group, $3 the last subject of the previous page, $4 limit.
SELECT subject, added_at FROM group_members
WHERE tenant = $1 AND group_id = $2 AND subject > $3 ORDER BY subject LIMIT $4;
