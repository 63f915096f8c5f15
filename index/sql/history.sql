-- name: draw
-- Begin a new history. $1 null, or the history to replace: of concurrent callers one begins a new
-- history, and the others change nothing.
UPDATE history_numbers SET number = hashtextextended(gen_random_uuid()::text, 0)
WHERE singleton AND ($1::text IS NULL OR $1 = history_of(number))
RETURNING true AS is_drawn;
