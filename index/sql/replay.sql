-- Answers of earlier revisions: what rows were is kept by the triggers below, and read by statements of
-- searches in place of the tables.

-- name: triggers
-- The names of those that exist. They are made when the first tenant keeps past versions, so that writes of
-- a deployment without one cost nothing. One process at a time makes them.
SELECT tgname::text AS name
FROM pg_advisory_xact_lock(6324275) CROSS JOIN LATERAL (SELECT tgname, tgrelid FROM pg_trigger OFFSET 0) AS made
WHERE tgname LIKE 'keep\_past\_%' AND tgrelid IN (
    'documents'::regclass, 'document_texts'::regclass, 'chunks'::regclass, 'chunk_texts'::regclass,
    'group_members'::regclass, 'tenants'::regclass
);

-- name: keep_past_documents
CREATE CONSTRAINT TRIGGER keep_past_documents AFTER INSERT OR UPDATE OR DELETE ON documents
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_past_version('documents');

-- name: keep_past_document_texts
CREATE CONSTRAINT TRIGGER keep_past_document_texts AFTER INSERT OR UPDATE OR DELETE ON document_texts
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_past_version('document_texts');

-- name: keep_past_chunks
CREATE CONSTRAINT TRIGGER keep_past_chunks AFTER INSERT OR UPDATE OR DELETE ON chunks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_past_version('chunks');

-- name: keep_past_chunk_texts
CREATE CONSTRAINT TRIGGER keep_past_chunk_texts AFTER INSERT OR UPDATE OR DELETE ON chunk_texts
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_past_version('chunk_texts');

-- name: keep_past_group_members
CREATE CONSTRAINT TRIGGER keep_past_group_members AFTER INSERT OR UPDATE OR DELETE ON group_members
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_past_version('group_members');

-- name: keep_past_revisions
CREATE CONSTRAINT TRIGGER keep_past_revisions AFTER UPDATE OF revision ON tenants
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_past_revision();

-- name: keep
-- $1 tenant, $2 days: keep past versions from now on, or for another time. The tenant's row is locked, so that
-- the triggers see the window from the next revision on.
WITH locked AS MATERIALIZED (
    SELECT tenant, revision, vocabulary_size, languages, embedding_space, analyser, confidence
    FROM tenants WHERE tenant = $1 AND NOT is_being_deleted FOR UPDATE
),
kept AS (
    INSERT INTO past_windows (tenant, days, revision) SELECT tenant, $2, revision FROM locked
    ON CONFLICT (tenant) DO UPDATE SET
        days = excluded.days,
        revision = CASE WHEN past_windows.days = 0 THEN excluded.revision ELSE past_windows.revision END
),
first_revision AS (
    INSERT INTO past_revisions
        (tenant, revision, vocabulary_size, languages, embedding_space, analyser, confidence)
    SELECT
        tenant, revision, vocabulary_size, languages,
        coalesce(locked.embedding_space, index_meta.embedding_space),
        coalesce(locked.analyser, index_meta.analyser), confidence
    FROM locked CROSS JOIN index_meta
    ON CONFLICT DO NOTHING
)
SELECT count(*) FROM locked;

-- name: keep_none
-- $1 tenant: nothing can be given again from now on; `prune` deletes what is kept.
WITH ended AS (
    UPDATE past_windows SET days = 0, revision = tenants.revision + 1
    FROM tenants WHERE past_windows.tenant = $1 AND tenants.tenant = $1
)
DELETE FROM past_revisions WHERE tenant = $1;

