-- name: excess
-- $1 schema of the tables, $2 pattern of how the names of the role's functions begin: the rights of the
-- session's role beyond calling these functions, and the statement that revokes each. Such a name ends
-- with a digest of the function's body
-- (index/postgres/functions/security_definer_functions.py).
-- Tables of extensions hold no data of Nearhit.
WITH schema AS (SELECT oid, quote_ident(nspname) AS name FROM pg_namespace WHERE nspname = $1),
self AS (SELECT *, quote_ident(rolname) AS name FROM pg_roles WHERE rolname = current_user)
SELECT 'is ' || attribute AS excess, 'ALTER ROLE ' || name || ' NO' || attribute AS remedy
FROM self CROSS JOIN LATERAL (
    VALUES
        ('SUPERUSER', rolsuper), ('BYPASSRLS', rolbypassrls), ('CREATEROLE', rolcreaterole),
        ('REPLICATION', rolreplication)
) AS attributes (attribute, is_set)
WHERE is_set
UNION ALL
SELECT
    'is a member of ' || pg_get_userbyid(roleid),
    'REVOKE ' || quote_ident(pg_get_userbyid(roleid)) || ' FROM ' || name
FROM pg_auth_members JOIN self ON member = self.oid
UNION ALL
SELECT
    'may create things in the schema ' || schema.name,
    'REVOKE CREATE ON SCHEMA ' || schema.name || ' FROM ' || self.name || ', PUBLIC'
FROM schema CROSS JOIN self WHERE has_schema_privilege(schema.oid, 'CREATE')
UNION ALL
SELECT
    'may read or change ' || pg_class.oid::regclass,
    'REVOKE ALL ON ' || pg_class.oid::regclass || ' FROM ' || self.name || ', PUBLIC'
FROM pg_class JOIN schema ON relnamespace = schema.oid CROSS JOIN self
WHERE CASE
        WHEN relkind = 'S' THEN has_sequence_privilege(pg_class.oid, 'USAGE, SELECT, UPDATE')
        WHEN relkind IN ('r', 'p', 'v', 'm', 'f') THEN
            has_table_privilege(pg_class.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
            OR has_any_column_privilege(pg_class.oid, 'SELECT, INSERT, UPDATE')
    END
  AND NOT EXISTS (
    SELECT FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'
)
UNION ALL
SELECT
    'may call ' || pg_proc.oid::regprocedure || ', which acts as ' || pg_get_userbyid(proowner),
    'REVOKE EXECUTE ON FUNCTION ' || pg_proc.oid::regprocedure || ' FROM ' || self.name || ', PUBLIC'
FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace CROSS JOIN self
WHERE prosecdef AND nspname NOT IN ('pg_catalog', 'information_schema')
  AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
  AND has_function_privilege(pg_proc.oid, 'EXECUTE')
  AND has_schema_privilege(pronamespace, 'USAGE')
  AND NOT (
    pronamespace = (SELECT oid FROM schema)
    AND proname ~ ('^(' || $2::text || ')_\w+_[0-9a-f]{8}$')
    AND right(proname, 8) = left(encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'), 8)
);
