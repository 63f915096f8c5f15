-- Counts of the documents that a search sees, by the values of their fields.

-- uses: visibility
-- uses: search

-- fragment: counted_fields
-- What is counted of a document. Its metadata is read only if a key of it is asked for.
SELECT source, language, tags, CASE WHEN $16::text[] <> '{}' THEN metadata END AS metadata

-- name: counts
-- $1 to $14 as in search.sql. $15 fields, $16 keys of the metadata, $17 number of values to return of a
-- field, $18 characters of a value, as JSON, above which only its count is returned.
--
-- A document without chunks is not counted: no search finds it, and the change log names a document's
-- changes by its chunks. A document with several values counts once for each. Equal values of the metadata
-- may be written in several ways, such as 1 and 1.0: the first by its characters stands for all.
WITH admitted AS MATERIALIZED (:admitted),
counted AS MATERIALIZED (
    :counted_fields FROM documents WHERE :is_own AND chunks > 0 AND :passes_filter
    UNION ALL
    :counted_fields FROM documents
    WHERE :includes_others AND tenant <> $1 AND 'public' = ANY (readers) AND chunks > 0
      AND :passes_filter AND NOT :is_of_deleted_tenant
),
value_counts AS (
    SELECT 'source' AS field, to_jsonb(source)::text AS value, count(*) AS documents
    FROM counted WHERE 'source' = ANY ($15::text[]) GROUP BY source
    UNION ALL
    SELECT 'language', to_jsonb(language)::text, count(*)
    FROM counted WHERE 'language' = ANY ($15) GROUP BY language
    UNION ALL
    SELECT 'tags', to_jsonb(tag)::text, count(*)
    FROM counted CROSS JOIN LATERAL (SELECT DISTINCT unnest(tags) AS tag) AS tags
    WHERE 'tags' = ANY ($15) GROUP BY tag
    UNION ALL
    SELECT 'metadata.' || key, min(item::text COLLATE "C"), count(*)
    FROM counted CROSS JOIN LATERAL unnest($16) AS keys (key)
    CROSS JOIN LATERAL (
        SELECT DISTINCT item FROM jsonb_array_elements(
            CASE jsonb_typeof(metadata -> key)
                WHEN 'array' THEN metadata -> key
                ELSE jsonb_build_array(metadata -> key)
            END
        ) AS items (item)
    ) AS items
    WHERE metadata ? key GROUP BY key, item
),
ranked AS (
    SELECT *, row_number() OVER of_field <= $17::bigint AND length(value) <= $18::integer AS is_shown
    FROM value_counts
    WINDOW of_field AS (
        PARTITION BY field ORDER BY length(value) > $18, documents DESC, value COLLATE "C"
    )
),
fields AS (
    SELECT
        field,
        array_agg(value ORDER BY documents DESC, value COLLATE "C") FILTER (WHERE is_shown) AS values,
        array_agg(documents ORDER BY documents DESC, value COLLATE "C") FILTER (WHERE is_shown) AS counts,
        count(*) FILTER (WHERE NOT is_shown) AS other_values,
        coalesce(sum(documents) FILTER (WHERE NOT is_shown), 0)::bigint AS other_count
    FROM ranked GROUP BY field
)
SELECT total.documents, fields.*
FROM (SELECT count(*) AS documents FROM counted) AS total LEFT JOIN fields ON true;