-- name: window
-- $1 tenant: what it keeps, and the bytes that this takes; no row if it keeps nothing.
SELECT
    days, past_windows.revision, forgotten_revision, tenants.revision AS current_revision,
    (
        SELECT committed_at FROM past_revisions
        WHERE past_revisions.tenant = $1 AND past_revisions.revision = past_windows.revision
    ) AS since,
    (SELECT count(*) FROM past_documents WHERE tenant = $1) AS documents,
    (SELECT count(*) FROM past_chunks WHERE tenant = $1) AS chunks,
    (SELECT coalesce(sum(pg_column_size(past.*)), 0) FROM past_documents AS past WHERE tenant = $1)
    + (SELECT coalesce(sum(pg_column_size(past.*)), 0) FROM past_document_texts AS past WHERE tenant = $1)
    + (SELECT coalesce(sum(pg_column_size(past.*)), 0) FROM past_chunks AS past WHERE tenant = $1)
    + (SELECT coalesce(sum(pg_column_size(past.*)), 0) FROM past_chunk_texts AS past WHERE tenant = $1)
    + (SELECT coalesce(sum(pg_column_size(past.*)), 0) FROM past_begins AS past WHERE tenant = $1) AS bytes
FROM past_windows JOIN tenants USING (tenant) WHERE tenant = $1 AND days > 0;

-- name: at
-- $1 tenant, $2 revision: what an answer needs to know before it is given again; no row if the revision is
-- outside of the window.
SELECT
    past_revisions.embedding_space, past_revisions.analyser, past_revisions.languages,
    past_revisions.vocabulary_size, (SELECT history FROM histories) AS history,
    past_windows.forgotten_revision <= $2 AS is_complete, tenants.revision AS current_revision,
    set_config('nearhit.past_tenant', $1, true), set_config('nearhit.past_revision', $2::bigint::text, true)
FROM past_windows
JOIN past_revisions USING (tenant)
JOIN tenants USING (tenant)
WHERE past_windows.tenant = $1 AND days > 0
  AND past_windows.revision <= $2 AND past_revisions.revision = $2;

-- name: see_documents
-- Until the transaction ends, statements that name a table read these rows instead: a temporary view hides
-- the table of its name. What is read belongs to one tenant.
CREATE TEMPORARY VIEW documents AS
SELECT
    document_key, tenant, document_id, source, title, uri, language, tags, metadata, chunker, summaries,
    owner, readers, allowed_tokens, audience_key, is_active, chunks, sample_rank, provenance, created_at,
    updated_at
FROM documents
WHERE tenant = current_setting('nearhit.past_tenant') AND NOT EXISTS (
    SELECT FROM past_begins
    WHERE relation = 'documents' AND row_key = document_key
      AND past_begins.revision > current_setting('nearhit.past_revision')::bigint
)
UNION ALL
SELECT
    document_key, tenant, document_id, source, title, uri, language, tags, metadata, chunker, summaries,
    owner, readers, allowed_tokens, audience_key, is_active, chunks, sample_rank, provenance, created_at,
    updated_at
FROM past_documents
WHERE tenant = current_setting('nearhit.past_tenant')
  AND int8range(began, ended) @> current_setting('nearhit.past_revision')::bigint;

-- name: see_document_texts
CREATE TEMPORARY VIEW document_texts AS
SELECT document_key, text FROM document_texts
WHERE NOT EXISTS (
    SELECT FROM past_begins
    WHERE relation = 'document_texts' AND row_key = document_key
      AND past_begins.revision > current_setting('nearhit.past_revision')::bigint
)
UNION ALL
SELECT document_key, text FROM past_document_texts
WHERE tenant = current_setting('nearhit.past_tenant')
  AND began <= current_setting('nearhit.past_revision')::bigint
  AND ended > current_setting('nearhit.past_revision')::bigint;

-- name: see_chunks
-- All in the tenant's partition of today.
CREATE TEMPORARY VIEW chunks AS
SELECT partition_no, chunk_id, tenant, document_key, dense, lexical FROM chunks
WHERE tenant = current_setting('nearhit.past_tenant') AND NOT EXISTS (
    SELECT FROM past_begins
    WHERE relation = 'chunks' AND row_key = chunk_id
      AND past_begins.revision > current_setting('nearhit.past_revision')::bigint
)
UNION ALL
SELECT
    (SELECT partition_no FROM tenants WHERE tenants.tenant = past_chunks.tenant), chunk_id, tenant, document_key,
    dense, lexical
