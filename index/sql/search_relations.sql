-- What visible documents say of other documents.

-- uses: visibility
-- uses: search

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
FROM unnest($15::bigint[]) AS chosen (chosen_key)
CROSS JOIN LATERAL (
    SELECT document_key, tenant, document_id FROM documents
    WHERE documents.document_key = chosen_key
      AND ((tenant = $1 AND :is_admitted)
           OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others))
    OFFSET 0
) AS documents
JOIN replacing ON replacing.tenant = documents.tenant
    AND replacing.document_key <> documents.document_key
    AND replacing.replaces ? documents.document_id;
