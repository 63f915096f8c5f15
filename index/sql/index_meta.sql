-- name: create
-- $1 embedding space, $2 dimensions, $3 analyser: the first caller sets them for the index.
INSERT INTO index_meta (embedding_space, dimensions, analyser) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: current
SELECT embedding_space, dimensions, analyser FROM index_meta;

-- name: collation_change
-- The version of the collation that the database's indexes were made with and that of the server's library,
-- if they differ: then text may be in another order than an index has it.
SELECT quote_ident(datname) AS database, datcollversion AS stored,
    pg_database_collation_actual_version(oid) AS actual
FROM pg_database
WHERE datname = current_database() AND datcollversion IS NOT NULL
  AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid);
