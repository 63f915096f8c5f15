-- name: claim
-- $1 space, $2 dimensions, $3 analyser: the first to come decides what this index is made with.
INSERT INTO index_meta (embedding_space, dimensions, analyser) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: current
SELECT embedding_space, dimensions, analyser FROM index_meta;
