-- FAQs: the documents of one source that no subject owns.
--
-- A FAQ is active if its document is and has readers. Its category and its priority are in the metadata; a
-- value of another type, which a write of the document may have left there, counts as none.

-- fragment: faq_fields
document_key, document_id,
CASE jsonb_typeof(metadata -> 'category') WHEN 'string' THEN metadata ->> 'category' ELSE '' END AS category,
CASE jsonb_typeof(metadata -> 'priority')
    WHEN 'number' THEN least(greatest(trunc((metadata ->> 'priority')::numeric), -1000), 1000)::integer
    ELSE 0
END AS priority,
is_active AND readers <> '{}' AS is_active

-- name: page
-- $1 tenant, $2 source, $3 category or null, $4 whether active, or null; $5, $6 and $7 category, priority
-- and document of the last FAQ of the previous page, or null; $8 limit. The texts are joined last, so
-- that only those of the page are read.
SELECT
    documents.document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    documents.is_active, provenance, text, category, priority
FROM (
    SELECT document_key, category, priority FROM (
        SELECT :faq_fields FROM documents WHERE tenant = $1 AND source = $2 AND owner IS NULL
    ) AS faqs
    WHERE ($3::text IS NULL OR category = $3) AND ($4::boolean IS NULL OR is_active = $4)
      AND ($5::text IS NULL OR (category, -priority, document_id) > ($5, -$6::integer, $7::text))
    ORDER BY category, priority DESC, document_id LIMIT $8
) AS listed
JOIN documents USING (document_key)
JOIN document_texts USING (document_key)
WHERE tenant = $1
ORDER BY category, priority DESC, documents.document_id;

-- name: categories
-- $1 tenant, $2 source, $3 limit
SELECT category, count(*) AS faqs, count(*) FILTER (WHERE is_active) AS active FROM (
    SELECT :faq_fields FROM documents WHERE tenant = $1 AND source = $2 AND owner IS NULL
) AS faqs
GROUP BY category ORDER BY category LIMIT $3;
