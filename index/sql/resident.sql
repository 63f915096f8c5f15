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
    encode(chunk_texts.digest, 'hex'), chunk_texts.start_at, chunk_texts.end_at, chunk_texts.text
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

-- fragment: snapshot_xmin
-- The first transaction that had not ended in the snapshot: only this and later ones can add words that
-- the snapshot lacks.
pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS snapshot_xmin

-- fragment: entry
-- Of a token's words, as `index.text.vocabulary.entries` names them.
token || E'\x1f' || word

-- fragment: digests
-- The first 8 bytes of the digest of each entry; see `index.text.vocabulary.ResidentWords`.
string_agg(substr(sha256(convert_to(entry, 'UTF8')), 1, 8), '') AS digests

-- fragment: delete_hashes
-- The hashes of what is left of each of `words` without some of its letters; see
-- `index.text.near_words.vocabulary_hashes`. $3 the letters of the longest words that are compared at one
-- slip, $4 of the shortest at two, $5 the number of first letters that are compared.
--
-- The place behind the last letter deletes nothing. `j` is the later of two deleted letters, or behind the
-- last one.
SELECT string_agg(substr(sha256(convert_to(slips || rest, 'UTF8')), 1, 4), '') AS hashes
FROM (
    SELECT '1' AS slips, overlay(word PLACING '' FROM i FOR 1) AS rest
    FROM words CROSS JOIN LATERAL generate_series(1, length(word) + 1) AS i
    WHERE length(word) <= $3::integer
    UNION ALL
    SELECT '2', overlay(without_j PLACING '' FROM i FOR 1)
    FROM (
        SELECT letters, j, overlay(prefix PLACING '' FROM j FOR 1) AS without_j
        FROM (
            SELECT left(word, $5::integer) AS prefix, least(length(word), $5) AS letters
            FROM words WHERE length(word) >= $4::integer
        ) AS prefixes
        CROSS JOIN LATERAL generate_series(1, letters + 1) AS j
        OFFSET 0  -- so that `without_j` is computed once for all i
    ) AS shorter
    CROSS JOIN LATERAL generate_series(1, CASE WHEN j > letters THEN j ELSE j - 1 END) AS i
) AS deletes

-- name: partition
-- $1 partition: what a shard of it starts from.
SELECT
    revision, audience_revision, (SELECT history FROM histories) AS history, chunks, languages,
    vocabulary_size, confidence, :space AS partition_space, :snapshot_xmin
FROM tenants WHERE tenant = $1;

-- name: words
-- $1 tenant: the digests of its vocabulary, also of the words that only some may read, and whether there
-- are any of these.
SELECT :digests, coalesce(bool_or(is_restricted), false) AS has_restricted
FROM (
    SELECT word AS entry, false AS is_restricted FROM vocabulary WHERE ARRAY[tenant] && ARRAY[$1::text]
    UNION ALL
    SELECT :entry, true FROM restricted_words WHERE tenant = $1
) AS entries;

-- name: near_words
-- $1 tenant, $2 page, $3 to $5 as above, $6 number of pages: the hashes of this part of its vocabulary,
-- without the words that only some may read: whether a word is looked up must not tell these.
WITH words AS MATERIALIZED (
    SELECT word FROM vocabulary
    WHERE ARRAY[tenant] && ARRAY[$1::text] AND (hashtext(word) & 2147483647) % $6::integer = $2::integer
)
:delete_hashes;

-- name: learned_words
-- $1 tenant, $2 the first transaction of a snapshot that had not ended, $3 to $5 as above, $6 limit of words:
-- those that the snapshot may lack, with this snapshot's own. Numbers of transactions that are yet to come
-- are of another server, from which the words were restored.
WITH learned AS MATERIALIZED (
    SELECT word, word AS entry, false AS is_restricted FROM vocabulary
    WHERE tenant = $1 AND learned_by >= $2::bigint::text::xid8
      AND learned_by < pg_snapshot_xmax(pg_current_snapshot())
    UNION ALL
    SELECT word, :entry, true FROM restricted_words
    WHERE tenant = $1 AND learned_by >= $2::bigint::text::xid8
      AND learned_by < pg_snapshot_xmax(pg_current_snapshot())
    LIMIT $6
),
words AS MATERIALIZED (SELECT word FROM learned WHERE NOT is_restricted)
SELECT
    (SELECT :digests FROM learned), (:delete_hashes),
    (SELECT coalesce(bool_or(is_restricted), false) FROM learned) AS has_restricted, :snapshot_xmin;

-- name: tenant_documents
-- $1 tenant: its documents.
SELECT :document_columns FROM documents JOIN tenants USING (tenant)
WHERE documents.tenant = $1;

-- name: public_documents
-- The public documents of all tenants that are not being deleted.
SELECT :document_columns FROM documents JOIN tenants USING (tenant)
WHERE 'public' = ANY (readers) AND NOT is_being_deleted;

-- name: chunks
-- $1 partitions of the chunks, $2 documents: their chunks. OFFSET 0: one lookup for each chunk.
SELECT :chunk_columns
FROM (
    SELECT chunks.chunk_id, chunks.document_key, dense, lexical, :record
    FROM chunks
    JOIN documents ON documents.document_key = chunks.document_key
    CROSS JOIN LATERAL (
        SELECT digest, start_at, end_at, text FROM chunk_texts
        WHERE chunk_texts.chunk_id = chunks.chunk_id
        OFFSET 0
    ) AS chunk_texts
    WHERE chunks.partition_no = ANY ($1::integer[]) AND chunks.document_key = ANY ($2::bigint[])
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
    SELECT :document_columns, title, uri, metadata
    FROM (SELECT DISTINCT document_key AS changed_key FROM changed_texts) AS changed_keys
    CROSS JOIN LATERAL (
        SELECT
            document_key, tenant, document_id, source, language, tags, owner, readers, title, uri,
            metadata
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
