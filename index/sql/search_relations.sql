-- What visible documents say of other documents.

-- uses: visibility
-- uses: search

-- fragment: chosen_documents
-- Those of the documents $15 that the scope admits.
unnest($15::bigint[]) AS chosen (chosen_key)
CROSS JOIN LATERAL (
    SELECT document_key, tenant, document_id FROM documents
    WHERE documents.document_key = chosen_key
      AND ((tenant = $1 AND :is_admitted)
           OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others))
    OFFSET 0
) AS documents

-- name: replaced
-- $1 to $14 as in search.sql, $15 documents: those that a visible document of their tenant replaces, as
-- `replaces` in its metadata says: one document or a list. A document without chunks replaces none: the
-- change log names a document's changes by its chunks.
WITH admitted AS MATERIALIZED (:admitted),
replacing AS (
    SELECT document_key, tenant, metadata -> 'replaces' AS replaces FROM documents
    WHERE :is_own AND chunks > 0 AND metadata ? 'replaces' AND :passes_filter
    UNION ALL
    SELECT document_key, tenant, metadata -> 'replaces' FROM documents
    WHERE :includes_others AND tenant <> $1 AND 'public' = ANY (readers) AND chunks > 0
      AND metadata ? 'replaces' AND :passes_filter AND NOT :is_of_deleted_tenant
)
SELECT DISTINCT documents.document_key
FROM :chosen_documents
JOIN replacing ON replacing.tenant = documents.tenant
    AND replacing.document_key <> documents.document_key
    AND replacing.replaces ? documents.document_id;

-- fragment: naming_fields
SELECT document_key, tenant, document_id, title, source, uri, language, metadata

-- name: related
-- $1 to $14 as in search.sql, $15 documents, $16 relations, in their order, $17 the most related documents of
-- each: the visible documents that these name in their metadata, and those that name them. A document
-- without chunks is related to none, as above. Only a document of the same tenant can be named.
WITH admitted AS MATERIALIZED (:admitted),
chosen AS MATERIALIZED (
    SELECT documents.*
    FROM :chosen_documents
),
naming AS MATERIALIZED (
    :naming_fields FROM documents
    WHERE :is_own AND chunks > 0 AND metadata ?| $16::text[] AND :passes_filter
    UNION ALL
    :naming_fields FROM documents
    WHERE :includes_others AND tenant <> $1 AND 'public' = ANY (readers) AND chunks > 0
      AND metadata ?| $16 AND :passes_filter AND NOT :is_of_deleted_tenant
),
named AS MATERIALIZED (
    SELECT naming.*, relation, position, item #>> '{}' AS named_id
    FROM naming
    CROSS JOIN LATERAL unnest($16) WITH ORDINALITY AS relations (relation, position)
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(metadata -> relation)
            WHEN 'array' THEN metadata -> relation
            ELSE jsonb_build_array(metadata -> relation)
        END
    ) AS items (item)
    WHERE jsonb_typeof(item) = 'string'
),
outgoing AS (
    SELECT
        named.document_key, relation, position, 'outgoing' AS direction, others.tenant, others.document_id,
        others.title, others.source, others.uri, others.language
    FROM named JOIN chosen USING (document_key)
    CROSS JOIN LATERAL (
        SELECT document_key, tenant, document_id, title, source, uri, language FROM documents
        WHERE documents.tenant = named.tenant AND documents.document_id = named.named_id AND chunks > 0
          AND ((tenant = $1 AND $13 AND :is_admitted)
               OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others))
          AND :passes_filter
        OFFSET 0
    ) AS others
    WHERE others.document_key <> named.document_key
),
incoming AS (
    SELECT
        chosen.document_key, relation, position, 'incoming' AS direction, named.tenant, named.document_id,
        title, source, uri, language
    FROM named JOIN chosen ON chosen.tenant = named.tenant AND chosen.document_id = named.named_id
    WHERE chosen.document_key <> named.document_key
),
ranked AS (
    SELECT *, row_number() OVER (
        PARTITION BY document_key ORDER BY position, direction DESC, document_id COLLATE "C"
    ) AS rank
    FROM (SELECT * FROM outgoing UNION SELECT * FROM incoming) AS found
)
SELECT document_key, relation, direction, tenant, document_id, title, source, uri, language
FROM ranked WHERE rank <= $17::integer ORDER BY document_key, rank;

-- fragment: can_be_found
-- A search of the caller can give it.
is_active AND :passes_filter
AND (
    (tenant = $1 AND $13 AND :is_admitted)
    OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others AND NOT :is_of_deleted_tenant)
)

