-- name: lock
-- $1 tenant, $2 keys and tokens: those that are not revoked; no one can revoke them, or take a group from
-- them, before the transaction ends.
SELECT key_id, groups FROM keys WHERE tenant = $1 AND key_id = ANY ($2::text[]) AND revoked_at IS NULL
ORDER BY key_id FOR SHARE;

-- name: parent
-- $1 tenant, $2 key or token: what its tokens inherit and never changes.
SELECT ancestor_key_ids, allowed_groups FROM keys WHERE tenant = $1 AND key_id = $2;

-- name: lock_tokens
-- $1 tenant, $2 subject: its tokens are counted one creation at a time. chr(31) is in no tenant's name, so the
-- key can't equal that of a document.
SELECT pg_advisory_xact_lock(hashtextextended(chr(31) || 'tokens' || chr(31) || $1 || chr(31) || $2, 0));

-- name: count_tokens
-- $1 tenant, $2 subject: its tokens that work, but for those of jobs.
SELECT count(*) FROM keys
WHERE tenant = $1 AND subject = $2 AND is_token AND NOT is_for_job AND revoked_at IS NULL
  AND expires_at > now();

-- name: is_suspended
-- $1 tenant, $2 subject.
SELECT true FROM suspended_subjects WHERE tenant = $1 AND subject = $2;

-- name: create
-- $1 tenant, then the key.
INSERT INTO keys (
    key_id, tenant, digest, name, subject, groups, roles, scopes, expires_at, is_token, ancestor_key_ids,
    allowed_groups, filter, issuer_key, is_for_job, agents
)
SELECT $2, tenant, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
FROM tenants WHERE tenant = $1 AND NOT is_being_deleted
RETURNING key_id;

-- name: page
-- $1 tenant, $2 the last identifier of the previous page, $3 limit; keys, not tokens.
SELECT key_id, name, subject, groups, roles, scopes, created_at, expires_at, revoked_at, last_used_at
FROM keys WHERE tenant = $1 AND key_id > $2 AND NOT is_token ORDER BY key_id LIMIT $3;

-- name: tokens_page
-- $1 tenant, $2 the last identifier of the previous page, $3 limit, $4 subject, null for all of them,
-- $5 null, or a token: itself and those made with it; tokens that work, not keys.
SELECT
    key_id, name, subject, roles, scopes, created_at, expires_at, last_used_at,
    ancestor_key_ids[cardinality(ancestor_key_ids)] AS made_with
FROM keys
WHERE tenant = $1 AND key_id > $2 AND is_token AND revoked_at IS NULL AND expires_at > now()
  AND ($4::text IS NULL OR subject = $4)
  AND ($5::text IS NULL OR key_id = $5 OR ancestor_key_ids @> ARRAY[$5::text])
ORDER BY key_id LIMIT $3;

-- name: rotate
-- $1 tenant, $2 key, which is locked, $3 and $4 identifier and digest of the new key, $5 the time until
-- which the old key and its tokens still work.
WITH old AS (
    SELECT * FROM keys
    WHERE tenant = $1 AND key_id = $2 AND NOT is_token
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
),
ending AS (
    UPDATE keys SET expires_at = least(keys.expires_at, $5) FROM old WHERE keys.key_id = old.key_id
),
rotated AS (
    INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, expires_at)
    SELECT $3, tenant, $4, name, subject, groups, roles, scopes, expires_at FROM old
    RETURNING tenant
)
UPDATE tenants SET access_revision = access_revision + 1 FROM rotated
WHERE tenants.tenant = rotated.tenant
RETURNING true AS is_rotated;

-- name: lock_key
-- $1 tenant or null for the operator, $2 key: while it is locked, no token can be made with it.
SELECT tenant, revoked_at IS NULL AS is_live FROM keys
WHERE ($1::text IS NULL OR tenant = $1) AND key_id = $2
FOR UPDATE;

-- name: lock_token
-- $1 tenant, $2 token, $3 its subject, $4 null, or the token itself or one of its ancestors.
SELECT tenant, revoked_at IS NULL AS is_live FROM keys
WHERE tenant = $1 AND key_id = $2 AND is_token AND subject = $3
  AND ($4::text IS NULL OR key_id = $4 OR ancestor_key_ids @> ARRAY[$4::text])
FOR UPDATE;

-- name: revoke
-- $1 tenant, $2 key: revoke it and all tokens below it, so that `delete_ended_tokens` finds them. The new
-- access_revision makes gateways read keys again at the next request.
WITH revoked AS (
    UPDATE keys SET revoked_at = now()
    WHERE tenant = $1 AND (key_id = $2 OR is_token AND ancestor_key_ids @> ARRAY[$2::text])
      AND revoked_at IS NULL
)
UPDATE tenants SET access_revision = access_revision + 1 WHERE tenant = $1;

-- name: record_use
-- $1 digests, $2 when each was last used.
UPDATE keys SET last_used_at = used_at
FROM unnest($1::bytea[], $2::timestamptz[]) AS used (digest, used_at)
WHERE keys.digest = used.digest AND (last_used_at IS NULL OR last_used_at < used_at);

-- name: ended_keys
-- $1 digests of credentials that were refused: those of keys and tokens, with why they no longer work.
-- What works by itself was made with a key that is revoked.
SELECT
    digest, tenant, subject, key_id,
    revoked_at IS NOT NULL OR expires_at IS NULL OR expires_at > now() AS is_revoked
FROM keys WHERE digest = ANY ($1::bytea[]);

-- name: delete_ended_tokens
-- Tokens that ended before $1. Keys stay as a record of their holders.
DELETE FROM keys
WHERE is_token AND least(expires_at, revoked_at) < $1;

