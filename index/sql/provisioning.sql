-- What an identity provider provisions. Rows are locked in this order: user or group, keys, memberships,
-- tenant, audit log.

-- name: create_user
-- $1 tenant, $2 subject, $3 user name, $4 external identifier, $5 display name, $6 whether it is active,
-- $7 emails; no row if another user has the subject or the name.
INSERT INTO provisioned_users (tenant, subject, user_name, external_id, display_name, is_active, emails)
SELECT tenant, $2, $3, $4, $5, $6, $7 FROM tenants WHERE tenant = $1 AND NOT is_being_deleted
ON CONFLICT DO NOTHING
RETURNING *;

-- fragment: matching_users
-- $1 tenant, $2 user, $3 user name, $4 external identifier, $5 whether it is active; null matches any.
FROM provisioned_users
WHERE tenant = $1
  AND ($2::text IS NULL OR user_id = $2)
  AND ($3::text IS NULL OR lower(user_name) = lower($3))
  AND ($4::text IS NULL OR external_id = $4)
  AND ($5::boolean IS NULL OR is_active = $5)

-- name: count_users
SELECT count(*) :matching_users;

-- name: users_page
-- As above, then $6 rows to skip, $7 limit.
SELECT * :matching_users ORDER BY user_id OFFSET $6 LIMIT $7;

-- name: lock_user
-- $1 tenant, $2 user.
SELECT * FROM provisioned_users WHERE tenant = $1 AND user_id = $2 FOR UPDATE;

-- name: update_user
-- $1 tenant, $2 user, then as in `create_user`.
UPDATE provisioned_users SET
    subject = $3, user_name = $4, external_id = $5, display_name = $6, is_active = $7, emails = $8,
    updated_at = now()
WHERE tenant = $1 AND user_id = $2
RETURNING *;

-- name: delete_user
-- $1 tenant, $2 user.
DELETE FROM provisioned_users WHERE tenant = $1 AND user_id = $2;

-- name: lock_keys
-- $1 tenant, $2 subject: no token can be made with these keys before the transaction ends.
SELECT key_id FROM keys WHERE tenant = $1 AND subject = $2 AND revoked_at IS NULL
ORDER BY key_id FOR UPDATE;

-- name: revoke_keys
-- $1 tenant, $2 subject, whose keys are locked: revoke its keys and tokens. Tokens have the subject of their
-- key.
UPDATE keys SET revoked_at = now() WHERE tenant = $1 AND subject = $2 AND revoked_at IS NULL
RETURNING key_id;

-- name: leave_groups
-- $1 tenant, $2 subject.
DELETE FROM group_members WHERE tenant = $1 AND subject = $2 RETURNING group_id;

-- name: suspend
-- $1 tenant, $2 subject.
INSERT INTO suspended_subjects (tenant, subject) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: resume
-- $1 tenant, $2 subject.
DELETE FROM suspended_subjects WHERE tenant = $1 AND subject = $2 RETURNING subject;

-- name: rename_member
-- $1 tenant, $2 the subject's earlier name, $3 its new one: it keeps its groups.
WITH left_groups AS (
    DELETE FROM group_members WHERE tenant = $1 AND subject = $2 RETURNING group_id
)
INSERT INTO group_members (tenant, group_id, subject) SELECT $1, group_id, $3 FROM left_groups
ON CONFLICT DO NOTHING;

-- name: raise_access_revision
-- $1 tenant: gateways read keys and groups again at the next request.
UPDATE tenants SET access_revision = access_revision + 1 WHERE tenant = $1;

-- name: create_group
-- $1 tenant, $2 group, $3 display name, $4 external identifier; no row if there is such a group.
INSERT INTO groups (tenant, group_id, display_name, external_id)
SELECT tenant, $2, $3, $4 FROM tenants WHERE tenant = $1 AND NOT is_being_deleted
ON CONFLICT DO NOTHING
RETURNING scim_id;

