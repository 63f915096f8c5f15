-- What a scope sees: the audiences that it admits.

-- uses: visibility
-- uses: search

-- name: admitted
-- $1 to $4 as in visibility.sql, $5 limit: the tokens of the audiences that may read, and the audience
-- revision of which they are all. Without an audience, one row with null in its place.
-- MATERIALIZED: a limit would make the planner read the table until it has enough.
WITH admitted AS MATERIALIZED (SELECT allowed_tokens FROM audiences WHERE :may_read)
SELECT (SELECT history FROM histories) AS history, audience_revision, limited.allowed_tokens
FROM tenants
LEFT JOIN (SELECT allowed_tokens FROM admitted LIMIT $5::bigint) AS limited ON true
WHERE tenant = $1;
