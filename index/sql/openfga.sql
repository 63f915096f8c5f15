-- Relation tuples of OpenFGA. Rows are locked in this order: store, groups, keys, memberships, tenant, audit
-- log; and for readers: document, then its readers.

-- name: try_lead
-- $1 tenant: whether this session is, or becomes, the one whose process watches the tenant's store.
SELECT pg_try_advisory_lock(hashtext(current_schema() || ' nearhit openfga ' || $1::text)) AS is_leading;

-- name: add_store
-- $1 tenant.
INSERT INTO openfga_stores (tenant) SELECT tenant FROM tenants WHERE tenant = $1 AND NOT is_being_deleted
ON CONFLICT DO NOTHING;

-- name: get_store
-- $1 tenant.
SELECT * FROM openfga_stores WHERE tenant = $1;

-- name: move_store
-- $1 tenant, $2 the sequence that was read, then the new position; no row if another worker has moved it.
UPDATE openfga_stores SET
    sequence = sequence + 1, store_id = $3, meaning = $4, continuation_token = $5, changes_from = $6,
    changed_at = $7, read_at = $8
WHERE tenant = $1 AND sequence = $2
RETURNING sequence;

-- name: put_as_of
-- $1 tenant, $2 the sequence that was read, $3 a time: all that OpenFGA had by then is applied.
UPDATE openfga_stores SET as_of = greatest(as_of, $3) WHERE tenant = $1 AND sequence = $2;

-- name: as_of
-- $1 tenants.
SELECT tenant, as_of, extract(epoch FROM now() - as_of)::float8 AS lag_s FROM openfga_stores
WHERE tenant = ANY ($1::text[]) AND as_of IS NOT NULL;

-- name: delete_tuples
-- $1 tenant, $2 objects, $3 relations, $4 holders.
DELETE FROM openfga_tuples USING unnest($2::text[], $3::text[], $4::text[]) AS gone (object, relation, holder)
WHERE tenant = $1 AND openfga_tuples.object = gone.object AND openfga_tuples.relation = gone.relation
  AND openfga_tuples.holder = gone.holder
RETURNING kind, target;

-- name: all_tuples
-- $1 tenant.
SELECT object, relation, holder, kind, target, grantee FROM openfga_tuples WHERE tenant = $1;

-- name: put_tuples
-- $1 tenant, $2 objects, $3 relations, $4 holders, $5 kinds, $6 targets, $7 grantees.
INSERT INTO openfga_tuples (tenant, object, relation, holder, kind, target, grantee)
SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
ON CONFLICT (tenant, object, relation, holder) DO UPDATE
SET kind = excluded.kind, target = excluded.target, grantee = excluded.grantee
WHERE (openfga_tuples.kind, openfga_tuples.target, openfga_tuples.grantee)
    IS DISTINCT FROM (excluded.kind, excluded.target, excluded.grantee);

-- name: affected_groups
-- $1 tenant, $2 groups whose tuples have changed: these, and all groups that contain one of them.
WITH RECURSIVE affected (group_id) AS (
    SELECT unnest($2::text[])
    UNION
    SELECT target FROM openfga_tuples JOIN affected ON grantee = group_id
    WHERE openfga_tuples.tenant = $1 AND kind = 'nested'
)
SELECT group_id FROM affected ORDER BY group_id;

-- name: all_groups
-- $1 tenant.
SELECT target AS group_id FROM openfga_tuples WHERE tenant = $1 AND kind <> 'reader'
UNION
SELECT group_id FROM openfga_members WHERE tenant = $1
ORDER BY group_id;

-- name: members_by_tuples
-- $1 tenant, $2 groups, $3 how deep nested groups are followed: who is a member by the tuples.
WITH RECURSIVE contained (group_id, inner_id, depth) AS (
    SELECT requested, requested, 0 FROM unnest($2::text[]) AS requested
    UNION
    SELECT group_id, grantee, depth + 1 FROM contained JOIN openfga_tuples ON target = inner_id
    WHERE openfga_tuples.tenant = $1 AND kind = 'nested' AND depth < $3
)
SELECT DISTINCT group_id, grantee AS subject FROM contained JOIN openfga_tuples ON target = inner_id
WHERE openfga_tuples.tenant = $1 AND kind = 'member';

-- name: members
-- $1 tenant, $2 groups: who was a member by the tuples when these groups were last resolved.
SELECT group_id, subject FROM openfga_members WHERE tenant = $1 AND group_id = ANY ($2::text[]);

-- name: remove_members
-- $1 tenant, $2 groups, $3 subjects, pairwise.
DELETE FROM openfga_members USING unnest($2::text[], $3::text[]) AS gone (group_id, subject)
WHERE tenant = $1 AND openfga_members.group_id = gone.group_id AND openfga_members.subject = gone.subject;

-- name: add_members
-- $1 tenant, $2 groups, $3 subjects, pairwise.
INSERT INTO openfga_members (tenant, group_id, subject) SELECT $1, * FROM unnest($2::text[], $3::text[]);

-- name: memberships
-- $1 tenant, $2 groups: their members, also those that no tuple gave.
SELECT group_id, subject FROM group_members WHERE tenant = $1 AND group_id = ANY ($2::text[]);

-- name: create_groups
-- $1 tenant, $2 groups, sorted.
INSERT INTO groups (tenant, group_id) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING;

