"""A pooler in transaction mode, such as PgBouncer: every transaction on any server connection.

Nothing that is said to one connection holds for the next. So what a session has to be set to is
made a property of its role in this database, and searches have a login of their own: a server
connection that was the owner's and forgot it would be one that may read every table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import asyncpg

from index.errors import DatabaseUnavailable, PoolerRefused
from index.postgres import connections, search_role
from index.postgres.connections import unavailable
from index.postgres.search_role import Connection

_LOCK = 6_324_274  # of one process that sets properties; see index/postgres/migrate.py
# PostgreSQL lets only superusers set parameters of a library that it has not loaded.
_LOADED = "SELECT '[1]'::public.vector"
_WHERE = """
SELECT pg_postmaster_start_time(), oid FROM pg_database WHERE datname = current_database()"""
_WHO = "SELECT ARRAY[session_user::text, current_user::text]"
_HELD = """
SELECT coalesce(array_agg(setting), '{}')
FROM pg_db_role_setting, unnest(setconfig) AS setting
WHERE setrole = (SELECT oid FROM pg_roles WHERE rolname = current_user)
  AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())"""
_PROPERTY = """
SELECT format(
    'ALTER ROLE %I IN DATABASE %I SET %s = %L', current_user, current_database(), $1::text, $2::text
)"""
# set_config says a value as PostgreSQL does (30000 is 30s), and forgets it after the statement.
_LACKING = """
SELECT string_agg(name, ', ' ORDER BY name)
FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
WHERE current_setting(name, true) IS DISTINCT FROM set_config(name, value, true)"""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Of statements of the owner of the tables, and of those of searches; in seconds."""

    owner: float
    searches: float


@dataclass(frozen=True, slots=True)
class Pooler:
    """url: as the owner of the tables; searches_url: as the role that serves searches."""

    url: str
    searches_url: str

    async def verify(self, straight_url: str, timeouts_s: Timeouts) -> bool:
        """See to it that both logins are as they must be; whether prepared statements are kept.

        Raises `PoolerRefused` and `DatabaseUnavailable`.
        """
        owners = connections.session(timeouts_s.owner)
        searches = connections.session(timeouts_s.searches)
        with unavailable():
            async with connections.direct_connection(straight_url) as connection:
                await _furnish(connection, owners, searches)
                where = await connection.fetchrow(_WHERE)
                owner = await connection.fetchval("SELECT current_user")
            keeps = await _seen(self.url, owner, where, owners)
            return await _seen(self.searches_url, search_role.NAME, where, searches) and keeps


async def _furnish(
    connection: Connection, owners: Mapping[str, str], searches: Mapping[str, str]
) -> None:
    """Many processes may call this at once."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await connection.execute(_LOADED)
        await _set(connection, owners)
        await connection.execute(
            f"SET LOCAL ROLE {search_role.NAME}"
        )  # who may set what is its own
        await _set(connection, searches)


async def _set(connection: Connection, settings: Mapping[str, str]) -> None:
    """Properties of whoever the connection acts as; nothing is written where they are so."""
    held = await connection.fetchval(_HELD)
    for name, value in settings.items():
        if f"{name}={value}" not in held:
            await connection.execute(await connection.fetchval(_PROPERTY, name, value))


async def _seen(url: str, login: str, where: Any, settings: Mapping[str, str]) -> bool:
    """Whether the pooler keeps prepared statements. Raises `PoolerRefused`."""
    try:
        connection = await asyncpg.connect(url, statement_cache_size=0)
    except (*connections.LOST, ValueError) as error:
        raise DatabaseUnavailable(f"the pooler lets no {login} in: {error}") from error
    try:
        await _check(connection, login, where, settings)
        return await connections.keeps_statements(connection)
    finally:
        await connection.close()


async def _check(
    connection: Connection, login: str, where: Any, settings: Mapping[str, str]
) -> None:
    if await connection.fetchrow(_WHERE) != where:
        raise PoolerRefused("the pooler leads to another database than NEARHIT_DATABASE_URL")
    session, acting = await connection.fetchval(_WHO)
    if {session, acting} != {login}:
        raise PoolerRefused(
            f"the pooler has to log in as {login}, and does as {session}, acting as {acting}: "
            "searches need a login of their own, and everything else that of NEARHIT_DATABASE_URL"
        )
    lacking = await connection.fetchval(_LACKING, list(settings), list(settings.values()))
    if lacking:
        raise PoolerRefused(
            f"the pooler's connections as {login} lack what is set for the role ({lacking}): they "
            "are older than that, so let it open new ones (PgBouncer: RECONNECT), or it sets others"
        )