-- fragment: matching_groups
-- $1 tenant, $2 identifier, $3 display name, $4 external identifier, $5 a user among its members; null
-- matches any.
FROM groups
WHERE tenant = $1
  AND ($2::text IS NULL OR scim_id = $2)
  AND ($3::text IS NULL OR lower(coalesce(display_name, group_id)) = lower($3))
  AND ($4::text IS NULL OR external_id = $4)
  AND ($5::text IS NULL OR group_id IN (
      SELECT group_members.group_id
      FROM group_members JOIN provisioned_users USING (tenant, subject)
      WHERE group_members.tenant = $1 AND user_id = $5
  ))

-- name: count_groups
SELECT count(*) :matching_groups;

-- name: provisioned_groups_page
-- As above, then $6 rows to skip, $7 limit; members counts the users among the members.
SELECT
    scim_id, group_id, coalesce(display_name, group_id) AS display_name, external_id, created_at,
    (
        SELECT count(*) FROM group_members
        JOIN provisioned_users USING (tenant, subject)
        WHERE group_members.tenant = $1 AND group_members.group_id = groups.group_id
    ) AS members
:matching_groups ORDER BY scim_id OFFSET $6 LIMIT $7;

-- name: members_of
-- $1 tenant, $2 groups: the users among their members.
SELECT group_id, user_id, user_name
FROM group_members JOIN provisioned_users USING (tenant, subject)
WHERE group_members.tenant = $1 AND group_id = ANY ($2::text[])
ORDER BY group_id, user_id;

-- name: lock_group
-- $1 tenant, $2 identifier.
SELECT scim_id, group_id, coalesce(display_name, group_id) AS display_name, external_id FROM groups
WHERE tenant = $1 AND scim_id = $2 FOR UPDATE;

-- name: update_group
-- $1 tenant, $2 identifier, $3 group, $4 display name, $5 external identifier; no row if another group has
-- the name.
UPDATE groups SET group_id = $3, display_name = $4, external_id = $5
WHERE tenant = $1 AND scim_id = $2
  AND NOT EXISTS (SELECT FROM groups WHERE tenant = $1 AND group_id = $3 AND scim_id <> $2)
RETURNING scim_id;

-- name: delete_group
-- $1 tenant, $2 identifier.
DELETE FROM groups WHERE tenant = $1 AND scim_id = $2;

-- name: subjects_of
-- $1 tenant, $2 users.
SELECT user_id, subject FROM provisioned_users WHERE tenant = $1 AND user_id = ANY ($2::text[]);

-- name: provisioned_members
-- $1 tenant, $2 group: the users among its members.
SELECT subject, user_id, user_name FROM group_members JOIN provisioned_users USING (tenant, subject)
WHERE group_members.tenant = $1 AND group_id = $2;

-- name: lock_keys_of_group
-- $1 tenant, $2 group, $3 subjects, null for all: their keys and tokens that name the group.
SELECT key_id FROM keys
WHERE tenant = $1 AND key_id = ANY (ARRAY(
    SELECT key_id FROM keys
    WHERE tenant = $1 AND $2 = ANY (groups) AND ($3::text[] IS NULL OR subject = ANY ($3))
))
ORDER BY key_id FOR UPDATE;

-- name: strip_group
-- As above: the keys lose the group.
UPDATE keys SET groups = array_remove(groups, $2)
WHERE tenant = $1 AND $2 = ANY (groups) AND ($3::text[] IS NULL OR subject = ANY ($3))
RETURNING key_id;

-- name: remove_members
-- $1 tenant, $2 group, $3 subjects.
DELETE FROM group_members WHERE tenant = $1 AND group_id = $2 AND subject = ANY ($3::text[])
RETURNING subject;

-- name: add_members
-- $1 tenant, $2 group, $3 subjects.
INSERT INTO group_members (tenant, group_id, subject) SELECT $1, $2, unnest($3::text[])
ON CONFLICT DO NOTHING
RETURNING subject;
