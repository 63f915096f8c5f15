"""The database roles that may call functions, and read no table.

Roles belong to the server: installations in several of its databases share them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from index.errors import RoleRefused
from index.postgres import statements

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
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
    functions: the pattern of its functions' names, each of which ends with a digest of its body.
    """

    name: str
    user: str
    functions: str


_OWN = r"_\w+_[0-9a-f]{8}"
SEARCH = FunctionRole("nearhit_search", "searches", f"(search|vocabulary){_OWN}")
SHARDS = FunctionRole("nearhit_shards", "shard readers", f"resident{_OWN}")
ALL = (SEARCH, SHARDS)


async def create_all(connection: Connection) -> None:
    """Create the roles that are missing. Raises `RoleRefused`."""
    for role in ALL:
        await create(connection, role)


async def may_act(connection: Connection) -> bool:
    """Whether all roles exist and the connection's user may act as each; in one round trip."""
    try:
        await _act(connection)
    except (asyncpg.InvalidParameterValueError, asyncpg.InsufficientPrivilegeError):
        return False
    return True


async def create(connection: Connection, role: FunctionRole) -> None:
    """Create the role if it is missing, and let the connection's user act as it.

    Processes may call this concurrently, on several databases of a server. Raises `RoleRefused`.
    """
    name = role.name
    statements_to_run = (f"CREATE ROLE {name} NOLOGIN", f"GRANT {name} TO CURRENT_USER")
    for statement in () if await may_act_as(connection, name) else statements_to_run:
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
    if not await may_act_as(connection, name):
        await _refuse(connection, role)
    await _grant_schema_usage(connection, name)


async def check_all(owner: Pool, searching: Pool, acquire_timeout_s: float) -> None:
    """Raises `RoleRefused` if a role may do more than call its functions, and the driver's errors.

    Also if a connection of `searching` does not act as the role of searches.
    """
    results = await asyncio.gather(
        _check_rights(owner, acquire_timeout_s),
        _check_searches(searching, acquire_timeout_s),
        return_exceptions=True,
    )
    for result in results:
        if result is not None:
            raise result


async def _check_rights(owner: Pool, acquire_timeout_s: float) -> None:
    async with owner.acquire(timeout=acquire_timeout_s) as connection:
        await _act(connection)
        await check_rights(connection, ALL)


async def _check_searches(searching: Pool, acquire_timeout_s: float) -> None:
    async with searching.acquire(timeout=acquire_timeout_s) as connection:
        await check_acting(connection, SEARCH)


async def _act(connection: Connection) -> None:
    """Act as each role for a moment, in one round trip. Raises the driver's errors."""
    # The commands of one message are one transaction.
    await connection.execute("; ".join(f"SET LOCAL ROLE {role.name}" for role in ALL))


async def check_rights(connection: Connection, roles: Sequence[FunctionRole]) -> None:
    """Raises `RoleRefused` if a role may do more than call its functions.

    It is one statement for all: planning it takes PostgreSQL as long as running it.
    `connection` is that of the tables' owner.
    """
    rows = await connection.fetch(
        _EXCESS, [role.name for role in roles], [role.functions for role in roles]
    )
    for role in roles:
        problems = [
            f"it {row['excess']}: {row['remedy']}" for row in rows if row["role"] == role.name
        ]
        if problems:
            more = len(problems) - _PROBLEMS_SHOWN_MAX
            suffix = f"; and {more} more" if more > 0 else ""
            raise RoleRefused(
                f"the database role {role.name}, which serves {role.user}, may do more than call "
                "Nearhit's functions, so Nearhit does not start: "
                f"{'; '.join(problems[:_PROBLEMS_SHOWN_MAX])}{suffix}"
            )


async def check_acting(connection: Connection, role: FunctionRole) -> None:
    """Raises `RoleRefused` if the connection acts as another role."""
    current_user = await connection.fetchval("SELECT current_user")
    if current_user != role.name:
        raise RoleRefused(
            f"{role.user} must run as the database role {role.name}, but the connection acts as "
            f"{current_user}: connect without a pooler that drops the settings of a connection"
        )


async def may_act_as(connection: Connection, name: str) -> bool:
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
