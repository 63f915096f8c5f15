"""Prepares a database for `pg_restore`, and starts a new history after it."""

from index.postgres import connections, migrate, search_role, statements

_TABLES = """
SELECT EXISTS (
    SELECT FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
)"""
_SCHEMA = "SELECT quote_ident(current_schema())"
_DRAW = statements.load()["history.draw"]


async def prepare(url: str) -> tuple[str, bool]:
    """The schema of the tables, and whether it holds any.

    Creates the search role, which a dump refers to but does not create.
    """
    async with connections.direct_connection(url) as connection:
        await search_role.create(connection)
        schema: str = await connection.fetchval(_SCHEMA)
        return schema, await connection.fetchval(_TABLES)


async def finish(url: str) -> None:
    """Bring the schema up to date, and give the database's history a new name."""
    await migrate.migrate(url, migrate.shipped())
    async with connections.direct_connection(url) as connection:
        await connection.fetch(_DRAW, None)
