-- The chunks of a partition, for a shard in memory, which the role of shards calls as functions. They
-- return vectors, terms as numbers, and what decides who may see a chunk: no text, title or URI, and no
-- metadata.

-- uses: change_log

-- fragment: space
-- The embedding space of a row of `tenants`.
coalesce(embedding_space, (SELECT embedding_space FROM index_meta))

-- fragment: document_columns
document_key, tenant, document_id, source, language, tags, owner, readers, partition_no,
:space AS embedding_space

-- fragment: chunk_columns
-- Of all chunks, each column as one string of bytes in the order of the chunk ids.
count(*) AS chunks,
string_agg(int8send(chunk_id), '' ORDER BY chunk_id) AS ids,
string_agg(int8send(document_key), '' ORDER BY chunk_id) AS document_keys,
string_agg(halfvec_send(dense), '' ORDER BY chunk_id) AS dense,
string_agg(sparsevec_send(lexical), '' ORDER BY chunk_id) AS lexical,
string_agg(int4send(octet_length(sparsevec_send(lexical))), '' ORDER BY chunk_id) AS lexical_lengths

-- name: partition
-- $1 partition: what a shard of it starts from.
SELECT
    revision, audience_revision, (SELECT history FROM histories) AS history, chunks, languages,
    vocabulary_size, confidence, :space AS partition_space
FROM tenants WHERE tenant = $1;

-- name: tenant_documents
-- $1 tenant: its documents.
SELECT :document_columns FROM documents JOIN tenants USING (tenant)
WHERE documents.tenant = $1;

-- name: public_documents
-- The public documents of all tenants that are not being deleted.
SELECT :document_columns FROM documents JOIN tenants USING (tenant)
WHERE 'public' = ANY (readers) AND NOT is_being_deleted;

-- name: chunks
-- $1 partitions of the chunks, $2 documents: their chunks.
SELECT :chunk_columns
FROM chunks WHERE partition_no = ANY ($1::integer[]) AND document_key = ANY ($2::bigint[]);

-- name: changes
-- $1 to $4 as in `change_log.since`: the changes of a partition after a revision. $5 whether chunks
-- whose text stays and moves within its document count as updated.
--
-- The first row holds the newest revision, the chunks that were removed or updated, and the added or
-- updated chunks that still exist. The others are the documents of these. OFFSET 0: one lookup for each
-- row.
WITH :missed_changes,
changed_texts AS MATERIALIZED (
    SELECT chunk_id, document_key
    FROM (
        SELECT chunk_id FROM changed
        UNION
        SELECT unnest(repositioned_chunks) FROM missed WHERE $5 AND (SELECT is_whole FROM whole)
    ) AS changed
    CROSS JOIN LATERAL (
        SELECT document_key FROM chunk_texts WHERE chunk_texts.chunk_id = changed.chunk_id OFFSET 0
    ) AS chunk_texts
),
changed_documents AS MATERIALIZED (
    SELECT :document_columns
    FROM (SELECT DISTINCT document_key AS changed_key FROM changed_texts) AS changed_keys
    CROSS JOIN LATERAL (
        SELECT document_key, tenant, document_id, source, language, tags, owner, readers
        FROM documents
        WHERE document_key = changed_key
          AND ((tenant = $1 AND $1 <> 'public') OR ($1 = 'public' AND 'public' = ANY (readers)))
        OFFSET 0
    ) AS documents
    CROSS JOIN LATERAL (
        SELECT partition_no, embedding_space FROM tenants
        WHERE tenants.tenant = documents.tenant AND NOT is_being_deleted
        OFFSET 0
    ) AS tenants
),
changed_chunks AS (
    SELECT chunk_id, document_key, dense, lexical
    FROM changed_texts JOIN changed_documents USING (document_key)
    CROSS JOIN LATERAL (
        SELECT dense, lexical FROM chunks
        WHERE chunks.partition_no = changed_documents.partition_no
          AND chunks.chunk_id = changed_texts.chunk_id
        OFFSET 0
    ) AS chunks
)
SELECT
    head.*, document_key, tenant, document_id, source, language, tags, owner, readers,
    changed_documents.embedding_space
FROM (
    SELECT
        1 AS position, revision, audience_revision, history, languages, vocabulary_size, confidence,
        is_whole,
        embedding_space AS partition_space,
        (
            SELECT string_agg(int8send(chunk_id), '')
            FROM missed CROSS JOIN LATERAL unnest(removed_chunks || updated_chunks) AS chunk_id
            WHERE is_whole
        ) AS outdated,
        columns.*
    FROM current CROSS JOIN whole CROSS JOIN (SELECT :chunk_columns FROM changed_chunks) AS columns
) AS head
FULL JOIN (SELECT 2 AS position, * FROM changed_documents) AS changed_documents USING (position);

-- name: scores
-- $1 and $2, $3 and $4: pairs of vectors. Their scores as searches compute them; no table is read.
SELECT
    (SELECT array_agg(1 - (one <=> other) ORDER BY place)
     FROM unnest($1::halfvec[], $2::halfvec[]) WITH ORDINALITY AS pairs (one, other, place)) AS dense,
    (SELECT array_agg(- (one <#> other) ORDER BY place)
     FROM unnest($3::sparsevec[], $4::sparsevec[]) WITH ORDINALITY AS pairs (one, other, place)) AS lexical;
