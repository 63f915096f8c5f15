"""Use of a pooler in transaction mode, such as PgBouncer: any transaction on any connection.

Settings of one connection do not hold for the next. So they are properties of the role in this
database. Searches log in as their own role: a shared login could leave a search on a connection
with the owner's rights, which may read every table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import asyncpg

from index.errors import DatabaseUnavailable, PoolerRefused
from index.postgres import connections
from index.postgres.connections import unavailable
from index.postgres.functions import function_roles
from index.postgres.functions.function_roles import Connection

_LOCK = 6_324_274  # held while a process sets properties; see index/postgres/setup/migrate.py
# Only superusers may set parameters of a library that PostgreSQL has not loaded.
_LOAD_EXTENSION = "SELECT '[1]'::vector"
_DATABASE_IDENTITY = """
SELECT pg_postmaster_start_time(), oid FROM pg_database WHERE datname = current_database()"""
_USERS = "SELECT ARRAY[session_user::text, current_user::text]"
_ROLE_SETTINGS = """
SELECT coalesce(array_agg(setting), '{}')
FROM pg_db_role_setting, unnest(setconfig) AS setting
WHERE setrole = (SELECT oid FROM pg_roles WHERE rolname = current_user)
  AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())"""
_ALTER_ROLE = """
SELECT format(
    'ALTER ROLE %I IN DATABASE %I SET %s = %L', current_user, current_database(), $1::text, $2::text
)"""
# set_config normalizes a value as PostgreSQL does (30000 is 30s), for this statement alone.
_MISSING_SETTINGS = """
SELECT string_agg(name, ', ' ORDER BY name)
FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
WHERE current_setting(name, true) IS DISTINCT FROM set_config(name, value, true)"""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Statement timeouts of the owner of the tables and of searches, in seconds."""

    owner: float
    searches: float


@dataclass(frozen=True, slots=True)
class Pooler:
    """The pooler's URLs. url: as the owner of the tables; searches_url: as the search role."""

    url: str
    searches_url: str

    async def verify(self, server_url: str, timeouts_s: Timeouts) -> bool:
        """Set up and check both logins; return whether the pooler keeps prepared statements.

        Raises `PoolerRefused` and `DatabaseUnavailable`.
        """
        owners = connections.session(timeouts_s.owner)
        searches = connections.session(timeouts_s.searches)
        with unavailable:
            async with connections.direct_connection(server_url) as connection:
                await _set_role_properties(connection, owners, searches)
                database_identity = await connection.fetchrow(_DATABASE_IDENTITY)
                owner = await connection.fetchval("SELECT current_user")
            keeps_statements = await _verify_login(self.url, owner, database_identity, owners)
            return (
                await _verify_login(
                    self.searches_url, function_roles.SEARCH.name, database_identity, searches
                )
                and keeps_statements
            )


async def _set_role_properties(
    connection: Connection, owners: Mapping[str, str], searches: Mapping[str, str]
) -> None:
    """Set the properties of both roles; processes may call this concurrently."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await connection.execute(_LOAD_EXTENSION)
        await _set_properties(connection, owners)
        await connection.execute(
            f"SET LOCAL ROLE {function_roles.SEARCH.name}"
        )  # a role may set its own properties
        await _set_properties(connection, searches)


async def _set_properties(connection: Connection, settings: Mapping[str, str]) -> None:
    """Set properties of the current role, where they differ."""
    current_settings = await connection.fetchval(_ROLE_SETTINGS)
    for name, value in settings.items():
        if f"{name}={value}" not in current_settings:
            await connection.execute(await connection.fetchval(_ALTER_ROLE, name, value))


async def _verify_login(
    url: str, login: str, database_identity: Any, settings: Mapping[str, str]
) -> bool:
    """Check a login; return whether the pooler keeps statements. Raises `PoolerRefused`."""
    try:
        connection = await asyncpg.connect(url, statement_cache_size=0)
    except (*connections.LOST, ValueError) as error:
        raise DatabaseUnavailable(f"the pooler refuses the login {login}: {error}") from error
    try:
        await _check(connection, login, database_identity, settings)
        return await connections.keeps_statements(connection)
    finally:
        await connection.close()


async def _check(
    connection: Connection, login: str, database_identity: Any, settings: Mapping[str, str]
) -> None:
    if await connection.fetchrow(_DATABASE_IDENTITY) != database_identity:
        raise PoolerRefused("the pooler connects to another database than NEARHIT_DATABASE_URL")
    session_user, current_user = await connection.fetchval(_USERS)
    if {session_user, current_user} != {login}:
        raise PoolerRefused(
            f"the pooler must log in as {login}, but logs in as {session_user} and acts as "
            f"{current_user}: searches have their own login, and all else has that of "
            "NEARHIT_DATABASE_URL"
        )
    missing_settings = await connection.fetchval(
        _MISSING_SETTINGS, list(settings), list(settings.values())
    )
    if missing_settings:
        raise PoolerRefused(
            f"the pooler's connections as {login} lack settings of the role ({missing_settings}): "
            "they are older than the settings, so let the pooler open new ones (PgBouncer: "
            "RECONNECT), or the pooler overrides the settings"
        )
