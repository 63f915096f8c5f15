"""Prepares a database for `pg_restore`, and starts a new history after it."""

from index.postgres import connections, migrate, statements
from index.postgres.functions import function_roles
from index.postgres.identifier_spellings import IdentifierPolicy

_TABLES = """
SELECT EXISTS (
    SELECT FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
)"""
_SCHEMA = "SELECT quote_ident(current_schema())"
_DRAW = statements.load()["history.draw"]


async def prepare(url: str) -> tuple[str, bool]:
    """The schema of the tables, and whether it holds any.

    Creates the roles that call functions: a dump refers to them but does not create them.
    """
    async with connections.direct_connection(url) as connection:
        await function_roles.create_all(connection)
        schema: str = await connection.fetchval(_SCHEMA)
        return schema, await connection.fetchval(_TABLES)


async def finish(url: str, identifiers: IdentifierPolicy) -> None:
    """Bring the schema up to date, and give the database's history a new name."""
    await migrate.migrate(url, migrate.shipped(), identifiers=identifiers)
    async with connections.direct_connection(url) as connection:
        await connection.fetch(_DRAW, None)
