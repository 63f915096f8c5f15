-- name: draw
-- Begin a new history. $1 null, or the history to replace: of concurrent callers one begins a new
-- history, and the others change nothing.
UPDATE history_numbers SET number = hashtextextended(gen_random_uuid()::text, 0)
WHERE singleton AND ($1::text IS NULL OR $1 = history_of(number))
RETURNING true AS is_drawn;

-- name: note
SELECT note_history();

-- name: noted
-- $1 tenants. Of each noted history and each tenant, the last revision of the history that this database
-- holds: the one before the tenant's first write in a later history, else the current one.
SELECT
    noted.history,
    tenants.tenant,
    coalesce(
        (
            SELECT min(later.revision) FROM revisions_before AS later
            WHERE later.tenant = tenants.tenant
              AND later.number > noted.number
              AND later.history <> noted.history
        ),
        tenants.revision
    ) AS revision
FROM noted_histories AS noted CROSS JOIN tenants
WHERE tenants.tenant = ANY ($1::text[]);
