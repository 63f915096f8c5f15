"""A database before and after `pg_restore`, which makes it one of another history."""

from index.postgres import connections, migrate, search_role, statements

_TABLES = """
SELECT EXISTS (
    SELECT FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
)"""
_SCHEMA = "SELECT quote_ident(current_schema())"
_DRAW = statements.load()["history.draw"]


async def prepare(url: str) -> tuple[str, bool]:
    """The schema that tables stand in, and whether there are any.

    The role that serves searches is there from now on: a dump names it, and does not make it.
    """
    async with connections.direct_connection(url) as connection:
        await search_role.make(connection)
        schema: str = await connection.fetchval(_SCHEMA)
        return schema, await connection.fetchval(_TABLES)


async def finish(url: str) -> None:
    """Bring the schema up to date, and draw another name for the database's history."""
    await migrate.migrate(url, migrate.shipped())
    async with connections.direct_connection(url) as connection:
        await connection.fetch(_DRAW, None)