-- fragment: holder
-- A token works only while every key and token among its ancestors exists and is not revoked. expires_at
-- is the earliest of them all. No credential of a suspended subject works.
SELECT
    keys.digest, keys.key_id, keys.tenant, keys.subject, keys.roles, keys.scopes, keys.filter,
    least(keys.expires_at, chain.expires_at) AS expires_at, keys.is_token, keys.issuer_key,
    keys.agents,
    tenants.access_revision, tenants.audience_revision, tenants.shares_answers,
    tenants.revision, everyone.revision AS public_revision, tenants.max_staleness_ms,
    tenants.questions_kept_days > 0 AS records_questions, tenants.counted_openings,
    tenants.quarantine, tenants.receives_public, (SELECT history FROM histories) AS history,
    ARRAY(
        SELECT group_id
        FROM (
            SELECT unnest(keys.groups)
            UNION
            SELECT group_id FROM group_members WHERE tenant = keys.tenant AND subject = keys.subject
        ) AS all_groups (group_id)
        WHERE allowed_groups IS NULL OR group_id = ANY (allowed_groups)
        ORDER BY 1
    ) AS groups
FROM keys
JOIN LATERAL (
    SELECT
        min(ancestors.expires_at) AS expires_at,
        count(*) FILTER (WHERE ancestors.revoked_at IS NULL) = cardinality(keys.ancestor_key_ids) AS is_live
    FROM keys AS ancestors
    WHERE ancestors.key_id = ANY (keys.ancestor_key_ids) AND ancestors.tenant = keys.tenant
) AS chain ON chain.is_live
JOIN tenants ON tenants.tenant = keys.tenant AND NOT tenants.is_being_deleted
    AND NOT EXISTS (
        SELECT FROM suspended_subjects
        WHERE suspended_subjects.tenant = keys.tenant AND suspended_subjects.subject = keys.subject
    )
JOIN tenants AS everyone ON everyone.tenant = 'public'

-- fragment: ended_here
-- By the transaction itself, which may end the rights with which it acts.
xmin = pg_current_xact_id()::xid

-- fragment: still_works
-- Whether no other transaction has ended the credential of a row `acting` of tenant, key or token, and
-- subject, or one that it was made with; without a key the subject alone is asked about.
NOT EXISTS (
    SELECT FROM suspended_subjects
    WHERE suspended_subjects.tenant = acting.tenant AND suspended_subjects.subject = acting.subject
      AND NOT :ended_here
)
AND (acting.key_id IS NULL OR EXISTS (
    SELECT FROM keys AS own WHERE own.tenant = acting.tenant AND own.key_id = acting.key_id AND (
        SELECT count(*) FROM keys
        WHERE keys.tenant = acting.tenant AND keys.key_id = ANY (own.ancestor_key_ids || own.key_id)
          AND (:ended_here OR revoked_at IS NULL AND least(expires_at, 'infinity') > clock_timestamp())
    ) = cardinality(own.ancestor_key_ids) + 1
))

-- name: has_rights
-- $1 tenant, $2 key or token, null for a web token, $3 subject.
WITH acting AS (SELECT tenant, $2::text AS key_id, $3::text AS subject FROM tenants WHERE tenant = $1)
SELECT :still_works FROM acting;

-- name: holder
-- $1 digest of the key: its holder, groups and revisions.
:holder WHERE keys.digest = $1 AND keys.revoked_at IS NULL;

-- name: holder_now
-- $1 tenant, $2 key: its holder, for a job that was requested with it.
:holder WHERE keys.tenant = $1 AND keys.key_id = $2 AND keys.revoked_at IS NULL;

-- name: holders_now
-- $1 tenant, $2 keys: their holders, as above.
:holder WHERE keys.tenant = $1 AND keys.key_id = ANY ($2::text[]) AND keys.revoked_at IS NULL;

-- name: of_subject
-- $1 tenant, $2 subject, $3 limit: its live keys and tokens, the newest first.
SELECT holder.*, keys.name
FROM (:holder WHERE keys.tenant = $1 AND keys.subject = $2 AND keys.revoked_at IS NULL) AS holder
JOIN keys USING (key_id)
WHERE holder.expires_at IS NULL OR holder.expires_at > now()
ORDER BY keys.created_at DESC, key_id LIMIT $3;

-- name: holders_of_group
-- $1 tenant, $2 subject, $3 group, $4 limit: the subject's live keys and tokens that name the group, keys
-- first.
SELECT key_id FROM keys
WHERE tenant = $1 AND subject = $2 AND $3 = ANY (groups)
  AND (allowed_groups IS NULL OR $3 = ANY (allowed_groups))
  AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
ORDER BY is_token, key_id LIMIT $4;

-- name: groups
-- $1 tenant, $2 subject.
SELECT group_id FROM group_members WHERE tenant = $1 AND subject = $2 ORDER BY group_id;

-- name: bearer
-- $1 tenant, $2 subject, $3 groups of a web token: all groups of the subject, and the revisions; no row if
-- the subject is suspended.
SELECT
    tenants.access_revision, tenants.audience_revision, tenants.shares_answers,
    tenants.revision, everyone.revision AS public_revision, tenants.max_staleness_ms,
    tenants.questions_kept_days > 0 AS records_questions, tenants.counted_openings,
    tenants.quarantine, tenants.receives_public, (SELECT history FROM histories) AS history,
    ARRAY(
        SELECT unnest($3::text[])
        UNION
        SELECT group_id FROM group_members WHERE tenant = $1 AND subject = $2
        ORDER BY 1
    ) AS groups
FROM tenants JOIN tenants AS everyone ON everyone.tenant = 'public'
WHERE tenants.tenant = $1 AND $1 <> 'public' AND NOT tenants.is_being_deleted
  AND NOT EXISTS (SELECT FROM suspended_subjects WHERE tenant = $1 AND subject = $2);
