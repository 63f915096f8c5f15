-- name: claim
-- $1 space, $2 dimensions, $3 analyser: the first to come decides what this index is made with.
INSERT INTO generation (space, dimensions, analyser) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: current
SELECT space, dimensions, analyser FROM generation;
