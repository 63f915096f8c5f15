-- name: draw
-- Another history from now on. $1 null, or the history that it has to be: of many that ask for one at
-- once, one draws, and those behind it find that it has been done.
UPDATE history_numbers SET number = hashtextextended(gen_random_uuid()::text, 0)
WHERE singleton AND ($1::text IS NULL OR $1 = history_of(number))
RETURNING true AS is_drawn;
