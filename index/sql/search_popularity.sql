-- How popular documents are, and which documents a caller can have opened.
--
-- All take the parameters $1 to $14 of search.sql.

-- uses: visibility

-- fragment: is_readable
-- The scope and the filter admit the document.
:passes_filter
AND ((tenant = $1 AND $13::boolean AND :is_admitted)
     OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others AND NOT :is_of_deleted_tenant))

-- name: levels
-- $15 documents: those that subjects of the tenant opened, with their level.
SELECT readable.document_key, level
FROM unnest($15::bigint[]) AS chosen (chosen_key)
CROSS JOIN LATERAL (
    SELECT document_key FROM documents
    WHERE documents.document_key = chosen_key AND :is_readable
    OFFSET 0
) AS readable
JOIN document_popularity AS popularity
    ON popularity.document_key = readable.document_key AND popularity.tenant = $1;

-- name: openable
-- $15 tenants and $16 their documents, $17 chunks: the documents of these that the caller may read and that
-- searches find.
SELECT readable.document_key
FROM unnest($15::text[], $16::text[]) AS names (named_tenant, named_id)
CROSS JOIN LATERAL (
    SELECT document_key FROM documents
    WHERE documents.tenant = named_tenant AND documents.document_id = named_id AND is_active
      AND :is_readable
    OFFSET 0
) AS readable
UNION
SELECT readable.document_key
FROM unnest($17::bigint[]) AS chunks (named_chunk)
CROSS JOIN LATERAL (
    SELECT document_key FROM chunk_texts WHERE chunk_texts.chunk_id = named_chunk OFFSET 0
) AS of_chunk
CROSS JOIN LATERAL (
    SELECT document_key FROM documents
    WHERE documents.document_key = of_chunk.document_key AND is_active AND :is_readable
    OFFSET 0
) AS readable;
