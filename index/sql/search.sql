-- A search: what the caller may see of its own tenant, and what every tenant may see.
--
-- All of these take $1 tenant, $2 grants, $3 readers that count on other owners' documents only,
-- $4 the caller's own owner token; the filter: $5 sources, $6 any of these tags, $7 all of these
-- tags, $8 languages, $9 updated after, $10 updated before, $11 documents left out, $12 of
-- metadata: what is `held`, and a `path` that matches, with its `variables`;
-- $13 whether the tenant's documents are asked for, $14 whether other tenants' public ones are.
-- The passes take also: $15 dense and $16 lexical query vector, $17 how many of the best chunks to
-- bring with their texts, $18 the share of the dense score in what is best, and $20 whether these
-- texts take in the chunk before and the one after; $21 the space of the dense vector: chunks of
-- another one are compared by their words alone; $22 what is left out: true for
-- summaries, whose identifiers are below zero, false for pieces of texts, null for neither; $23
-- whether to bring beside what a hit shows the summaries of what it stands in; where there are legs,
-- $24 candidates of each. $19 is each statement's own, and so is $15 of the survey.
--
-- An exact pass comes in two forms. By itself it brings the best chunks by `fusion.absolute`, which
-- needs nothing but each chunk's two scores; `…_legs` brings the legs as well, whose candidates other
-- fusions rank, and the texts of all of these.
--
-- The first row of a pass says as of which revisions of which history, and in which languages, it was
-- made: it comes from the same snapshot. A pass that finds nothing still returns that row.

-- fragment: is_admitted
-- Of a document of the tenant.
(allowed_tokens && $2::text[] OR (allowed_tokens && $3::text[] AND NOT allowed_tokens && ARRAY[$4::text]))

-- fragment: is_wanted
($5::text[] IS NULL OR source = ANY ($5))
AND ($6::text[] IS NULL OR tags && $6)
AND ($7::text[] IS NULL OR tags @> $7)
AND ($8::text[] IS NULL OR language = ANY ($8))
AND ($9::timestamptz IS NULL OR updated_at >= $9)
AND ($10::timestamptz IS NULL OR updated_at < $10)
AND ($11::text[] IS NULL OR document_id <> ALL ($11))
AND (
    $12::jsonb IS NULL
    OR (
        metadata @> ($12::jsonb -> 'held')
        -- Parsed once, not for each document.
        AND coalesce(
            jsonb_path_match(
                metadata, (SELECT ($12::jsonb ->> 'path')::jsonpath), $12::jsonb -> 'variables', true
            ),
            NOT $12::jsonb ? 'path'
        )
    )
)

-- fragment: is_filtered
NOT (
    $5::text[] IS NULL AND $6::text[] IS NULL AND $7::text[] IS NULL AND $8::text[] IS NULL
    AND $9::timestamptz IS NULL AND $10::timestamptz IS NULL AND $11::text[] IS NULL
    AND $12::jsonb IS NULL
)

-- fragment: admitted
-- By the index of what audiences hold: its two conditions, in the form that no other index has.
SELECT audience_key FROM audiences
WHERE ARRAY[tenant] && ARRAY[$1::text] AND allowed_tokens && ($2::text[] || $3::text[]) AND :is_admitted

-- fragment: is_own
-- In the form that no other index has.
$13::boolean AND audience_key = ANY (ARRAY(SELECT audience_key FROM admitted))

-- fragment: others_asked
-- Only grants that hold what is public have a part in what others have made public.
$14::boolean AND 'public' = ANY ($2::text[])

-- fragment: embedding_space
-- The tenant's own; a row of `tenants` without one has the index's.
coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta), $21)

-- fragment: is_of_kind
-- Of a chunk; in a form that no index holds, and of which the planner believes the same whatever it
-- knows of the table.
(chunk_id < 0) IS DISTINCT FROM $22::boolean

-- fragment: asked_of_own
-- The dense query vector, if the tenant's can be compared with it; evaluated once.
(SELECT $15::halfvec FROM tenants WHERE tenant = $1 AND :embedding_space = $21)

-- fragment: is_of_deleted_tenant
-- Of a document: whether its tenant is deleted, and so nothing of it is public any more. OFFSET 0: one
-- by one, and only for documents that are otherwise seen.
(SELECT is_being_deleted FROM tenants AS theirs WHERE theirs.tenant = documents.tenant OFFSET 0)