-- name: held
-- $1 to $14 as in search.sql. $15 JSON, of the passages that the caller was given before, in their order: `chunks`,
-- `tenants` and `documents` of each, or null. $16 and $17: the least revision of the tenant and of the public
-- partition that one came with, or null; $18, $19 and $20 the most changes since, added chunks and characters of
-- these to read.
-- One row: of visible chunks the documents, of visible documents the fields, what replaces them, and what was
-- written and added since. What no search can find looks like what does not exist.
--
-- Each table is read by an array of keys, and each document is admitted once. IN (…) IS TRUE is a hashed subplan,
-- where a join may compare each row with each.
WITH admitted AS MATERIALIZED (:admitted),
held AS MATERIALIZED (
    SELECT * FROM json_to_record($15::json) AS held (chunks bigint[], tenants text[], documents text[])
),
held_chunks AS MATERIALIZED (
    SELECT chunk_id, document_key FROM chunk_texts WHERE chunk_id = ANY ((SELECT chunks FROM held)::bigint[])
),
of_chunks AS MATERIALIZED (
    SELECT document_key, tenant, document_id, updated_at FROM documents
    WHERE document_key = ANY (ARRAY(SELECT DISTINCT document_key FROM held_chunks)) AND :can_be_found
),
found_chunks AS MATERIALIZED (
    SELECT chunk_id, document_key FROM held_chunks
    WHERE (document_key IN (SELECT document_key FROM of_chunks)) IS TRUE
),
named AS MATERIALIZED (
    SELECT DISTINCT held_tenant, held_document
    FROM held CROSS JOIN LATERAL
        unnest(chunks, tenants, documents) AS passages (held_chunk, held_tenant, held_document)
    WHERE held_document IS NOT NULL AND (held_chunk IN (SELECT chunk_id FROM found_chunks)) IS NOT TRUE
),
of_names AS MATERIALIZED (
    SELECT document_key, tenant, document_id, updated_at FROM documents
    WHERE tenant = $1 AND document_id = ANY (ARRAY(SELECT held_document FROM named WHERE held_tenant = $1))
      AND :can_be_found
    UNION ALL
    SELECT of_others.* FROM named CROSS JOIN LATERAL (
        SELECT document_key, tenant, document_id, updated_at FROM documents
        WHERE tenant = held_tenant AND document_id = held_document AND :can_be_found
        OFFSET 0
    ) AS of_others
    WHERE held_tenant <> $1
),
found AS MATERIALIZED (SELECT * FROM of_chunks UNION ALL SELECT * FROM of_names),
replacing AS (
    SELECT tenant, document_id, metadata -> 'replaces' AS replaces FROM documents
    WHERE :is_own AND chunks > 0 AND metadata ? 'replaces' AND :passes_filter
    UNION ALL
    SELECT tenant, document_id, metadata -> 'replaces' FROM documents
    WHERE :includes_others AND tenant <> $1 AND 'public' = ANY (readers) AND chunks > 0
      AND metadata ? 'replaces' AND :passes_filter AND NOT :is_of_deleted_tenant
),
replaced AS MATERIALIZED (
    SELECT tenant, replaced_id #>> '{}' AS replaced_id, min(document_id) AS replaced_by
    FROM replacing CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(replaces) WHEN 'array' THEN replaces ELSE jsonb_build_array(replaces) END
    ) AS items (replaced_id)
    WHERE (replaced_id IN (SELECT to_jsonb(document_id) FROM found)) IS TRUE
      AND replaced_id <> to_jsonb(document_id)
    GROUP BY tenant, replaced_id
),
later AS MATERIALIZED (
    SELECT tenant AS partition, revision, committed_at, added_chunks FROM change_log
    WHERE (tenant = $1 AND revision > $16::bigint) OR (tenant = 'public' AND revision > $17::bigint)
),
few AS MATERIALIZED (
    SELECT
        CASE
            WHEN (SELECT count(*) FROM later) > $18::bigint THEN false
            ELSE (SELECT coalesce(sum(cardinality(added_chunks)), 0) FROM later) <= $19::bigint
        END AS are_few
),
added AS MATERIALIZED (
    SELECT partition, revision, chunks.*, sum(length(text)) OVER (ORDER BY chunk_id) AS characters
    FROM later CROSS JOIN LATERAL unnest(added_chunks) AS added_chunk
    CROSS JOIN LATERAL (
        SELECT chunk_id, document_key, start_at, end_at, text FROM chunk_texts
        WHERE chunk_id = added_chunk AND (document_key IN (SELECT document_key FROM found)) IS TRUE
        OFFSET 0
    ) AS chunks
    WHERE (SELECT are_few FROM few)
)
SELECT *
FROM (
    SELECT array_agg(chunk_id) AS chunk_ids, array_agg(document_key) AS chunk_documents FROM found_chunks
) AS of_chunks
CROSS JOIN (
    SELECT
        array_agg(document_key) AS document_keys, array_agg(tenant) AS tenants,
        array_agg(document_id) AS document_ids, array_agg(updated_at) AS updated_at
    FROM found
) AS of_documents
CROSS JOIN (
    SELECT
        array_agg(tenant) AS replaced_tenants, array_agg(replaced_id) AS replaced_ids,
        array_agg(replaced_by) AS replaced_by
    FROM replaced
) AS of_replaced
CROSS JOIN (
    SELECT
        array_agg(partition) AS written_partitions, array_agg(revision) AS written_revisions,
        array_agg(committed_at) AS written_at
    FROM later WHERE (committed_at IN (SELECT updated_at FROM found)) IS TRUE
) AS of_written
CROSS JOIN (
    SELECT
        (SELECT min(revision) FROM change_log WHERE tenant = $1) AS tenant_oldest,
        (SELECT min(revision) FROM change_log WHERE tenant = 'public') AS public_oldest
) AS of_stored
CROSS JOIN (
    SELECT are_few AND coalesce((SELECT max(characters) FROM added), 0) <= $20::bigint AS is_whole FROM few
) AS of_whole
CROSS JOIN LATERAL (
    SELECT
        array_agg(partition) AS added_partitions, array_agg(revision) AS added_revisions,
        array_agg(document_key) AS added_documents, array_agg(chunk_id) AS added_ids,
        array_agg(start_at) AS added_starts, array_agg(end_at) AS added_ends, array_agg(text) AS added_texts
    FROM added WHERE is_whole
) AS of_added;
