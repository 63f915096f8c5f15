-- Both legs of one search, in one pass over what the caller may see.
--
-- $1 tenant, $2 grants, $3 readers that count on other owners' documents only, $4 the caller's own
-- owner token, $5 whether public documents of other tenants are asked for; the filter: $6 sources,
-- $7 any of these tags, $8 all of these tags, $9 languages, $10 updated after, $11 updated before,
-- $12 documents left out, $13 metadata; $14 dense and $15 lexical query vector, $16 candidates a leg.
--
-- The first columns say as of which revisions, and in which languages, the rows were found: they
-- come from the same snapshot. A search that finds nothing still returns one row, to say so.

-- name: candidates
WITH admitted AS (
    SELECT * FROM documents
    WHERE tenant = $1
      AND (audience && $2::text[] OR (audience && $3::text[] AND NOT audience && ARRAY[$4::text]))
    UNION ALL
    SELECT * FROM documents
    WHERE $5::boolean AND tenant <> $1 AND 'public' = ANY (readers)
),
-- MATERIALIZED: each vector is read and compared once, and no planner may pull a leg's order inside.
visible AS MATERIALIZED (
    SELECT
        chunks.chunk_id,
        1 - (chunks.dense <=> $14::halfvec) AS dense,
        - (chunks.lexical <#> $15::sparsevec) AS lexical
    FROM admitted
    JOIN chunks USING (tenant, document_key)
    WHERE ($6::text[] IS NULL OR source = ANY ($6))
      AND ($7::text[] IS NULL OR tags && $7)
      AND ($8::text[] IS NULL OR tags @> $8)
      AND ($9::text[] IS NULL OR language = ANY ($9))
      AND ($10::timestamptz IS NULL OR updated_at >= $10)
      AND ($11::timestamptz IS NULL OR updated_at < $11)
      AND ($12::text[] IS NULL OR document_id <> ALL ($12))
      AND ($13::jsonb IS NULL OR metadata @> $13)
),
dense_leg AS (
    SELECT chunk_id, dense FROM visible WHERE dense IS NOT NULL
    ORDER BY dense DESC, chunk_id LIMIT $16
),
lexical_leg AS (
    SELECT chunk_id, lexical FROM visible WHERE lexical > 0
    ORDER BY lexical DESC, chunk_id LIMIT $16
),
found AS (
    SELECT chunk_id, dense_leg.dense, lexical_leg.lexical
    FROM dense_leg FULL JOIN lexical_leg USING (chunk_id)
),
as_of AS (
    SELECT
        coalesce(max(revision) FILTER (WHERE tenant = $1), 0) AS tenant_revision,
        coalesce(max(revision) FILTER (WHERE tenant = 'public'), 0) AS public_revision,
        (SELECT array_agg(DISTINCT language) FROM tenants, unnest(languages) AS language
         WHERE tenant = $1 OR ($5 AND tenant = 'public')) AS languages
    FROM tenants WHERE tenant IN ($1, 'public')
)
SELECT
    as_of.tenant_revision, as_of.public_revision, as_of.languages AS index_languages,
    found.chunk_id, found.dense, found.lexical,
    chunk_texts.digest, chunk_texts.text, chunk_texts.start_at, chunk_texts.end_at,
    documents.document_id, documents.title, documents.source, documents.uri,
    documents.language, documents.tags
FROM as_of
LEFT JOIN found ON true
LEFT JOIN chunk_texts USING (chunk_id)
LEFT JOIN documents USING (document_key);