-- fragment: others
-- What other tenants have made public, but for deleted ones; $19 the shelves that another pass looks
-- through.
-- OFFSET 0: from documents to their tenants, never the other way.
SELECT document_key, partition_no, asked
FROM documents
CROSS JOIN LATERAL (
    SELECT partition_no, CASE WHEN :embedding_space = $21 THEN $15::halfvec END AS asked
    FROM tenants WHERE tenants.tenant = documents.tenant AND NOT is_being_deleted
    OFFSET 0
) AS tenants
WHERE :others_asked AND tenant <> $1 AND 'public' = ANY (readers) AND partition_no <> ALL ($19::integer[])
  AND :is_wanted

-- fragment: others_chunks
-- OFFSET 0: from documents to their chunks, never the other way.
SELECT chunk_id, dense, lexical, asked
FROM others
CROSS JOIN LATERAL (
    SELECT chunk_id, dense, lexical FROM chunks
    WHERE chunks.partition_no = others.partition_no AND chunks.document_key = others.document_key
      AND :is_of_kind
    OFFSET 0
) AS chunks

-- fragment: compared
chunk_id,
1 - (dense <=> asked) AS dense,
- (lexical <#> $16::sparsevec) AS lexical

-- fragment: score
-- What `fusion.absolute` gives, to the last bit.
coalesce($18::float8 * dense + (1 - $18::float8) * lexical, lexical)

-- fragment: best
SELECT chunk_id, dense, lexical FROM visible ORDER BY :score DESC, chunk_id LIMIT $17

-- fragment: is_seen
-- Of a chunk, looked up one by one.
EXISTS (
    SELECT FROM documents
    WHERE documents.document_key = chunks.document_key
      AND (($13 AND tenant = $1 AND :is_admitted)
           OR (tenant <> $1 AND 'public' = ANY (readers) AND :others_asked AND NOT :is_of_deleted_tenant))
      AND :is_wanted
    OFFSET 0
)

-- fragment: legs
dense_leg AS (
    SELECT chunk_id, dense FROM visible WHERE dense IS NOT NULL
    ORDER BY dense DESC, chunk_id LIMIT $24
),
lexical_leg AS (
    SELECT chunk_id, lexical FROM visible WHERE lexical > 0
    ORDER BY lexical DESC, chunk_id LIMIT $24
),
chosen AS (
    SELECT chunk_id, dense, lexical FROM visible
    WHERE chunk_id IN (
        SELECT chunk_id FROM dense_leg
        UNION ALL SELECT chunk_id FROM lexical_leg
        UNION ALL SELECT chunk_id FROM (:best) AS best
    )
)

-- fragment: head
-- Of the pass itself.
SELECT
    (SELECT history FROM histories) AS history,
    coalesce(max(revision) FILTER (WHERE tenant = $1), 0) AS tenant_revision,
    coalesce(max(revision) FILTER (WHERE tenant = 'public'), 0) AS public_revision,
    coalesce(max(chunks) FILTER (WHERE tenant = $1), 0) AS tenant_chunks,
    coalesce(max(chunks) FILTER (WHERE tenant = 'public'), 0) AS public_chunks,
    coalesce(max(:embedding_space) FILTER (WHERE tenant = $1), $21) AS embedding_space,
    coalesce(max(vocabulary_size) FILTER (WHERE tenant = $1), 0) AS tenant_vocabulary_size,
    max(languages) FILTER (WHERE tenant = $1) AS tenant_languages,
    max(languages) FILTER (WHERE tenant = 'public') AS public_languages,
    (array_agg(confidence) FILTER (WHERE tenant = $1))[1] AS confidence
FROM tenants WHERE tenant IN ($1, 'public')

-- fragment: head_with_legs
SELECT
    whole.*,
    (SELECT array_agg(chunk_id) FROM dense_leg) AS dense_ids,
    (SELECT array_agg(dense) FROM dense_leg) AS dense_scores,
    (SELECT array_agg(chunk_id) FROM lexical_leg) AS lexical_ids,
    (SELECT array_agg(lexical) FROM lexical_leg) AS lexical_scores
FROM (:head) AS whole

-- fragment: summaries
-- Of the whole and of all sections that a chunk stands in.
SELECT jsonb_agg(jsonb_build_array(above.text, above.start_at, above.end_at))
FROM chunk_texts AS above
WHERE above.document_key = chunk_texts.document_key AND (above.chunk_id < 0) IS TRUE
  AND above.start_at <= chunk_texts.start_at AND above.end_at >= chunk_texts.end_at
  AND above.chunk_id <> chunk_texts.chunk_id

-- fragment: answer
-- The head, and beside it and below it the chosen chunks with what a hit shows.
SELECT
    head.*, chosen.chunk_id, chosen.dense, chosen.lexical,
    chunk_texts.digest, coalesce(around.text, chunk_texts.text) AS text,
    coalesce(around.start_at, chunk_texts.start_at) AS start_at,
    coalesce(around.end_at, chunk_texts.end_at) AS end_at,
    document_key, documents.tenant, documents.document_id, documents.title, documents.source, documents.uri,
    documents.language, documents.tags, documents.metadata,
    CASE WHEN $23::boolean THEN (:summaries) END AS summaries
FROM (SELECT 1 AS place, * FROM head) AS head
FULL JOIN (SELECT row_number() OVER () AS place, * FROM chosen) AS chosen USING (place)
-- OFFSET 0: one by one, however few there are in all.
LEFT JOIN LATERAL (
    SELECT chunk_id, document_key, digest, start_at, end_at, text FROM chunk_texts
    WHERE chunk_texts.chunk_id = chosen.chunk_id
    OFFSET 0
) AS chunk_texts ON true
LEFT JOIN documents USING (document_key)
LEFT JOIN LATERAL (
    SELECT
        before.start_at, after.end_at,
        substr(document_texts.text, before.start_at + 1, after.end_at - before.start_at) AS text
    FROM (
        -- OFFSET 0: a whole text is read only if it is asked for.
        SELECT document_key, text FROM document_texts
        WHERE $20::boolean AND chunk_texts.chunk_id > 0 AND document_key = chunk_texts.document_key
        OFFSET 0
    ) AS document_texts
    CROSS JOIN LATERAL (
        SELECT coalesce(min(start_at), chunk_texts.start_at) AS start_at
        FROM (
            SELECT start_at FROM chunk_texts AS neighbour
            WHERE neighbour.document_key = document_texts.document_key AND (neighbour.chunk_id > 0) IS TRUE
              AND neighbour.start_at < chunk_texts.start_at
            ORDER BY start_at DESC LIMIT 1
        ) AS neighbours
    ) AS before
    CROSS JOIN LATERAL (
        SELECT greatest(max(end_at), chunk_texts.end_at) AS end_at
        FROM (
            SELECT end_at FROM chunk_texts AS neighbour
            WHERE neighbour.document_key = document_texts.document_key AND (neighbour.chunk_id > 0) IS TRUE
              AND neighbour.start_at > chunk_texts.start_at
            ORDER BY start_at LIMIT 1
        ) AS neighbours
    ) AS after
) AS around ON true

-- name: survey
-- How much there is to see, before it is decided how to look: counted in whole, estimated from the
-- documents whose dice fell lowest.
WITH own_sample AS MATERIALIZED (
    SELECT chunks, :is_admitted AND :is_wanted AS is_visible
    FROM documents WHERE $13::boolean AND tenant = $1 ORDER BY sample_rank LIMIT 256
),
others_sample AS MATERIALIZED (
    SELECT chunks, tenant <> $1 AND :is_wanted AND NOT :is_of_deleted_tenant AS is_visible
    FROM documents WHERE :others_asked AND 'public' = ANY (readers) ORDER BY sample_rank LIMIT 256
),
-- Only where there is enough to be worth looking for a quicker way, which takes $15 chunks.
others_partitions AS MATERIALIZED (
    SELECT partition_no, dimensions, dimensions IS NOT NULL AND sum(public_chunks) >= $15 AS is_worth
    FROM tenants JOIN chunk_partitions USING (partition_no)
    WHERE (SELECT chunks FROM tenants WHERE tenant = 'public') >= $15::bigint
      AND public_chunks > 0 AND NOT is_being_deleted AND tenants.tenant <> $1 AND :others_asked
    GROUP BY partition_no, dimensions
)
SELECT
    coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta)) AS embedding_space,
    tenants.chunks AS tenant_chunks, tenants.vocabulary_size AS tenant_vocabulary_size,
    tenants.languages AS tenant_languages,
    chunk_partitions.partition_no, chunk_partitions.dimensions,
    everyone.chunks AS public_chunks, everyone.languages AS public_languages,
    (SELECT sum(chunks) FILTER (WHERE is_visible)::float8 / nullif(sum(chunks), 0) FROM own_sample)
        AS own_share,
    (SELECT sum(chunks) FILTER (WHERE is_visible)::float8 / nullif(sum(chunks), 0)
     FROM others_sample) AS others_share,
    ARRAY(SELECT partition_no FROM others_partitions WHERE is_worth ORDER BY partition_no) AS others_partitions,
    ARRAY(SELECT dimensions FROM others_partitions WHERE is_worth ORDER BY partition_no) AS others_dimensions,
    everyone.chunks < $15 OR EXISTS (SELECT FROM others_partitions WHERE NOT is_worth)
        AS others_elsewhere,
    tenants.revision AS tenant_revision, everyone.revision AS public_revision,
    (SELECT history FROM histories) AS history
