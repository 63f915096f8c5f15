-- The texts of a shard's chunks, for gateways that hold them in memory (`NEARHIT_SHARD_TEXTS`). The owner
-- of the tables runs it: the role of shards may read no text.

-- uses: search

-- name: of_chunks
-- $1 chunks: what a hit shows of each, as `index.resident.chunk_records` reads it, and its length in
-- bytes; both in the order of the chunk ids.
SELECT
    string_agg(record, '' ORDER BY chunk_id) AS records,
    string_agg(int4send(octet_length(record)), '' ORDER BY chunk_id) AS lengths
FROM (
    SELECT
        chunk_id,
        convert_to(json_build_array(
            document_key, tenant, document_id, title, source, uri, language, tags,
            :shown_metadata, encode(digest, 'hex'), start_at, end_at, text
        )::text, 'UTF8') AS record
    FROM chunk_texts JOIN documents USING (document_key)
    WHERE chunk_id = ANY ($1::bigint[])
) AS chunks;
