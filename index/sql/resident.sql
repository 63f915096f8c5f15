-- The chunks of a partition, for a shard in memory. They hold vectors and terms, and no text.

-- fragment: space
-- The embedding space of a row of `tenants`.
coalesce(embedding_space, (SELECT embedding_space FROM index_meta))

-- name: partition
-- $1 partition: what a shard of it starts from.
SELECT
    revision, (SELECT history FROM histories) AS history, chunks, vocabulary_size
FROM tenants WHERE tenant = $1;

-- name: tenant_documents
-- $1 tenant: its documents.
SELECT
    document_key, tenant, document_id, source, language, tags, owner, readers, partition_no,
    :space AS embedding_space
FROM documents JOIN tenants USING (tenant)
WHERE documents.tenant = $1;

-- name: public_documents
-- The public documents of all tenants that are not being deleted.
SELECT
    document_key, tenant, document_id, source, language, tags, owner, readers, partition_no,
    :space AS embedding_space
FROM documents JOIN tenants USING (tenant)
WHERE 'public' = ANY (readers) AND NOT is_being_deleted;

-- name: chunks
-- $1 partitions of the chunks, $2 documents: their chunks, each column as one string of bytes in the order
-- of the chunk ids.
SELECT
    count(*) AS chunks,
    string_agg(int8send(chunk_id), '' ORDER BY chunk_id) AS ids,
    string_agg(int8send(document_key), '' ORDER BY chunk_id) AS document_keys,
    string_agg(halfvec_send(dense), '' ORDER BY chunk_id) AS dense,
    string_agg(sparsevec_send(lexical), '' ORDER BY chunk_id) AS lexical,
    string_agg(int4send(octet_length(sparsevec_send(lexical))), '' ORDER BY chunk_id) AS lexical_lengths
FROM chunks WHERE partition_no = ANY ($1::integer[]) AND document_key = ANY ($2::bigint[]);