FROM tenants AS everyone
LEFT JOIN tenants ON tenants.tenant = $1
LEFT JOIN chunk_partitions ON chunk_partitions.partition_no = tenants.partition_no
WHERE everyone.tenant = 'public';

-- fragment: own
-- Nothing is read but the index, if the filter wants nothing of the documents.
SELECT document_key FROM documents WHERE NOT :is_filtered AND :is_own
UNION ALL
SELECT document_key FROM documents WHERE :is_filtered AND :is_own AND :is_wanted

-- fragment: seen
-- From the documents that may be seen to their chunks: IS TRUE leaves the planner one index, which it
-- goes through in the order of the keys, and so of the chunks. OFFSET 0: each vector is read and compared
-- once, however often its scores are named; what is visible is kept only where more than one leg asks
-- for it.
admitted AS MATERIALIZED (:admitted),
others AS MATERIALIZED (:others),
visible AS (
    (
        SELECT :compared
        FROM (SELECT *, :asked_of_own AS asked FROM chunks) AS chunks
        WHERE $13 AND partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1)
          AND (tenant = $1) IS TRUE AND :is_of_kind AND document_key = ANY (ARRAY(:own))
        OFFSET 0
    )
    UNION ALL
    (SELECT :compared FROM (:others_chunks) AS chunks OFFSET 0)
)

