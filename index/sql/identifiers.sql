-- Subjects and groups, wherever they are stored, and their other spelling. The audit log keeps what it has.

-- name: case
SELECT identifier_case FROM identifier_cases;

-- name: put_case
INSERT INTO identifier_cases (identifier_case) VALUES ($1)
ON CONFLICT (singleton) DO UPDATE SET identifier_case = excluded.identifier_case;

-- name: has_tenants
SELECT EXISTS (SELECT FROM tenants WHERE tenant <> 'public') AS has_tenants;

-- name: spellings
-- Every identifier with what it names: `group`, `subject`, or `user` for the subject of a provisioned user;
-- `place`: an example of what holds it.
WITH tokens AS (
    SELECT tenant, unnest(allowed_tokens) AS token, 'the readers of documents' AS place FROM audiences
    UNION ALL
    SELECT tenant, unnest(readers), 'the events of documents' FROM event_versions
    UNION ALL
    SELECT tenant, unnest(readers), 'the readers of vector stores' FROM vector_stores
    UNION ALL
    SELECT tenant, reader, 'tuples of OpenFGA' FROM openfga_readers
    UNION ALL
    SELECT tenant, reader, 'readers that have ended' FROM ended_readers
    UNION ALL
    SELECT tenant, jsonb_array_elements_text(provenance -> 'held_readers'), 'readers of documents in quarantine'
    FROM documents WHERE provenance ? 'held_readers'
    UNION ALL
    SELECT tenant, jsonb_array_elements_text(quarantine -> 'readers'), 'readers of the quarantine' FROM tenants
),
identifiers AS (
    SELECT
        tenant,
        CASE WHEN token LIKE 'group:%' THEN 'group' ELSE 'subject' END AS kind,
        substr(token, strpos(token, ':') + 1) AS identifier,
        place
    FROM tokens WHERE token ~ '^(user|owner|group):'
    UNION ALL SELECT tenant, 'subject', subject, 'keys' FROM keys
    UNION ALL SELECT tenant, 'group', unnest(groups || coalesce(allowed_groups, '{}')), 'keys' FROM keys
    UNION ALL SELECT tenant, 'group', group_id, 'groups' FROM groups
    UNION ALL SELECT tenant, 'subject', subject, 'members of groups' FROM group_members
    UNION ALL SELECT tenant, 'user', subject, 'users of the identity provider' FROM provisioned_users
    UNION ALL SELECT tenant, 'subject', subject, 'subjects that have left' FROM suspended_subjects
    UNION ALL SELECT tenant, 'subject', provenance ->> 'subject', 'writers of documents' FROM documents
    UNION ALL SELECT tenant, 'subject', provenance ->> 'ratified_by', 'who ratified documents' FROM documents
    UNION ALL SELECT tenant, 'subject', owner, 'the events of documents' FROM event_versions
    UNION ALL SELECT tenant, 'subject', owner, 'the owners of vector stores' FROM vector_stores
    UNION ALL SELECT tenant, 'subject', subject, 'files' FROM files
    UNION ALL SELECT tenant, 'subject', subject, 'files of vector stores' FROM vector_store_files
    UNION ALL SELECT tenant, 'subject', subject, 'subscriptions' FROM subscriptions
    UNION ALL SELECT tenant, 'subject', subject, 'jobs' FROM jobs
    UNION ALL SELECT tenant, 'group', group_id, 'tuples of OpenFGA' FROM openfga_members
    UNION ALL SELECT tenant, 'subject', subject, 'tuples of OpenFGA' FROM openfga_members
)
SELECT tenant, kind, identifier, min(place) AS place FROM identifiers
WHERE identifier IS NOT NULL
GROUP BY tenant, kind, identifier ORDER BY tenant, kind, identifier;

-- fragment: respelled
-- Of every statement below: $1 tenants, $2 kinds, `group` or `subject`, $3 spellings, $4 the new ones.
respelled AS MATERIALIZED (
    SELECT tenant, kind, old, new
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (tenant, kind, old, new)
),
subjects AS MATERIALIZED (SELECT tenant, old, new FROM respelled WHERE kind = 'subject'),
group_names AS MATERIALIZED (SELECT tenant, old, new FROM respelled WHERE kind = 'group'),
tokens AS MATERIALIZED (
    SELECT tenant, prefix || old AS old, prefix || new AS new
    FROM respelled
    JOIN (VALUES ('subject', 'user:'), ('subject', 'owner:'), ('group', 'group:')) AS prefixes (kind, prefix)
        USING (kind)
)

