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
-- $1 to $14 as in search.sql; of each passage that the caller was given before, in their order: $15 its chunk or
-- null, $16 the tenant and $17 the identifier of its document, or null. What no search can find looks like what
-- does not exist.
WITH admitted AS MATERIALIZED (:admitted),
found AS MATERIALIZED (
    SELECT place, of_chunk.document_key IS NOT NULL AS has_chunk, of_passage.*
    FROM unnest($15::bigint[], $16::text[], $17::text[])
        WITH ORDINALITY AS held (held_chunk, held_tenant, held_document, place)
    LEFT JOIN LATERAL (
        SELECT document_key, tenant, document_id, updated_at
        FROM chunk_texts JOIN documents USING (document_key)
        WHERE chunk_texts.chunk_id = held_chunk AND :can_be_found
        OFFSET 0
    ) AS of_chunk ON true
    LEFT JOIN LATERAL (
        SELECT of_chunk.* WHERE of_chunk.document_key IS NOT NULL
        UNION ALL
        SELECT document_key, tenant, document_id, updated_at
        FROM documents
        WHERE of_chunk.document_key IS NULL
          AND tenant = held_tenant AND document_id = held_document AND :can_be_found
    ) AS of_passage ON true
),
replacing AS (
    SELECT tenant, document_id, metadata -> 'replaces' AS replaces FROM documents
    WHERE :is_own AND chunks > 0 AND metadata ? 'replaces' AND :passes_filter
    UNION ALL
    SELECT tenant, document_id, metadata -> 'replaces' FROM documents
    WHERE :includes_others AND tenant <> $1 AND 'public' = ANY (readers) AND chunks > 0
      AND metadata ? 'replaces' AND :passes_filter AND NOT :is_of_deleted_tenant
),
replaced AS MATERIALIZED (
    SELECT tenant, replaced_id, min(document_id) AS replaced_by
    FROM replacing CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(replaces) WHEN 'array' THEN replaces ELSE jsonb_build_array(replaces) END
    ) AS items (replaced_id)
    -- IS TRUE keeps it a hashed subplan: each replaced document is looked up once, where a join may compare
    -- it with each passage.
    WHERE (replaced_id IN (SELECT to_jsonb(document_id) FROM found WHERE document_id IS NOT NULL)) IS TRUE
      AND replaced_id <> to_jsonb(document_id)
    GROUP BY tenant, replaced_id
)
SELECT has_chunk, document_key IS NOT NULL AS has_document, updated_at, replaced_by
FROM found
LEFT JOIN replaced ON replaced.tenant = found.tenant AND replaced_id = to_jsonb(found.document_id)
ORDER BY place;
