-- A search over the chunks of the caller's tenant and the public chunks of other tenants.
--
-- All statements take the parameters $1 to $12 of visibility.sql, and:
--   $13 include the tenant's documents        $14 include public documents of other tenants
-- A pass also takes:
--   $15 dense and $16 lexical query vector
--   $17 number of best chunks to return with their texts
--   $18 share of the dense score in the score of a chunk
--   $20 extend each text by the chunk before it and the chunk after it
--   $21 embedding space of the dense vector; chunks of other spaces are compared by words alone
--   $22 the kind of chunks to leave out, of `passes_chunk_filter`: see index/postgres/filter_sql.py
--   $23 return the summaries of the sections that a hit is in
--   $24 candidates of each leg, for passes with legs
-- $19 differs by statement, and so does $15 of the survey.
--
-- `exact` returns the best chunks by `fusion.absolute`, which needs only the two scores of each chunk.
-- `exact_legs` returns the legs too, for other fusions, and the texts of all candidates.
--
-- The first row of a pass holds the history, revisions and languages of its snapshot. A pass without
-- hits still returns that row.

-- uses: visibility

-- fragment: may_read
-- Of an audience of the tenant, in the form of the index `audiences_tokens`, which no other index has.
ARRAY[tenant] && ARRAY[$1::text] AND allowed_tokens && ($2::text[] || $3::text[]) AND :is_admitted

-- fragment: admitted
SELECT audience_key FROM audiences WHERE :may_read

-- fragment: is_own
-- A document of the tenant that the caller may read, in the form of the index `documents_audience`.
$13::boolean AND audience_key = ANY (ARRAY(SELECT audience_key FROM admitted))

-- fragment: embedding_space
-- The embedding space of a row of `tenants`; null means that of the index.
coalesce(tenants.embedding_space, (SELECT embedding_space FROM index_meta), $21)

-- fragment: comparable_query
-- The dense query vector if it is in the tenant's space, else null. Evaluated once.
(SELECT $15::halfvec FROM tenants WHERE tenant = $1 AND :embedding_space = $21)

-- fragment: others
-- Public documents of other tenants that are not being deleted; $19 partitions that another pass reads.
-- OFFSET 0 makes the planner go from documents to their tenants.
SELECT document_key, partition_no, asked
FROM documents
CROSS JOIN LATERAL (
    SELECT partition_no, CASE WHEN :embedding_space = $21 THEN $15::halfvec END AS asked
    FROM tenants WHERE tenants.tenant = documents.tenant AND NOT is_being_deleted
    OFFSET 0
) AS tenants
WHERE :includes_others AND tenant <> $1 AND 'public' = ANY (readers) AND partition_no <> ALL ($19::integer[])
  AND :passes_filter

-- fragment: others_chunks
-- OFFSET 0 makes the planner go from documents to their chunks.
SELECT chunk_id, dense, lexical, asked
FROM others
CROSS JOIN LATERAL (
    SELECT chunk_id, dense, lexical FROM chunks
    WHERE chunks.partition_no = others.partition_no AND chunks.document_key = others.document_key
      AND :passes_chunk_filter
    OFFSET 0
) AS chunks

