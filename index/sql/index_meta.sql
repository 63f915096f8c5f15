-- name: create
-- $1 embedding space, $2 dimensions, $3 analyser: the first caller sets them for the index.
INSERT INTO index_meta (embedding_space, dimensions, analyser) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: current
SELECT embedding_space, dimensions, analyser FROM index_meta;