FROM past_chunks
WHERE tenant = current_setting('nearhit.past_tenant')
  AND int8range(began, ended) @> current_setting('nearhit.past_revision')::bigint;

-- name: see_chunk_texts
CREATE TEMPORARY VIEW chunk_texts AS
SELECT chunk_id, document_key, digest, start_at, end_at, text FROM chunk_texts
WHERE NOT EXISTS (
    SELECT FROM past_begins
    WHERE relation = 'chunk_texts' AND row_key = chunk_id
      AND past_begins.revision > current_setting('nearhit.past_revision')::bigint
)
UNION ALL
SELECT chunk_id, document_key, digest, start_at, end_at, text FROM past_chunk_texts
WHERE tenant = current_setting('nearhit.past_tenant')
  AND began <= current_setting('nearhit.past_revision')::bigint
  AND ended > current_setting('nearhit.past_revision')::bigint;

-- name: see_audiences
-- Also those that no document had at the revision: they admit nothing.
CREATE TEMPORARY VIEW audiences AS
SELECT audience_key, tenant, allowed_tokens FROM audiences
WHERE tenant = current_setting('nearhit.past_tenant')
UNION
SELECT audience_key, tenant, allowed_tokens FROM past_documents
WHERE tenant = current_setting('nearhit.past_tenant')
  AND int8range(began, ended) @> current_setting('nearhit.past_revision')::bigint;

-- name: see_vocabulary
-- Without the words that were learned later.
CREATE TEMPORARY VIEW vocabulary AS
SELECT tenant, word FROM vocabulary
WHERE tenant = current_setting('nearhit.past_tenant') AND NOT EXISTS (
    SELECT FROM past_revisions
    WHERE past_revisions.tenant = vocabulary.tenant AND written_by = learned_by
      AND past_revisions.revision > current_setting('nearhit.past_revision')::bigint
);

-- name: see_restricted_words
CREATE TEMPORARY VIEW restricted_words AS
SELECT tenant, token, word FROM restricted_words
WHERE tenant = current_setting('nearhit.past_tenant') AND NOT EXISTS (
    SELECT FROM past_revisions
    WHERE past_revisions.tenant = restricted_words.tenant AND written_by = learned_by
      AND past_revisions.revision > current_setting('nearhit.past_revision')::bigint
);

-- name: see_group_members
CREATE TEMPORARY VIEW group_members AS
SELECT tenant, group_id, subject FROM group_members
WHERE tenant = current_setting('nearhit.past_tenant') AND NOT EXISTS (
    SELECT FROM past_begins
    WHERE relation = 'group_members' AND row_key = member_key
      AND past_begins.revision > current_setting('nearhit.past_revision')::bigint
)
UNION ALL
SELECT tenant, group_id, subject FROM past_group_members
WHERE tenant = current_setting('nearhit.past_tenant')
  AND int8range(began, ended) @> current_setting('nearhit.past_revision')::bigint;

-- name: see_tenants
-- The tenant's row, and that of public documents of others: none is seen.
CREATE TEMPORARY VIEW tenants AS
SELECT
    tenant, is_being_deleted, past_revisions.revision, access_revision, audience_revision,
    past_revisions.vocabulary_size, chunks, 0::bigint AS public_chunks, past_revisions.languages,
    partition_no, past_revisions.embedding_space, past_revisions.confidence
FROM tenants JOIN past_revisions USING (tenant)
WHERE tenant = current_setting('nearhit.past_tenant')
  AND past_revisions.revision = current_setting('nearhit.past_revision')::bigint
UNION ALL
SELECT
    tenant, is_being_deleted, 0, 0, 0, 0, 0, 0, '{}', partition_no, NULL, NULL
FROM tenants WHERE tenant = 'public';

