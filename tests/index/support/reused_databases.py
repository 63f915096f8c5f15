"""Databases that tests use one after the other, each with a `Database` that stays connected.

To copy the template and to connect takes longer than most tests. What a test has written is
deleted after it; a database whose schema it has changed is dropped.
"""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import asyncpg

from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.settings.settings import Settings
from index.postgres.database import Database
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies

_USES_MAX = 30  # deleted rows stay in their files, and plans hang on the size of these
_LOCK_TIMEOUT_MS = 2_000  # of what a test has left locked

# How many rows they have, and when each was last written: rights, tables, functions, statistics.
_CATALOGS = (
    *("pg_attrdef", "pg_attribute", "pg_class", "pg_constraint", "pg_db_role_setting"),
    *("pg_default_acl", "pg_depend", "pg_event_trigger", "pg_extension", "pg_index"),
    *("pg_inherits", "pg_namespace", "pg_policy", "pg_proc", "pg_rewrite", "pg_statistic"),
    *("pg_statistic_ext", "pg_trigger", "pg_type"),
)
_COUNTS = " UNION ALL ".join(
    f"SELECT count(*) AS rows, sum(xmin::text::bigint) AS written FROM {each}"  # noqa: S608
    for each in _CATALOGS
)
_SCHEMA = f"""
SELECT array_agg(state) FROM (
    SELECT (rows, written)::text AS state FROM ({_COUNTS}) AS catalogs
    UNION ALL
    SELECT (datacl, datconnlimit)::text FROM pg_database WHERE datname = current_database()
    UNION ALL
    SELECT sum(reltuples)::text FROM pg_class WHERE relkind IN ('r', 'i')
) AS states
"""  # noqa: S608
_TABLES = """
SELECT quote_ident(relname) AS name, pg_relation_size(oid) > 0 AS is_filled FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname
"""
_RESTART_SEQUENCES = """
SELECT setval(seqrelid, seqstart, false) FROM pg_sequence
WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""


@dataclass(slots=True)
class ReusedDatabase:
    """keeper: a connection of its own. schema, rows: of a new one, by table. close: drops it."""

    settings: Settings
    database: Database
    keeper: "asyncpg.Connection[asyncpg.Record]"
    schema: list[str]
    rows: dict[str, str]
    uses: int = 1
    close: Callable[[], Awaitable[None]] = field(init=False)

    async def has_changed(self) -> bool:
        """Whether more has changed than rows, or the test still uses a connection."""
        await self.database.release()
        pool = self.database.owner_pool
        is_in_use = pool.get_idle_size() < pool.get_size()
        return is_in_use or await self.keeper.fetchval(_SCHEMA) != self.schema

    async def clear(self) -> None:
        """Delete what was written; raises the driver's errors."""
        filled = [row["name"] for row in await self.keeper.fetch(_TABLES) if row["is_filled"]]
        statements = [f"DELETE FROM {name}" for name in filled]  # noqa: S608  our own names
        for name, rows in self.rows.items():
            literal = rows.replace("'", "''")
            statements.append(
                f"INSERT INTO {name}"  # noqa: S608
                f" SELECT * FROM jsonb_populate_recordset(NULL::{name}, '{literal}')"
            )
        await self.keeper.execute("; ".join([*statements, _RESTART_SEQUENCES]))


@dataclass(slots=True)
class ReusedDatabases:
    """connect: opens a `Database`."""

    servers: Servers
    copies: DatabaseCopies
    connect: Callable[[str], AbstractAsyncContextManager[Database]]
    _clean: list[ReusedDatabase] = field(default_factory=list)

    async def get(self, *, is_new: bool = False) -> ReusedDatabase:
        """One without what a test has written; is_new: that no test has used."""
        if is_new or not self._clean:
            stack = AsyncExitStack()
            one = await stack.enter_async_context(self._opened())
            one.close = stack.aclose
            return one
        one = self._clean.pop()
        prefix = f"nearhit-test-{secrets.token_hex(6)}:"
        one.settings = one.settings.model_copy(update={"cache_prefix": prefix})
        return one

    async def give_back(self, used: ReusedDatabase) -> None:
        try:
            if used.uses < _USES_MAX and not await used.has_changed():
                await used.clear()
                used.uses += 1
                self._clean.append(used)
                return
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            pass  # a test has left a lock, or has ended the connection
        await used.close()

    async def drop_all(self) -> None:
        while self._clean:
            await self._clean.pop().close()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[ReusedDatabase]:
        async with fresh_settings(self.servers, self.copies) as settings:
            assert settings.database_url is not None
            url = settings.database_url.get_secret_value()
            keeper = await asyncpg.connect(url)
            await keeper.execute(
                f"SET session_replication_role = replica; SET lock_timeout = {_LOCK_TIMEOUT_MS}"
            )
            schema = await keeper.fetchval(_SCHEMA)
            rows = {
                row["name"]: await keeper.fetchval(
                    f"SELECT jsonb_agg(to_jsonb(each)) FROM {row['name']} AS each"  # noqa: S608
                )
                for row in await keeper.fetch(_TABLES)
                if row["is_filled"]
            }
            async with self.connect(url) as database:
                yield ReusedDatabase(settings, database, keeper, schema, rows)
            keeper.terminate()
