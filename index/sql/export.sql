-- The content of an exported tenant; all statements run in one snapshot.

-- name: tenant
-- $1 tenant, here and below
SELECT name, revision FROM tenants WHERE tenant = $1 AND tenant <> 'public' AND NOT is_being_deleted;

-- name: groups
SELECT
    group_id AS "group",
    ARRAY(
        SELECT subject FROM group_members
        WHERE group_members.tenant = $1 AND group_members.group_id = groups.group_id ORDER BY subject
    ) AS members
FROM groups WHERE tenant = $1 ORDER BY group_id;

-- name: sources
-- Sources that Nearhit reads; an import creates the others with their documents.
SELECT source, kind AS reads, settings, schedule FROM sources
WHERE tenant = $1 AND kind IS NOT NULL ORDER BY source;

-- name: count
SELECT count(*) FROM documents WHERE tenant = $1;

-- name: documents
-- $2 the last document of the previous page, $3 limit; in the order of the index `documents_document_id`.
SELECT
    document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    is_active, provenance, document_texts.text
FROM documents JOIN document_texts USING (document_key)
WHERE tenant = $1 AND document_id ~>~ $2 ORDER BY document_id USING ~<~ LIMIT $3;
