-- name: create
-- $1 embedding space, $2 dimensions, $3 analyser: the first caller sets them for the index.
INSERT INTO index_meta (embedding_space, dimensions, analyser) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: current
SELECT embedding_space, dimensions, analyser FROM index_meta;

-- name: server_state
-- Whether the server only reads, and what ends that; and whether the version of the collation that the
-- database's indexes were made with is that of the server's library.
SELECT quote_ident(datname) AS database,
    pg_is_in_recovery() AS is_standby,
    current_setting('transaction_read_only') = 'on' AS is_read_only,
    'SET default_transaction_read_only = off; ' || CASE source
        WHEN 'database' THEN format('ALTER DATABASE %I RESET default_transaction_read_only;', datname)
        WHEN 'user' THEN format('ALTER ROLE %I RESET default_transaction_read_only;', session_user)
        WHEN 'database user' THEN format(
            'ALTER ROLE %I IN DATABASE %I RESET default_transaction_read_only;', session_user, datname
        )
        WHEN 'client' THEN NULL  -- the URL sets it
        ELSE 'ALTER SYSTEM SET default_transaction_read_only = off; SELECT pg_reload_conf();'
    END AS read_only_remedy,
    datcollversion AS stored, actual,
    datcollversion IS NOT NULL AND datcollversion IS DISTINCT FROM actual AS has_changed
FROM pg_database, pg_database_collation_actual_version(oid) AS actual, pg_settings
WHERE datname = current_database() AND pg_settings.name = 'default_transaction_read_only';