-- name: changes
-- $1 tenant, $2 revision: when it was committed, and the documents that are other ones from it on; the first
-- $3 by their names.
SELECT
    committed_at,
    ARRAY(
        SELECT DISTINCT document_id FROM (
            SELECT document_id FROM past_documents WHERE tenant = $1 AND ended = $2
            UNION ALL
            SELECT document_id FROM documents
            JOIN past_begins ON relation = 'documents' AND row_key = document_key
            WHERE past_begins.tenant = $1 AND past_begins.revision = $2 AND documents.tenant = $1
            UNION ALL
            SELECT document_id FROM past_documents WHERE tenant = $1 AND began = $2
        ) AS changed
        ORDER BY document_id LIMIT $3
    ) AS documents
FROM past_revisions WHERE tenant = $1 AND revision = $2;

-- name: groups
-- $1 tenant, $2 subject
SELECT group_id FROM group_members WHERE tenant = $1 AND subject = $2 ORDER BY group_id;

-- name: shorten
-- A window begins at the last revision that is older than its days.
WITH due AS MATERIALIZED (
    SELECT tenant, max(past_revisions.revision) AS revision
    FROM past_windows JOIN past_revisions USING (tenant)
    WHERE days > 0 AND committed_at < now() - days * interval '1 day'
    GROUP BY tenant
),
shortened AS (
    UPDATE past_windows SET revision = due.revision
    FROM due WHERE due.tenant = past_windows.tenant AND due.revision > past_windows.revision
)
DELETE FROM past_revisions USING due
WHERE past_revisions.tenant = due.tenant AND past_revisions.revision < due.revision;

-- name: prune
-- $1 limit of each table and tenant: delete what is older than the windows; the number of rows.
WITH documents AS (
    DELETE FROM past_documents WHERE ctid = ANY (ARRAY(
        SELECT past.ctid FROM past_windows CROSS JOIN LATERAL (
            SELECT ctid FROM past_documents AS past
            WHERE past.tenant = past_windows.tenant AND ended <= past_windows.revision LIMIT $1
        ) AS past
    )) RETURNING true
),
document_texts AS (
    DELETE FROM past_document_texts WHERE ctid = ANY (ARRAY(
        SELECT past.ctid FROM past_windows CROSS JOIN LATERAL (
            SELECT ctid FROM past_document_texts AS past
            WHERE past.tenant = past_windows.tenant AND ended <= past_windows.revision LIMIT $1
        ) AS past
    )) RETURNING true
),
chunks AS (
    DELETE FROM past_chunks WHERE ctid = ANY (ARRAY(
        SELECT past.ctid FROM past_windows CROSS JOIN LATERAL (
            SELECT ctid FROM past_chunks AS past
            WHERE past.tenant = past_windows.tenant AND ended <= past_windows.revision LIMIT $1
        ) AS past
    )) RETURNING true
),
chunk_texts AS (
    DELETE FROM past_chunk_texts WHERE ctid = ANY (ARRAY(
        SELECT past.ctid FROM past_windows CROSS JOIN LATERAL (
            SELECT ctid FROM past_chunk_texts AS past
            WHERE past.tenant = past_windows.tenant AND ended <= past_windows.revision LIMIT $1
        ) AS past
    )) RETURNING true
),
group_members AS (
    DELETE FROM past_group_members WHERE ctid = ANY (ARRAY(
        SELECT past.ctid FROM past_windows CROSS JOIN LATERAL (
            SELECT ctid FROM past_group_members AS past
            WHERE past.tenant = past_windows.tenant AND ended <= past_windows.revision LIMIT $1
        ) AS past
    )) RETURNING true
),
begins AS (
    DELETE FROM past_begins WHERE ctid = ANY (ARRAY(
        SELECT past.ctid FROM past_windows CROSS JOIN LATERAL (
            SELECT ctid FROM past_begins
            WHERE past_begins.tenant = past_windows.tenant
              AND past_begins.revision <= past_windows.revision LIMIT $1
        ) AS past
    )) RETURNING true
)
SELECT count(*) FROM (
    TABLE documents UNION ALL TABLE document_texts UNION ALL TABLE chunks UNION ALL TABLE chunk_texts
    UNION ALL TABLE group_members UNION ALL TABLE begins
) AS deleted;
