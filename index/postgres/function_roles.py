"""The database roles that may call functions, and read no table.

Roles belong to the server: installations in several of its databases share them.
"""

from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from index.errors import RoleRefused
from index.postgres import statements

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

_PROBLEMS_SHOWN_MAX = 5  # in a message

_EXCESS = statements.load()["function_roles.excess"]
_CLOSED_SCHEMA = """
SELECT quote_ident(current_schema())
WHERE NOT has_schema_privilege($1, current_schema(), 'USAGE')"""


@dataclass(frozen=True, slots=True)
class FunctionRole:
    """A role that may call functions.

    user:      what runs as the role, for messages.
    functions: the pattern of how the names of its functions begin.
    """

    name: str
    user: str
    functions: str


SEARCH = FunctionRole("nearhit_search", "searches", "search|vocabulary")
SHARDS = FunctionRole("nearhit_shards", "shard readers", "resident")
ALL = (SEARCH, SHARDS)


async def create_all(connection: Connection) -> None:
    """Create the roles that are missing. Raises `RoleRefused`."""
    for role in ALL:
        await create(connection, role)


async def create(connection: Connection, role: FunctionRole) -> None:
    """Create the role if it is missing, and let the connection's user act as it.

    Processes may call this concurrently, on several databases of a server. Raises `RoleRefused`.
    """
    name = role.name
    statements_to_run = (f"CREATE ROLE {name} NOLOGIN", f"GRANT {name} TO CURRENT_USER")
    for statement in () if await _may_act(connection, name) else statements_to_run:
        try:
            await connection.execute(statement)
        except (
            asyncpg.DuplicateObjectError,
            asyncpg.UniqueViolationError,
            asyncpg.InternalServerError,  # "tuple concurrently updated"
            asyncpg.InsufficientPrivilegeError,
            asyncpg.UndefinedObjectError,
        ):
            continue  # another process does the same; the check below decides
    if not await _may_act(connection, name):
        await _refuse(connection, role)
    await _grant_schema_usage(connection, name)


async def check(connection: Connection, schema: str, role: FunctionRole) -> None:
    """Raises `RoleRefused` if the connection's user may do more than call the role's functions.

    schema: of the tables.
    """
    current_user = await connection.fetchval("SELECT current_user")
    if current_user != role.name:
        raise RoleRefused(
            f"{role.user} must run as the database role {role.name}, but the connection acts as "
            f"{current_user}: connect without a pooler that drops the settings of a connection"
        )
    rows = await connection.fetch(_EXCESS, schema, role.functions)
    if rows:
        problems = "; ".join(
            f"it {row['excess']}: {row['remedy']}" for row in rows[:_PROBLEMS_SHOWN_MAX]
        )
        suffix = (
            f"; and {len(rows) - _PROBLEMS_SHOWN_MAX} more"
            if len(rows) > _PROBLEMS_SHOWN_MAX
            else ""
        )
        raise RoleRefused(
            f"the database role {role.name}, which serves {role.user}, may do more than call "
            f"Nearhit's functions, so Nearhit does not start: {problems}{suffix}"
        )


async def _may_act(connection: Connection, name: str) -> bool:
    """Whether the role exists and the connection's user may act as it."""
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL ROLE {name}")
    except (asyncpg.InvalidParameterValueError, asyncpg.InsufficientPrivilegeError):
        return False
    return True


async def _grant_schema_usage(connection: Connection, name: str) -> None:
    """Let the role use the schema of the tables, where the functions are, if it may not yet."""
    schema = await connection.fetchval(_CLOSED_SCHEMA, name)
    if schema is not None:
        await connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}")


async def _refuse(connection: Connection, role: FunctionRole) -> NoReturn:
    """Raises `RoleRefused` with the statements that an administrator has to run."""
    owner = await connection.fetchval("SELECT quote_ident(current_user)")
    name = role.name
    exists = await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", name)
    create_statement = "" if exists else f"CREATE ROLE {name} NOLOGIN; "
    raise RoleRefused(
        f"{role.user} run as the database role {name}, and {owner} may not act as it: an "
        f"administrator of the server must run: {create_statement}GRANT {name} TO {owner};"
    )