-- fragment: compared
-- The distance from the zero vector, which stands for none, is NaN.
chunk_id,
1 - nullif(dense <=> asked, 'NaN') AS dense,
- (lexical <#> $16::sparsevec) AS lexical

-- fragment: score
-- Equal to the score of `fusion.absolute` to the last bit.
coalesce($18::float8 * dense + (1 - $18::float8) * lexical, lexical)

-- fragment: best
SELECT chunk_id, dense, lexical FROM visible ORDER BY :score DESC, chunk_id LIMIT $17

-- fragment: is_seen
-- The caller may see the document of a chunk. OFFSET 0: one lookup for each chunk.
EXISTS (
    SELECT FROM documents
    WHERE documents.document_key = chunks.document_key
      AND (($13 AND tenant = $1 AND :is_admitted)
           OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others AND NOT :is_of_deleted_tenant))
      AND :passes_filter
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
-- The snapshot of the pass.
SELECT
    (SELECT history FROM histories) AS history,
    coalesce(max(revision) FILTER (WHERE tenant = $1), 0) AS tenant_revision,
    coalesce(max(revision) FILTER (WHERE tenant = 'public'), 0) AS public_revision,
    max(access_revision) FILTER (WHERE tenant = $1) AS tenant_access_revision,
    coalesce(max(audience_revision) FILTER (WHERE tenant = $1), 0) AS tenant_audience_revision,
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
-- Summaries of the document and of all sections that contain a chunk. No index has the sum's order, so
-- that none is walked for it.
SELECT
    jsonb_agg(jsonb_build_array(above.text, above.start_at, above.end_at) ORDER BY above.chunk_id + 0)
FROM chunk_texts AS above
WHERE above.document_key = chunk_texts.document_key AND (above.chunk_id < 0) IS TRUE
  AND above.start_at <= chunk_texts.start_at AND above.end_at >= chunk_texts.end_at
  AND above.chunk_id <> chunk_texts.chunk_id

-- fragment: scope_name
-- The first scope through which the caller sees a document that is admitted: `Scope.name_of`.
CASE
    WHEN documents.tenant <> $1 THEN 'public'
    WHEN documents.allowed_tokens && ARRAY[$4::text] THEN
        CASE
            WHEN $4 = ANY ($2::text[]) THEN 'private'
            WHEN 'tenant' = ANY ($2) AND 'tenant' = ANY (documents.allowed_tokens) THEN 'tenant'
            ELSE 'public'
        END
    WHEN documents.allowed_tokens && ($3::text[] || array_remove(array_remove($2, 'tenant'), 'public'))
        THEN 'shared'
    WHEN 'tenant' = ANY ($2) AND 'tenant' = ANY (documents.allowed_tokens) THEN 'tenant'
    ELSE 'public'
END

-- fragment: shown_metadata
-- An answer shows no metadata that is longer: numbers with large exponents are written out.
CASE WHEN octet_length(documents.metadata::text) <= 65536 THEN documents.metadata END

-- fragment: around
-- The text of a chunk of `chunk_texts` with the chunk before it and the chunk after it, if the chunk
-- `is_extended`.
SELECT
    before.start_at, after.end_at,
    before.repeated
        || substr(document_texts.text, before.start_at + 1, after.end_at - before.start_at) AS text
FROM (
    -- OFFSET 0: a whole text is read only if it is asked for.
    SELECT document_key, text FROM document_texts
    WHERE is_extended AND chunk_texts.chunk_id > 0 AND document_key = chunk_texts.document_key
    OFFSET 0
) AS document_texts
CROSS JOIN LATERAL (
    -- repeated: lines of the table, list or code before the chunk, with which its text begins.
    SELECT
        coalesce(min(start_at), chunk_texts.start_at) AS start_at,
        left(
            coalesce(min(text), chunk_texts.text),
            coalesce(min(repeated), length(chunk_texts.text) - chunk_texts.end_at + chunk_texts.start_at)
        ) AS repeated
    FROM (
        SELECT start_at, text, length(text) - end_at + start_at AS repeated
        FROM chunk_texts AS neighbour
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

-- fragment: answer
-- The head in the first row, joined with the chosen chunks and the fields of their hits.
SELECT
    head.*, chosen.chunk_id, chosen.dense, chosen.lexical,
    chunk_texts.digest, coalesce(around.text, chunk_texts.text) AS text,
    coalesce(around.start_at, chunk_texts.start_at) AS start_at,
    coalesce(around.end_at, chunk_texts.end_at) AS end_at,
    document_key, documents.tenant, documents.document_id, documents.title, documents.source, documents.uri,
    documents.language, documents.tags, :shown_metadata AS metadata, documents.updated_at,
    documents.provenance ->> 'trust' AS trust,
    :scope_name AS scope_name,
    CASE WHEN $23::boolean THEN (:summaries) END AS summaries
FROM (SELECT 1 AS position, * FROM head) AS head
FULL JOIN (SELECT row_number() OVER () AS position, * FROM chosen) AS chosen USING (position)
-- OFFSET 0: one lookup for each chunk, also in a small table.
LEFT JOIN LATERAL (
    SELECT chunk_id, document_key, digest, start_at, end_at, text, $20::boolean AS is_extended
    FROM chunk_texts WHERE chunk_texts.chunk_id = chosen.chunk_id
    OFFSET 0
) AS chunk_texts ON true
LEFT JOIN documents USING (document_key)
LEFT JOIN LATERAL (:around) AS around ON true

-- name: survey
-- The number of chunks in all, and the visible share, estimated from the documents with the lowest
-- sample_rank. The gateway chooses the passes by these. $15 chunks from which indexes are faster.
WITH own_sample AS MATERIALIZED (
    SELECT chunks, :is_admitted AND :passes_filter AS is_visible
    FROM documents
    WHERE $13::boolean AND tenant = $1 AND ARRAY[tenant] = ARRAY[$1] ORDER BY sample_rank LIMIT 256
),
others_sample AS MATERIALIZED (
    SELECT chunks, tenant <> $1 AND :passes_filter AND NOT :is_of_deleted_tenant AS is_visible
    FROM documents WHERE :includes_others AND 'public' = ANY (readers) ORDER BY sample_rank LIMIT 256
),
-- Partitions with public chunks of other tenants, if there are at least $15 public chunks.
others_partitions AS MATERIALIZED (
    SELECT partition_no, dimensions, dimensions IS NOT NULL AND sum(public_chunks) >= $15 AS is_worth
    FROM tenants JOIN chunk_partitions USING (partition_no)
    WHERE (SELECT chunks FROM tenants WHERE tenant = 'public') >= $15::bigint
      AND public_chunks > 0 AND NOT is_being_deleted AND tenants.tenant <> $1 AND :includes_others
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
    ARRAY(SELECT partition_no FROM others_partitions WHERE is_worth ORDER BY partition_no)
        AS others_partitions,
    ARRAY(SELECT dimensions FROM others_partitions WHERE is_worth ORDER BY partition_no)
        AS others_dimensions,
    everyone.chunks < $15 OR EXISTS (SELECT FROM others_partitions WHERE NOT is_worth)
        AS others_elsewhere,
    tenants.revision AS tenant_revision, everyone.revision AS public_revision,
    (SELECT history FROM histories) AS history
FROM tenants AS everyone
LEFT JOIN tenants ON tenants.tenant = $1
LEFT JOIN chunk_partitions ON chunk_partitions.partition_no = tenants.partition_no
WHERE everyone.tenant = 'public';

-- fragment: own
-- Without a filter, PostgreSQL reads the index alone.
SELECT document_key FROM documents WHERE NOT :is_filtered AND :is_own
UNION ALL
SELECT document_key FROM documents WHERE :is_filtered AND :is_own AND :passes_filter

-- fragment: seen
-- From visible documents to their chunks. IS TRUE leaves the planner one index, which it reads in the
-- order of the document keys, and so of the chunks. OFFSET 0: each vector is read and compared once,
-- however often its scores are used.
admitted AS MATERIALIZED (:admitted),
others AS MATERIALIZED (:others),
visible AS (
    (
        SELECT :compared
        FROM (SELECT *, :comparable_query AS asked FROM chunks) AS chunks
        WHERE $13 AND partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1)
          AND (tenant = $1) IS TRUE AND :passes_chunk_filter AND document_key = ANY (ARRAY(:own))
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

-- name: details
-- $15 chunks, $16 as $20 and $17 as $23: what shards lack of those of them that the caller may see. Each
-- OFFSET 0: one lookup for each chunk.
SELECT
    chunk_id, coalesce(around.text, chunk_texts.text) AS text,
    coalesce(around.start_at, chunk_texts.start_at) AS start_at,
    coalesce(around.end_at, chunk_texts.end_at) AS end_at,
    documents.updated_at,
    CASE WHEN $17::boolean THEN (:summaries) END AS summaries
FROM unnest($15::bigint[]) AS shown (shown_id)
CROSS JOIN LATERAL (
    SELECT chunk_id, document_key, start_at, end_at, text, $16::boolean AS is_extended
    FROM chunk_texts WHERE chunk_texts.chunk_id = shown_id
    OFFSET 0
) AS chunk_texts
CROSS JOIN LATERAL (
    SELECT updated_at FROM documents
    WHERE documents.document_key = chunk_texts.document_key
      AND (($13 AND tenant = $1 AND :is_admitted)
           OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others AND NOT :is_of_deleted_tenant))
      AND :passes_filter
    OFFSET 0
) AS documents
LEFT JOIN LATERAL (:around) AS around ON true;

-- name: matching
-- The keys of the documents that the filter admits, of the tenant and of others, each as one string of
-- bytes: what shards need for conditions on fields that they lack. One snapshot.
WITH admitted AS MATERIALIZED (:admitted),
own AS (SELECT document_key FROM documents WHERE :is_own AND :passes_filter),
others AS (
    SELECT document_key FROM documents
    WHERE :includes_others AND tenant <> $1 AND 'public' = ANY (readers) AND :passes_filter
      AND NOT :is_of_deleted_tenant
)
SELECT
    (SELECT history FROM histories) AS history,
    coalesce(max(revision) FILTER (WHERE tenant = $1), 0) AS tenant_revision,
    coalesce(max(revision) FILTER (WHERE tenant = 'public'), 0) AS public_revision,
    (SELECT string_agg(int8send(document_key), '') FROM own) AS own_documents,
    (SELECT string_agg(int8send(document_key), '') FROM others) AS others_documents
FROM tenants WHERE tenant IN ($1, 'public');

-- name: exact_legs
WITH :seen,
:legs,
head AS (:head_with_legs)
:answer;

-- name: nearest
-- Approximate, in one partition. The dense leg walks the partition's graph until it has enough visible
-- chunks. The lexical leg reads the chunks with one of the terms $19, counted from 1; the gateway picks
-- terms such that no other chunk can be in the leg. The best chunks are chosen among both legs.
-- `make bench-index` compares this pass with the exact ones. The values in braces are a table name and a
-- type modifier, which can't be parameters.
WITH nearest AS MATERIALIZED (
    SELECT chunk_id, 1 - (dense::halfvec({dimensions}) <=> $15::halfvec({dimensions})) AS dense
    FROM chunks_{partition_no} AS chunks
    WHERE vector_dims(dense) = {dimensions} AND :passes_chunk_filter AND :is_seen AND (
        SELECT :embedding_space = $21 FROM tenants WHERE tenants.tenant = chunks.tenant
    )
    ORDER BY dense::halfvec({dimensions}) <=> $15::halfvec({dimensions}) LIMIT $24
),
dense_leg AS (SELECT chunk_id, dense FROM nearest WHERE dense <> 'NaN' ORDER BY dense DESC, chunk_id),
-- Comparing the words of a chunk is cheaper than looking up who may see it, so it comes first.
matched AS MATERIALIZED (
    SELECT chunk_id, document_key, - (lexical <#> $16::sparsevec) AS lexical
    FROM chunks_{partition_no} AS chunks
    WHERE lexical_terms(lexical) && $19::integer[] AND :passes_chunk_filter
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

-- name: vectors
-- $15 chunks, $16 embedding space: the vectors of those chunks that are in the space and that the caller
-- may see. Each OFFSET 0: one lookup for each chunk.
SELECT chunk_id, dense
FROM unnest($15::bigint[]) AS chosen (chosen_id)
CROSS JOIN LATERAL (
    SELECT document_key FROM chunk_texts WHERE chunk_texts.chunk_id = chosen_id OFFSET 0
) AS chunk_texts
CROSS JOIN LATERAL (
    SELECT tenant FROM documents
    WHERE documents.document_key = chunk_texts.document_key
      AND ((tenant = $1 AND :is_admitted)
           OR (tenant <> $1 AND 'public' = ANY (readers) AND :includes_others))
    OFFSET 0
) AS owners
CROSS JOIN LATERAL (
    SELECT partition_no FROM tenants
    WHERE tenants.tenant = owners.tenant
      AND coalesce(embedding_space, (SELECT embedding_space FROM index_meta), $16::text) = $16
    OFFSET 0
) AS tenants
CROSS JOIN LATERAL (
    SELECT chunk_id, document_key, dense FROM chunks
    WHERE chunks.partition_no = tenants.partition_no AND chunks.chunk_id = chosen_id AND l2_norm(dense) > 0
    OFFSET 0
) AS chunks
WHERE :is_seen;
