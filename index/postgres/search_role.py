"""The database role that serves searches: it may call functions, and read no table.

It belongs to the whole server: installations in several of its databases share it.
"""

from typing import NoReturn, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from index.errors import RoleRefused
from index.postgres import statements

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

NAME = "nearhit_search"
_TOLD_MAX = 5  # things that it may do and mustn't, in a message

_EXCESS = statements.load()["role.excess"]
_CLOSED_SCHEMA = """
SELECT quote_ident(current_schema())
WHERE NOT has_schema_privilege($1, current_schema(), 'USAGE')"""


async def make(connection: Connection, name: str = NAME) -> None:
    """See to it that there is the role, and that whoever is connected may act as it.

    Many processes may call this at once, on many databases of one server. Raises `RoleRefused`.
    """
    making = (f"CREATE ROLE {name} NOLOGIN", f"GRANT {name} TO CURRENT_USER")
    for statement in () if await _may_act(connection, name) else making:
        try:
            await connection.execute(statement)
        except (
            asyncpg.DuplicateObjectError,
            asyncpg.UniqueViolationError,
            asyncpg.InternalServerError,  # "tuple concurrently updated"
            asyncpg.InsufficientPrivilegeError,
            asyncpg.UndefinedObjectError,
        ):
            continue  # others do the same, or have done it: what counts is what there is then
    if not await _may_act(connection, name):
        await _refuse(connection, name)
    await _let_in(connection, name)


async def check(connection: Connection, schema: str, name: str) -> None:
    """Raises `RoleRefused` if whoever is connected may do more than searches need.

    schema: of the tables.
    """
    acting = await connection.fetchval("SELECT current_user")
    if acting != name:
        raise RoleRefused(
            f"searches have to be served by the database role {name}, and the server takes us for "
            f"{acting}: connect to it without a pooler that drops what a connection begins with"
        )
    rows = await connection.fetch(_EXCESS, schema)
    if rows:
        told = "; ".join(f"it {row['excess']}: {row['remedy']}" for row in rows[:_TOLD_MAX])
        more = f"; and {len(rows) - _TOLD_MAX} more" if len(rows) > _TOLD_MAX else ""
        raise RoleRefused(
            f"the database role {name}, which serves searches, may do more than call our "
            f"functions, so Nearhit does not start: {told}{more}"
        )


async def _may_act(connection: Connection, name: str) -> bool:
    """Whether there is the role, and we may take it on."""
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL ROLE {name}")
    except (asyncpg.InvalidParameterValueError, asyncpg.InsufficientPrivilegeError):
        return False
    return True


async def _let_in(connection: Connection, name: str) -> None:
    """Into the schema of the tables, to find the functions there; most let everybody in."""
    schema = await connection.fetchval(_CLOSED_SCHEMA, name)
    if schema is not None:
        await connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}")


async def _refuse(connection: Connection, name: str) -> NoReturn:
    """With what an administrator has to run."""
    whose = await connection.fetchval("SELECT quote_ident(current_user)")
    is_there = await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", name)
    create = "" if is_there else f"CREATE ROLE {name} NOLOGIN; "
    raise RoleRefused(
        f"searches are served by the database role {name}, which {whose} may not take on: "
        f"let an administrator of the server run: {create}GRANT {name} TO {whose};"
    )
