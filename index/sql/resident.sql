-- The chunks of a partition, for a shard in memory, which the role of shards calls as functions. They
-- return vectors, terms as numbers, what decides who may see a chunk, and what hits show of it.

-- uses: change_log
-- uses: search

-- fragment: space
-- The embedding space of a row of `tenants`.
coalesce(embedding_space, (SELECT embedding_space FROM index_meta))

-- fragment: document_columns
document_key, tenant, document_id, source, language, tags, owner, readers, partition_no,
:space AS embedding_space

-- fragment: record
-- What a hit shows of a chunk, as `index.resident.chunk_records` reads it.
convert_to(json_build_array(
    documents.document_key, documents.tenant, documents.document_id, documents.title, documents.source,
    documents.uri, documents.language, documents.tags, :shown_metadata,
    encode(chunk_texts.digest, 'hex'), chunk_texts.start_at, chunk_texts.end_at, chunk_texts.text,
    documents.provenance ->> 'trust'
)::text, 'UTF8') AS record

-- fragment: chunk_columns
-- Of all chunks, each column as one string of bytes in the order of the chunk ids.
count(*) AS chunks,
string_agg(int8send(chunk_id), '' ORDER BY chunk_id) AS ids,
string_agg(int8send(document_key), '' ORDER BY chunk_id) AS document_keys,
string_agg(halfvec_send(dense), '' ORDER BY chunk_id) AS dense,
string_agg(sparsevec_send(lexical), '' ORDER BY chunk_id) AS lexical,
string_agg(int4send(octet_length(sparsevec_send(lexical))), '' ORDER BY chunk_id) AS lexical_lengths,
string_agg(record, '' ORDER BY chunk_id) AS records,
string_agg(int4send(octet_length(record)), '' ORDER BY chunk_id) AS record_lengths

-- fragment: words_by_token
-- The tokens and the words of each, and the first transaction that had not ended in the snapshot: only this
-- and later ones can add words that the snapshot lacks.
SELECT
    array_agg(token) AS tokens, array_agg(words) AS words,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS snapshot_xmin
FROM (SELECT token, string_agg(word, ' ') AS words FROM entries GROUP BY token) AS by_token

-- name: partition
-- $1 partition: what a shard of it starts from.
SELECT
    revision, audience_revision, (SELECT history FROM histories) AS history, chunks, languages,
    vocabulary_size, confidence, :space AS partition_space
FROM tenants WHERE tenant = $1;

-- name: words
-- $1 tenant, $2 the token of words that the whole tenant may read, $3 limit: its words by token, from which
-- a process corrects typos alone.
WITH entries AS (
    SELECT $2 AS token, word FROM vocabulary WHERE ARRAY[tenant] && ARRAY[$1::text]
    UNION ALL
    SELECT token, word FROM restricted_words WHERE tenant = $1
    LIMIT $3
)
:words_by_token;

-- name: learned_words
-- $1 to $3 as above, $4 the first transaction of a snapshot that had not ended: the words that the snapshot
-- may lack. Numbers of transactions that are yet to come are of another server, from which the words were
-- restored.
WITH entries AS (
    SELECT $2 AS token, word FROM vocabulary
    WHERE tenant = $1 AND learned_by >= $4::bigint::text::xid8
      AND learned_by < pg_snapshot_xmax(pg_current_snapshot())
    UNION ALL
    SELECT token, word FROM restricted_words
    WHERE tenant = $1 AND learned_by >= $4::bigint::text::xid8
      AND learned_by < pg_snapshot_xmax(pg_current_snapshot())
    LIMIT $3
)
:words_by_token;

-- name: separators
-- $1 characters: those that pg_trgm does not take for a part of a word.
SELECT string_agg(character, '') AS separators FROM unnest(string_to_array($1, NULL)) AS character
WHERE show_trgm(character) = '{}';

-- name: tenant_documents
-- $1 tenant: its documents.
SELECT :document_columns FROM documents JOIN tenants USING (tenant)
WHERE documents.tenant = $1;

-- name: public_documents
-- The public documents of all tenants that are not being deleted.
SELECT :document_columns FROM documents JOIN tenants USING (tenant)
WHERE 'public' = ANY (readers) AND NOT is_being_deleted;

-- name: chunks
-- $1 partitions of the chunks, $2 documents: their chunks. OFFSET 0: one lookup for each row.
SELECT :chunk_columns
FROM (
    SELECT chunks.chunk_id, chunks.document_key, dense, lexical, :record
    FROM unnest($2::bigint[]) AS wanted (document_key)
    JOIN documents USING (document_key)
    CROSS JOIN LATERAL (
        SELECT chunk_id, chunks.document_key, dense, lexical FROM chunks
        WHERE chunks.document_key = documents.document_key
          AND chunks.partition_no = ANY ($1::integer[])
        OFFSET 0
    ) AS chunks
    CROSS JOIN LATERAL (
        SELECT digest, start_at, end_at, text FROM chunk_texts
        WHERE chunk_texts.chunk_id = chunks.chunk_id
        OFFSET 0
    ) AS chunk_texts
) AS chunks;

-- name: changes
-- $1 to $4 as in `change_log.since`: the changes of a partition after a revision. Chunks whose text stays
-- and moves within its document count as updated: hits show where they are.
--
-- The first row holds the newest revision, the chunks that were removed or updated, and the added or
-- updated chunks that still exist. The others are the documents of these. OFFSET 0: one lookup for each
-- row.
WITH :missed_changes,
changed_texts AS MATERIALIZED (
    SELECT chunk_id, document_key, digest, start_at, end_at, text
    FROM (
        SELECT chunk_id FROM changed
        UNION
        SELECT unnest(repositioned_chunks) FROM missed WHERE (SELECT is_whole FROM whole)
    ) AS changed
    CROSS JOIN LATERAL (
        SELECT document_key, digest, start_at, end_at, text FROM chunk_texts
        WHERE chunk_texts.chunk_id = changed.chunk_id
        OFFSET 0
    ) AS chunk_texts
),
changed_documents AS MATERIALIZED (
    SELECT :document_columns, title, uri, metadata, provenance
    FROM (SELECT DISTINCT document_key AS changed_key FROM changed_texts) AS changed_keys
    CROSS JOIN LATERAL (
        SELECT
            document_key, tenant, document_id, source, language, tags, owner, readers, title, uri,
            metadata, provenance
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
    SELECT chunk_texts.chunk_id, documents.document_key, dense, lexical, :record
    FROM changed_texts AS chunk_texts
    JOIN changed_documents AS documents ON documents.document_key = chunk_texts.document_key
    CROSS JOIN LATERAL (
        SELECT dense, lexical FROM chunks
        WHERE chunks.partition_no = documents.partition_no
          AND chunks.chunk_id = chunk_texts.chunk_id
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