-- name: respell_keys
WITH :respelled,
concerned AS (
    SELECT key_id FROM keys JOIN subjects ON subjects.tenant = keys.tenant AND old = subject
    UNION
    SELECT key_id
    FROM keys CROSS JOIN LATERAL unnest(groups || coalesce(allowed_groups, '{}')) AS held
    JOIN group_names ON group_names.tenant = keys.tenant AND old = held
)
UPDATE keys SET
    subject = coalesce(
        (SELECT new FROM subjects WHERE subjects.tenant = keys.tenant AND old = subject), subject
    ),
    groups = ARRAY(
        SELECT DISTINCT coalesce(new, held) FROM unnest(groups) AS held
        LEFT JOIN group_names ON group_names.tenant = keys.tenant AND old = held ORDER BY 1
    ),
    allowed_groups = CASE WHEN allowed_groups IS NOT NULL THEN ARRAY(
        SELECT DISTINCT coalesce(new, held) FROM unnest(allowed_groups) AS held
        LEFT JOIN group_names ON group_names.tenant = keys.tenant AND old = held ORDER BY 1
    ) END
FROM concerned WHERE keys.key_id = concerned.key_id;

-- name: respell_groups
-- The members follow by their foreign key, unless there is a group of the new name: then it takes them over.
WITH :respelled,
first_of AS (
    SELECT DISTINCT ON (groups.tenant, new) groups.tenant, group_id, new
    FROM groups JOIN group_names ON group_names.tenant = groups.tenant AND old = group_id
    WHERE NOT EXISTS (
        SELECT FROM groups AS same WHERE same.tenant = groups.tenant AND same.group_id = new
    )
    ORDER BY groups.tenant, new, display_name IS NULL, group_id
)
UPDATE groups SET group_id = new FROM first_of
WHERE groups.tenant = first_of.tenant AND groups.group_id = first_of.group_id;

-- name: merge_members
WITH :respelled
INSERT INTO group_members (tenant, group_id, subject)
SELECT DISTINCT
    group_members.tenant, coalesce(group_names.new, group_id), coalesce(subjects.new, subject)
FROM group_members
LEFT JOIN group_names ON group_names.tenant = group_members.tenant AND group_names.old = group_id
LEFT JOIN subjects ON subjects.tenant = group_members.tenant AND subjects.old = subject
WHERE group_names.new IS NOT NULL OR subjects.new IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: delete_members
WITH :respelled
DELETE FROM group_members USING subjects
WHERE subjects.tenant = group_members.tenant AND subjects.old = subject;

-- name: delete_groups
-- With their members, which the group of the new name has by now.
WITH :respelled
DELETE FROM groups USING group_names
WHERE group_names.tenant = groups.tenant AND group_names.old = group_id;

-- name: respell_users
WITH :respelled
UPDATE provisioned_users SET subject = new FROM subjects
WHERE subjects.tenant = provisioned_users.tenant AND old = subject;

-- name: suspend
WITH :respelled
INSERT INTO suspended_subjects (tenant, subject, suspended_at)
SELECT tenant, new, min(suspended_at) FROM suspended_subjects JOIN subjects USING (tenant)
WHERE old = subject GROUP BY tenant, new
ON CONFLICT DO NOTHING;

-- name: resume
-- An active user decides, and not an earlier name of the same person.
WITH :respelled
DELETE FROM suspended_subjects USING subjects
WHERE subjects.tenant = suspended_subjects.tenant AND (
    old = suspended_subjects.subject
    OR new = suspended_subjects.subject AND EXISTS (
        SELECT FROM provisioned_users AS users
        WHERE users.tenant = subjects.tenant AND users.subject = new AND users.is_active
    )
);