-- name: lock_groups
-- $1 tenant, $2 groups.
SELECT group_id FROM groups WHERE tenant = $1 AND group_id = ANY ($2::text[]) ORDER BY group_id FOR UPDATE;

-- name: lock_keys
-- $1 tenant, $2 groups, $3 subjects, pairwise: keys and tokens of the subject that name the group.
SELECT key_id FROM keys
WHERE tenant = $1 AND key_id = ANY (ARRAY(
    SELECT keys.key_id
    FROM unnest($2::text[], $3::text[]) AS membership (group_id, subject)
    JOIN keys ON keys.tenant = $1 AND keys.subject = membership.subject
    WHERE membership.group_id = ANY (keys.groups)
))
ORDER BY key_id FOR UPDATE;

-- name: strip_keys
-- As above: these keys lose these groups.
UPDATE keys SET groups = ARRAY(
    SELECT named FROM unnest(keys.groups) WITH ORDINALITY AS names (named, position)
    WHERE NOT EXISTS (
        SELECT FROM unnest($2::text[], $3::text[]) AS membership (group_id, subject)
        WHERE keys.subject = membership.subject AND membership.group_id = named
    )
    ORDER BY position
)
WHERE tenant = $1 AND EXISTS (
    SELECT FROM unnest($2::text[], $3::text[]) AS membership (group_id, subject)
    WHERE keys.subject = membership.subject AND membership.group_id = ANY (keys.groups)
);

-- name: remove_memberships
-- $1 tenant, $2 groups, $3 subjects, pairwise.
DELETE FROM group_members USING unnest($2::text[], $3::text[]) AS gone (group_id, subject)
WHERE tenant = $1 AND group_members.group_id = gone.group_id AND group_members.subject = gone.subject
RETURNING group_members.group_id, group_members.subject;

-- name: add_memberships
-- $1 tenant, $2 groups, $3 subjects, pairwise.
INSERT INTO group_members (tenant, group_id, subject)
SELECT $1, * FROM unnest($2::text[], $3::text[]) ON CONFLICT DO NOTHING
RETURNING group_id, subject;

-- name: readers_by_tuples
-- $1 tenant, $2 documents, null for all: their readers by the tuples.
SELECT DISTINCT target AS document_id, grantee AS reader FROM openfga_tuples
WHERE tenant = $1 AND kind = 'reader' AND ($2::text[] IS NULL OR target = ANY ($2));

-- name: readers
-- As above: their readers by the tuples when these were last read.
SELECT document_id, reader FROM openfga_readers
WHERE tenant = $1 AND NOT is_removed AND ($2::text[] IS NULL OR document_id = ANY ($2));

-- name: put_readers
-- $1 tenant, $2 documents, $3 readers, pairwise, $4 whether they were removed. The documents themselves
-- follow.
INSERT INTO openfga_readers (tenant, document_id, reader, is_removed)
SELECT $1, document_id, reader, $4 FROM unnest($2::text[], $3::text[]) AS given (document_id, reader)
ON CONFLICT (tenant, document_id, reader) DO UPDATE SET is_removed = excluded.is_removed;

-- name: revision
-- $1 tenant.
SELECT revision FROM tenants WHERE tenant = $1;

-- name: documents_to_restrict
-- $1 tenant, $2 the last document of the previous page, $3 limit.
SELECT DISTINCT document_id FROM openfga_readers
WHERE tenant = $1 AND is_removed AND document_id > $2 ORDER BY document_id LIMIT $3;

-- fragment: intended_readers
-- Also of a document in quarantine: those that it gets when it is ratified.
CASE
    WHEN provenance ? 'held_readers' THEN ARRAY(SELECT jsonb_array_elements_text(provenance -> 'held_readers'))
    ELSE readers
END

-- name: documents_to_share
-- As above, of $4 documents, null for all: those that exist and lack a reader that the tuples give them.
-- LATERAL looks up each document by itself, whatever the planner believes of the tables.
SELECT DISTINCT openfga_readers.document_id FROM openfga_readers
CROSS JOIN LATERAL (
    SELECT :intended_readers AS readers FROM documents
    WHERE documents.tenant = $1 AND documents.document_id = openfga_readers.document_id LIMIT 1
) AS written
WHERE tenant = $1 AND NOT is_removed AND NOT (reader = ANY (readers)) AND document_id > $2
  AND ($4::text[] IS NULL OR document_id = ANY ($4))
ORDER BY document_id LIMIT $3;

-- name: readers_of
-- $1 tenant, $2 document.
SELECT reader, is_removed FROM openfga_readers WHERE tenant = $1 AND document_id = $2 ORDER BY reader;

-- name: lock_readers
-- $1 tenant, $2 document.
SELECT reader, is_removed FROM openfga_readers WHERE tenant = $1 AND document_id = $2
ORDER BY reader FOR UPDATE;

-- name: forget_removed
-- $1 tenant, $2 document: of the readers that were removed, those that it no longer has.
DELETE FROM openfga_readers
WHERE tenant = $1 AND document_id = $2 AND is_removed
  AND NOT EXISTS (
      SELECT FROM documents
      WHERE documents.tenant = $1 AND documents.document_id = $2
        AND reader = ANY (:intended_readers)
  )
RETURNING reader;
