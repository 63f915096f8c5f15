-- name: excess
-- $1 roles, $2 for each the pattern of its functions' names: the rights of these roles beyond calling
-- their functions in the schema of the tables, and the statement that revokes each. Such a name ends
-- with a digest of the function's body
-- (index/postgres/functions/security_definer_functions.py).
-- Tables of extensions hold no data of Nearhit.
WITH schema AS (
    SELECT oid, quote_ident(nspname) AS name FROM pg_namespace WHERE nspname = current_schema()
),
roles AS (
    SELECT pg_roles.*, functions, quote_ident(rolname) AS name
    FROM unnest($1::text[], $2::text[]) AS checked (role, functions) JOIN pg_roles ON rolname = role
)
SELECT
    rolname::text AS role,
    'is ' || attribute AS excess,
    'ALTER ROLE ' || name || ' NO' || attribute AS remedy
FROM roles CROSS JOIN LATERAL (
    VALUES
        ('SUPERUSER', rolsuper), ('BYPASSRLS', rolbypassrls), ('CREATEROLE', rolcreaterole),
        ('REPLICATION', rolreplication)
) AS attributes (attribute, is_set)
WHERE is_set
UNION ALL
SELECT
    rolname,
    'is a member of ' || pg_get_userbyid(roleid),
    'REVOKE ' || quote_ident(pg_get_userbyid(roleid)) || ' FROM ' || name
FROM pg_auth_members JOIN roles ON member = roles.oid
UNION ALL
SELECT
    rolname,
    'may create things in the schema ' || schema.name,
    'REVOKE CREATE ON SCHEMA ' || schema.name || ' FROM ' || roles.name || ', PUBLIC'
FROM schema CROSS JOIN roles WHERE has_schema_privilege(roles.oid, schema.oid, 'CREATE')
UNION ALL
SELECT
    rolname,
    'may read or change ' || pg_class.oid::regclass,
    'REVOKE ALL ON ' || pg_class.oid::regclass || ' FROM ' || roles.name || ', PUBLIC'
FROM pg_class JOIN schema ON relnamespace = schema.oid CROSS JOIN roles
WHERE CASE
        WHEN relkind = 'S' THEN has_sequence_privilege(roles.oid, pg_class.oid, 'USAGE, SELECT, UPDATE')
        WHEN relkind IN ('r', 'p', 'v', 'm', 'f') THEN
            has_table_privilege(roles.oid, pg_class.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
            OR has_any_column_privilege(roles.oid, pg_class.oid, 'SELECT, INSERT, UPDATE')
    END
  AND NOT EXISTS (
    SELECT FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'
)
UNION ALL
SELECT
    rolname,
    'may call ' || pg_proc.oid::regprocedure || ', which acts as ' || pg_get_userbyid(proowner),
    'REVOKE EXECUTE ON FUNCTION ' || pg_proc.oid::regprocedure || ' FROM ' || roles.name || ', PUBLIC'
FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace CROSS JOIN roles
WHERE prosecdef AND nspname NOT IN ('pg_catalog', 'information_schema')
  AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
  AND has_function_privilege(roles.oid, pg_proc.oid, 'EXECUTE')
  AND has_schema_privilege(roles.oid, pronamespace, 'USAGE')
  AND NOT (
    pronamespace = (SELECT oid FROM schema)
    AND proname ~ ('^' || functions || '$')
    AND right(proname, 8) = left(encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'), 8)
);
