-- What a scope sees: the audiences that it admits.

-- uses: visibility
-- uses: search

-- name: admitted
-- $1 to $4 as in visibility.sql, $5 limit: the tokens of the audiences that may read, the audience revision
-- of which they are all, and the tokens among the grants that have words of their own. Without an audience,
-- one row with null in its place.
-- MATERIALIZED: a limit would make the planner read the table until it has enough.
WITH admitted AS MATERIALIZED (SELECT allowed_tokens FROM audiences WHERE :may_read)
SELECT
    (SELECT history FROM histories) AS history, audience_revision, limited.allowed_tokens,
    ARRAY(
        SELECT token FROM groups_with_words
        WHERE groups_with_words.tenant = $1 AND token = ANY ($2::text[] || $3::text[])
    ) AS tokens_with_words
FROM tenants
LEFT JOIN (SELECT allowed_tokens FROM admitted LIMIT $5::bigint) AS limited ON true
WHERE tenant = $1;