-- name: respell_documents
-- Their allowed tokens and audiences follow by a trigger. Returns the tenants whose documents have changed.
WITH :respelled,
concerned AS MATERIALIZED (
    SELECT DISTINCT audience_key
    FROM audiences CROSS JOIN LATERAL unnest(allowed_tokens) AS token
    JOIN tokens ON tokens.tenant = audiences.tenant AND old = token
),
changed AS (
    UPDATE documents SET
        owner = coalesce(
            (SELECT new FROM subjects WHERE subjects.tenant = documents.tenant AND old = owner), owner
        ),
        readers = ARRAY(
            SELECT coalesce(new, reader) FROM unnest(readers) WITH ORDINALITY AS listed (reader, position)
            LEFT JOIN tokens ON tokens.tenant = documents.tenant AND old = reader
            GROUP BY 1 ORDER BY min(position)
        )
    FROM concerned WHERE documents.audience_key = concerned.audience_key
    RETURNING documents.tenant, 'public' = ANY (readers) AS is_public
)
SELECT DISTINCT tenant FROM changed
UNION SELECT 'public' FROM changed WHERE is_public;

-- name: respell_provenance
WITH :respelled
UPDATE documents SET provenance = provenance
    || jsonb_strip_nulls(jsonb_build_object(
        'subject', (
            SELECT new FROM subjects
            WHERE subjects.tenant = documents.tenant AND old = provenance ->> 'subject'
        ),
        'ratified_by', (
            SELECT new FROM subjects
            WHERE subjects.tenant = documents.tenant AND old = provenance ->> 'ratified_by'
        ),
        'held_readers', CASE WHEN provenance ? 'held_readers' THEN (
            SELECT coalesce(jsonb_agg(DISTINCT coalesce(new, reader)), '[]')
            FROM jsonb_array_elements_text(provenance -> 'held_readers') AS reader
            LEFT JOIN tokens ON tokens.tenant = documents.tenant AND old = reader
        ) END
    ))
WHERE provenance ? 'held_readers' OR EXISTS (
    SELECT FROM subjects
    WHERE subjects.tenant = documents.tenant
      AND old IN (provenance ->> 'subject', provenance ->> 'ratified_by')
);

-- name: respell_quarantines
WITH :respelled
UPDATE tenants SET quarantine = jsonb_set(quarantine, ARRAY['readers'], (
    SELECT coalesce(jsonb_agg(DISTINCT coalesce(new, reader)), '[]')
    FROM jsonb_array_elements_text(quarantine -> 'readers') AS reader
    LEFT JOIN tokens ON tokens.tenant = tenants.tenant AND old = reader
))
WHERE quarantine IS NOT NULL;

-- name: respell_event_versions
WITH :respelled
UPDATE event_versions SET
    owner = coalesce(
        (SELECT new FROM subjects WHERE subjects.tenant = event_versions.tenant AND old = owner), owner
    ),
    readers = ARRAY(
        SELECT coalesce(new, reader) FROM unnest(readers) WITH ORDINALITY AS listed (reader, position)
        LEFT JOIN tokens ON tokens.tenant = event_versions.tenant AND old = reader
        GROUP BY 1 ORDER BY min(position)
    )
WHERE EXISTS (
    SELECT FROM tokens
    WHERE tokens.tenant = event_versions.tenant AND old = ANY (readers || ('owner:' || coalesce(owner, '')))
);

-- name: respell_vector_stores
WITH :respelled
UPDATE vector_stores SET
    owner = coalesce(
        (SELECT new FROM subjects WHERE subjects.tenant = vector_stores.tenant AND old = owner), owner
    ),
    readers = ARRAY(
        SELECT coalesce(new, reader) FROM unnest(readers) WITH ORDINALITY AS listed (reader, position)
        LEFT JOIN tokens ON tokens.tenant = vector_stores.tenant AND old = reader
        GROUP BY 1 ORDER BY min(position)
    )
WHERE EXISTS (
    SELECT FROM tokens
    WHERE tokens.tenant = vector_stores.tenant AND old = ANY (readers || ('owner:' || owner))
);

-- name: respell_vector_store_files
WITH :respelled
UPDATE vector_store_files SET subject = new FROM subjects
WHERE subjects.tenant = vector_store_files.tenant AND old = subject;

