-- Where chunks stand. {shelf} and {width} are numbers of ours: a shelf, the width of its vectors.

-- name: claim
-- One process at a time tends the shelves; held as long as the connection.
SELECT pg_try_advisory_lock(6324272);

-- name: release
SELECT pg_advisory_unlock(6324272);

-- name: outgrown
-- $1 how many chunks are too many for the shared shelf.
SELECT tenant, chunks FROM tenants
WHERE partition_no = 0 AND chunks >= $1 AND tenant <> 'public' AND NOT is_being_deleted ORDER BY chunks DESC, tenant;

-- name: unindexed
-- $1 how many chunks that one search may see make an index worth its price.
SELECT partition_no, coalesce(chunk_partitions.tenant, 'everybody') AS whose
FROM chunk_partitions JOIN tenants USING (partition_no)
WHERE dimensions IS NULL
GROUP BY partition_no
HAVING partition_no <> 0 OR sum(public_chunks) >= $1
ORDER BY partition_no;

-- name: number
-- The tenant's shelf to be: a new one, or the one that an earlier attempt began with.
INSERT INTO chunk_partitions (partition_no, tenant) VALUES (nextval('partition_numbers'), $1)
ON CONFLICT (tenant) DO UPDATE SET tenant = excluded.tenant
RETURNING partition_no, to_regclass('chunks_' || partition_no) IS NOT NULL AS is_built;

-- name: build
CREATE TABLE chunks_{partition_no} (LIKE chunks INCLUDING DEFAULTS, CHECK (partition_no = {partition_no}))
WITH (toast_tuple_target = 8160);

-- name: attach
-- Searches go on: it takes no lock that they would wait for.
ALTER TABLE chunks ATTACH PARTITION chunks_{partition_no} FOR VALUES IN ({partition_no});

-- name: close
-- Writers of the tenant wait from here to the end of the transaction; those at work are waited for.
SELECT pg_advisory_xact_lock(hashtextextended(chr(31) || 'partition' || chr(31) || $1, 0));

-- name: copy
-- Chunks of a document stand side by side from now on.
INSERT INTO chunks_{partition_no} (partition_no, chunk_id, tenant, document_key, dense, lexical)
SELECT {partition_no}, chunk_id, tenant, document_key, dense, lexical
FROM chunks WHERE partition_no = 0 AND tenant = $1 ORDER BY document_key, chunk_id;

-- name: clear
DELETE FROM chunks WHERE partition_no = 0 AND tenant = $1;

-- name: enter
UPDATE tenants SET partition_no = $1 WHERE tenant = $2;

-- name: partitions
-- Whose searches may see the tenant's chunks: the tenant's before the public one.
SELECT tenant AS partition FROM tenants WHERE tenant = $1
UNION ALL
SELECT 'public' FROM tenants WHERE tenant = $1 AND tenant <> 'public' AND public_chunks > 0;

-- name: unsettle
-- A graph may find other chunks than a look at all of them, and nobody can tell which. So this
-- revision has no row among the changes: a cache that meets the gap starts anew.
UPDATE tenants SET revision = revision + 1 WHERE tenant = $1;

-- name: any_width
SELECT vector_dims(dense) AS dimensions FROM chunks WHERE partition_no = $1 LIMIT 1;

-- name: drop_graph
DROP INDEX CONCURRENTLY IF EXISTS chunks_{partition_no}_graph;

-- name: drop_terms
DROP INDEX CONCURRENTLY IF EXISTS chunks_{partition_no}_terms;

-- name: index_graph
-- pgvector's defaults, 16 and 64, found 0.982 of the first ten of 200,000 chunks; these find 0.996.
CREATE INDEX CONCURRENTLY chunks_{partition_no}_graph ON chunks_{partition_no}
USING hnsw ((dense::halfvec({dimensions})) halfvec_cosine_ops) WITH (m = 24, ef_construction = 128) WHERE vector_dims(dense) = {dimensions};

-- name: index_terms
CREATE INDEX CONCURRENTLY chunks_{partition_no}_terms ON chunks_{partition_no}
USING gin (lexical_terms(lexical)) WITH (fastupdate = off);

-- name: open_index
-- Unless the shelf's vectors have become others while it was made.
UPDATE chunk_partitions SET dimensions = $2
WHERE partition_no = $1
  AND $2 = (SELECT vector_dims(dense) FROM chunks WHERE chunks.partition_no = $1 LIMIT 1)
RETURNING coalesce(tenant, 'public') AS whose;
