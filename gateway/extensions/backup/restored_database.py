"""Prepares a database for `pg_restore`, and starts a new history after it."""

from collections.abc import Mapping
from dataclasses import dataclass

from index.postgres import connections, statements
from index.postgres.functions import function_roles
from index.postgres.setup import migrate, prerequisites
from index.postgres.setup.identifier_spellings import IdentifierPolicy

# The owner of the tables; without tables, that of the database, if a superuser restores for it.
# Others may have tables in the schema too, which stay.
_TARGET = """
SELECT quote_ident(current_schema()) AS schema, quote_ident(owner.rolname) AS owner,
    owner_of_tables IS NOT NULL AS has_tables
FROM (
    SELECT min(relowner) AS owner_of_tables FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname = 'tenants'
) AS present
JOIN pg_database ON datname = current_database()
JOIN pg_roles AS login ON login.rolname = current_user
JOIN pg_roles AS owner
    ON owner.oid = coalesce(owner_of_tables, CASE WHEN login.rolsuper THEN datdba END, login.oid)
"""
# Not the schema: it may hold the extensions, which most logins can't make again.
_DROP = """
SET LOCAL client_min_messages = warning;
DO $drop$
DECLARE
    command text;
    commands text[];
    owner oid := (SELECT oid FROM pg_roles WHERE rolname = current_user);
BEGIN
    SELECT array_agg(drop_command) INTO commands FROM (
        SELECT format(
            'DROP TABLE %s CASCADE', string_agg(pg_class.oid::regclass::text, ', ')
        ) AS drop_command
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
          AND NOT relispartition AND relowner = owner
        HAVING count(*) > 0
        UNION ALL
        SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', pg_proc.oid::regprocedure)
        FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace AND proowner = owner AND NOT EXISTS (
            SELECT FROM pg_depend
            WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e'
        )
        UNION ALL
        SELECT format('DROP SEQUENCE IF EXISTS %s CASCADE', pg_class.oid::regclass)
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' AND relowner = owner
    ) AS each_command;
    FOREACH command IN ARRAY coalesce(commands, '{}') LOOP
        EXECUTE command;
    END LOOP;
END $drop$;
"""
_DRAW = statements.load()["history.draw"]


@dataclass(frozen=True, slots=True)
class RestoreTarget:
    """begin: the SQL, in a transaction, after which the dump can be read into the database.

    extension_schemas: by extension, the schema that it is in.
    """

    has_tables: bool
    begin: str
    extension_schemas: Mapping[str, str]


async def prepare(url: str) -> RestoreTarget:
    """Create the extensions and the roles, which a dump refers to and may not create.

    Raises `PrerequisitesMissing` and `RoleRefused`.
    """
    async with connections.direct_connection(url) as connection:
        await prerequisites.check(connection, allow_old_pgvector=True)  # `finish` is as strict
        await prerequisites.create_extensions(connection)
        await function_roles.create_all(connection)
        target = await connection.fetchrow(_TARGET)
        assert target is not None, "the check has found a schema"
        begin = f"SET ROLE {target['owner']};\nSET search_path = {target['schema']};\n{_DROP}"
        schemas = await prerequisites.extension_schemas(connection)
        return RestoreTarget(target["has_tables"], begin, schemas)


async def finish(url: str, identifiers: IdentifierPolicy) -> None:
    """Bring the schema up to date, and give the database's history a new name."""
    await migrate.migrate(url, migrate.shipped(), identifiers=identifiers)
    async with connections.direct_connection(url) as connection:
        await connection.fetch(_DRAW, None)