-- name: respell_files
WITH :respelled
UPDATE files SET subject = new FROM subjects WHERE subjects.tenant = files.tenant AND old = subject;

-- name: respell_subscriptions
WITH :respelled
UPDATE subscriptions SET subject = new FROM subjects
WHERE subjects.tenant = subscriptions.tenant AND old = subject;

-- name: respell_jobs
WITH :respelled
UPDATE jobs SET subject = new FROM subjects WHERE subjects.tenant = jobs.tenant AND old = subject;

-- name: respell_ended_readers
WITH :respelled
UPDATE ended_readers SET reader = new FROM tokens
WHERE tokens.tenant = ended_readers.tenant AND old = reader;

-- name: respell_tuples
WITH :respelled
UPDATE openfga_tuples AS tuples SET
    target = coalesce(
        (
            SELECT new FROM group_names
            WHERE group_names.tenant = tuples.tenant AND old = target AND tuples.kind <> 'reader'
        ),
        target
    ),
    grantee = coalesce(
        CASE tuples.kind
            WHEN 'member' THEN
                (SELECT new FROM subjects WHERE subjects.tenant = tuples.tenant AND old = grantee)
            WHEN 'nested' THEN
                (SELECT new FROM group_names WHERE group_names.tenant = tuples.tenant AND old = grantee)
            ELSE (SELECT new FROM tokens WHERE tokens.tenant = tuples.tenant AND old = grantee)
        END,
        grantee
    )
WHERE tenant IN (SELECT tenant FROM respelled);

-- name: merge_tuple_members
WITH :respelled
INSERT INTO openfga_members (tenant, group_id, subject)
SELECT DISTINCT members.tenant, coalesce(group_names.new, group_id), coalesce(subjects.new, subject)
FROM openfga_members AS members
LEFT JOIN group_names ON group_names.tenant = members.tenant AND group_names.old = group_id
LEFT JOIN subjects ON subjects.tenant = members.tenant AND subjects.old = subject
WHERE group_names.new IS NOT NULL OR subjects.new IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: delete_tuple_members
WITH :respelled
DELETE FROM openfga_members AS members USING respelled
WHERE respelled.tenant = members.tenant
  AND old = CASE kind WHEN 'group' THEN group_id ELSE subject END;

-- name: merge_tuple_readers
WITH :respelled
INSERT INTO openfga_readers AS kept (tenant, document_id, reader, is_removed)
SELECT tenant, document_id, new, bool_and(is_removed)
FROM openfga_readers JOIN tokens USING (tenant) WHERE old = reader
GROUP BY tenant, document_id, new
ON CONFLICT (tenant, document_id, reader) DO UPDATE SET is_removed = kept.is_removed AND excluded.is_removed;

-- name: delete_tuple_readers
WITH :respelled
DELETE FROM openfga_readers USING tokens
WHERE tokens.tenant = openfga_readers.tenant AND old = reader;

-- name: respell_words
-- A word that the new token has already stays under the old one, which nobody holds.
WITH :respelled
UPDATE restricted_words AS words SET token = new FROM tokens
WHERE tokens.tenant = words.tenant AND old = words.token AND NOT EXISTS (
    SELECT FROM restricted_words AS same
    WHERE same.tenant = words.tenant AND same.word = words.word AND same.token = new
);

-- name: note_words
WITH :respelled
INSERT INTO groups_with_words (tenant, token)
SELECT DISTINCT tenant, new FROM groups_with_words JOIN tokens USING (tenant) WHERE old = token
ON CONFLICT DO NOTHING;

-- name: skip_revisions
-- $1 tenants whose identifiers have changed, $2 of these and the public partition, those whose documents
-- have: a revision without a row in the change log, so that each cache and each shard begins anew.
UPDATE tenants SET
    access_revision = access_revision + 1,
    revision = revision + (tenant = ANY ($2::text[]))::integer
WHERE tenant = ANY ($1::text[] || $2::text[]);

-- name: log
-- $1 tenant, $2 how many identifiers have another spelling now.
SELECT audit_append($1, NULL, 'system', 'identifiers.respell', '', jsonb_build_object('identifiers', $2::integer));