-- name: exact
WITH :seen,
chosen AS (:best),
head AS (:head)
:answer;

-- name: exact_legs
WITH :seen,
:legs,
head AS (:head_with_legs)
:answer;

-- name: nearest
-- Approximate, on one shelf: the dense leg by the shelf's graph, which is walked until enough of what
-- it meets may be seen; the lexical leg among the chunks that hold one of the terms $19, counted
-- from 1, which the searcher picks so that no other chunk can be in the leg. What is best is chosen
-- among both. Measured against the exact passes by `make bench-index`. What stands in braces is the
-- shelf's number and the width of its vectors, of which neither a table's name nor a type's modifier
-- can be a parameter.
WITH nearest AS MATERIALIZED (
    SELECT chunk_id, 1 - (dense::halfvec({dimensions}) <=> $15::halfvec({dimensions})) AS dense
    FROM chunks_{partition_no} AS chunks
    WHERE vector_dims(dense) = {dimensions} AND :is_of_kind AND :is_seen AND (
        SELECT :embedding_space = $21 FROM tenants WHERE tenants.tenant = chunks.tenant
    )
    ORDER BY dense::halfvec({dimensions}) <=> $15::halfvec({dimensions}) LIMIT $24
),
dense_leg AS (SELECT chunk_id, dense FROM nearest ORDER BY dense DESC, chunk_id),
-- The words of most of these chunks are compared sooner than it is looked up who may see them.
matched AS MATERIALIZED (
    SELECT chunk_id, document_key, - (lexical <#> $16::sparsevec) AS lexical
    FROM chunks_{partition_no}
    WHERE lexical_terms(lexical) && $19::integer[] AND :is_of_kind
    ORDER BY 3 DESC, chunk_id
),
lexical_leg AS (
    SELECT chunk_id, lexical FROM matched AS chunks WHERE :is_seen LIMIT $24
),
visible AS (
    SELECT :compared
    FROM (SELECT chunk_id FROM dense_leg UNION SELECT chunk_id FROM lexical_leg) AS candidates
    CROSS JOIN LATERAL (
        SELECT dense, lexical, (
            SELECT $15::halfvec FROM tenants WHERE tenants.tenant = chunks.tenant AND :embedding_space = $21
        ) AS asked
        FROM chunks_{partition_no} AS chunks WHERE chunks.chunk_id = candidates.chunk_id
        OFFSET 0
    ) AS chunks
    OFFSET 0
),
chosen AS (:best),
head AS (:head_with_legs)
:answer;

-- name: document
-- $13 document: one of the tenant that is meant.
SELECT document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    text
FROM documents JOIN document_texts USING (document_key)
WHERE tenant = $1 AND document_id = $13 AND :is_admitted AND :is_wanted;

-- name: documents
-- $13 the last document of the page before, $14 source or null, $15 limit: the next ones of the
-- tenant that are meant, without their texts.
SELECT document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    '' AS text
FROM documents
WHERE tenant = $1 AND document_id > $13 AND ($14::text IS NULL OR source = $14)
  AND :is_admitted AND :is_wanted
ORDER BY document_id LIMIT $15;

-- name: files
-- $13 source, $14 subject or null, $15 file or null, $16 batch or null, $17 status or null, $18 the last
-- file of the page before or null, $19 whether the newest come first, $20 limit: files attached to the
-- source. Those whose document is meant; before there is one, those that the subject attached.
SELECT file_id, document_id, created_at, status, error_code, error, metadata, chunker, size_bytes
FROM (
    SELECT
        held.file_id, held.document_id, held.created_at, held.error_code,
        coalesce(held.error, jobs.error) AS error, documents.metadata, documents.chunker,
        coalesce(octet_length(document_texts.text), 0) AS size_bytes,
        CASE
            WHEN jobs.state IN ('waiting', 'running') THEN 'in_progress'
            WHEN document_key IS NOT NULL THEN 'completed'
            WHEN held.error_code IS NOT NULL OR jobs.state = 'failed' THEN 'failed'
        END AS status
    FROM vector_store_files AS held
    LEFT JOIN documents
        ON documents.tenant = $1 AND documents.document_id = held.document_id
        AND documents.source = held.source
    LEFT JOIN document_texts USING (document_key)
    LEFT JOIN jobs ON jobs.job_id = held.job_id
    WHERE held.tenant = $1 AND held.source = $13
      AND ($15::text IS NULL OR held.file_id = $15) AND ($16::text IS NULL OR held.batch_id = $16)
      AND CASE
          WHEN document_key IS NULL THEN held.subject = $14
          ELSE EXISTS (
              SELECT FROM documents AS meant
              WHERE meant.tenant = $1 AND meant.document_key = documents.document_key
                AND :is_admitted AND :is_wanted
          )
      END
) AS files
WHERE status IS NOT NULL AND ($17::text IS NULL OR status = $17)
  AND ($18::text IS NULL OR CASE
      WHEN $19::boolean THEN (created_at, file_id)
          < (SELECT created_at, file_id FROM vector_store_files AS last
             WHERE last.tenant = $1 AND last.source = $13 AND last.file_id = $18)
      ELSE (created_at, file_id)
          > (SELECT created_at, file_id FROM vector_store_files AS last
             WHERE last.tenant = $1 AND last.source = $13 AND last.file_id = $18)
  END)
ORDER BY
    CASE WHEN $19 THEN created_at END DESC, CASE WHEN $19 THEN file_id END DESC, created_at, file_id
LIMIT $20;

-- name: any_document
-- $13 document, $14 whether other tenants' public ones are asked for: the tenant's own, or else what
-- others have made public; of several, the first tenant's.
SELECT document_id, source, title, uri, language, tags, metadata, owner, readers, chunker, summaries,
    text
FROM (
    SELECT false AS is_others, document_key FROM documents
    WHERE tenant = $1 AND document_id = $13 AND :is_admitted AND :is_wanted
    UNION ALL
    SELECT true AS is_others, document_key FROM documents
    WHERE tenant <> $1 AND document_id = $13 AND 'public' = ANY (readers) AND :others_asked
      AND :is_wanted AND NOT :is_of_deleted_tenant
) AS found
JOIN documents USING (document_key)
JOIN document_texts USING (document_key)
ORDER BY is_others, tenant LIMIT 1;

-- name: sources
-- $13 limit: where the documents of the tenant that are meant come from, and how many each has.
SELECT source, count(*) AS documents
FROM documents
WHERE tenant = $1 AND :is_admitted AND :is_wanted
GROUP BY source ORDER BY source LIMIT $13;
