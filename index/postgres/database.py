"""One PostgreSQL, reached by statement name.

A statement runs in one of two ways: as the owner of the tables, or, for searches, as a role that
may only call the functions of `index/postgres/security_definer_functions.py`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from index.errors import DatabaseUnavailable
from index.postgres import (
    connections,
    pgvector_version,
    search_role,
    security_definer_functions,
    statements,
)
from index.postgres.connections import Pool, unavailable
from index.postgres.fair_share import FairShare
from index.postgres.pooler import Pooler, Timeouts
from index.postgres.search_role import Connection

Row: TypeAlias = Mapping[str, Any]
Observe: TypeAlias = Callable[[str, float], None]

ACQUIRE_TIMEOUT_S = 5.0  # a starting value, not measured; past it a 503 serves a caller better
SEARCHES_WAITING_MAX = 512  # of one tenant: more than a worker does at once for it
STANDING_TIMEOUT_S = 2.0  # a starting value, not measured: it looks up rows by primary key
_STATEMENTS = {
    name: text
    for name, text in statements.load().items()
    if name not in security_definer_functions.STATEMENTS
}


@dataclass(frozen=True, slots=True)
class Session:
    """Statements on one connection; `observe` is told each one's name and seconds.

    numbers: what stands in braces in a statement, where SQL takes no parameter.
    logged: whether the audit log is told what is changed.
    """

    connection: Connection
    observe: Observe
    logged: bool = True

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        statement = _STATEMENTS[name]
        if numbers:
            statement = statement.format(**{key: int(value) for key, value in numbers.items()})
        started_s = time.perf_counter()
        rows = await self.connection.fetch(statement, *arguments)
        self.observe(name, time.perf_counter() - started_s)
        return cast("Sequence[Row]", rows)  # a Record maps names to values, without being a Mapping

    async def rows_each(self, name: str, each: Sequence[Sequence[Any]]) -> Sequence[Row]:
        """The rows of one statement run with each of the arguments, in one round trip."""
        started_s = time.perf_counter()
        rows = await self.connection.fetchmany(_STATEMENTS[name], each)
        self.observe(name, time.perf_counter() - started_s)
        return cast("Sequence[Row]", rows)

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None

    async def value(self, name: str, *arguments: Any) -> Any:
        row = await self.row(name, *arguments)
        return None if row is None else next(iter(row.values()))


# Of the task's snapshot, if it has one.
_PINNED: ContextVar["Connection | None"] = ContextVar("pinned", default=None)


class SearchConnections:
    """Calls functions, by the names of their statements, on connections of their role.

    Each statement's first argument is the tenant, which counts as the user of the connection.
    """

    def __init__(self, pool: Pool, owner: Pool, shares: FairShare, observe: Observe) -> None:
        self._pool = pool
        self._owner = owner
        self._shares = shares
        self._observe = observe
        self._functions = security_definer_functions.Functions()
        self._making = asyncio.Lock()

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        """Of a statement in `wall.STATEMENTS`. Raises `DatabaseUnavailable` and `Saturated`."""
        with unavailable():
            call = self._functions.known(name, numbers) or await self._made(name, numbers)
            try:
                return await self._rows(name, call, arguments)
            except asyncpg.UndefinedFunctionError as error:  # somebody has dropped it since
                self._functions.forget(name, numbers)
                if _PINNED.get() is not None:  # whose transaction this has ended
                    raise DatabaseUnavailable("a search's function was dropped") from error
            return await self._rows(name, await self._made(name, numbers), arguments)

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None

    async def renew_connections(self) -> None:
        await self._pool.expire_connections()

    @asynccontextmanager
    async def snapshot(self, tenant: str) -> AsyncIterator[None]:
        """What this task asks for within is all as of one instant; one statement at a time."""
        with unavailable():
            async with (
                self._shares.slot(tenant),
                self._pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                pinned = _PINNED.set(connection)
                try:
                    yield
                finally:
                    _PINNED.reset(pinned)

    async def _made(self, name: str, numbers: Mapping[str, int]) -> str:
        """One at a time: who asks for the same needs no connection of its own meanwhile."""
        async with self._making:
            if call := self._functions.known(name, numbers):
                return call
            async with self._owner.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                return await self._functions.make(connection, name, numbers)

    async def _rows(self, name: str, call: str, arguments: Sequence[Any]) -> Sequence[Row]:
        pinned = _PINNED.get()
        if pinned is not None:
            return await self._fetched(pinned, name, call, arguments)
        tenant = arguments[0]
        await self._shares.acquire(tenant)
        try:
            async with self._pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                return await self._fetched(connection, name, call, arguments)
        finally:  # the connection is back, and the statement of a task that was cancelled has ended
            self._shares.release(tenant)

    async def _fetched(
        self, connection: Connection, name: str, call: str, arguments: Sequence[Any]
    ) -> Sequence[Row]:
        started_s = time.perf_counter()
        rows = await connection.fetch(call, *arguments)
        self._observe(name, time.perf_counter() - started_s)
        return cast("Sequence[Row]", rows)


class Database:
    """A pool of sessions. Raises `DatabaseUnavailable` where the server can't answer now.

    url: of the server itself, whatever the pool goes by.
    searching: what searches go by, and nothing else does.
    history: what the database last called its history; empty before it was asked.
    """

    def __init__(
        self, url: str, pool: Pool, searches: SearchConnections, observe: Observe, *, logged: bool
    ) -> None:
        self.searching = searches
        self.history = ""
        self._url = url
        self._pool = pool
        self._observe = observe
        self._logged = logged
        self._standing: PoolConnectionProxy[asyncpg.Record] | None = None
        self._standing_is_old = False

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        with unavailable():
            async with self._pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                yield Session(connection, self._observe, self._logged)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        async with self.session() as session, session.connection.transaction():
            yield session

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Session]:
        """A transaction that sees all as of one instant, and changes nothing."""
        async with (
            self.session() as session,
            session.connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield session

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        with unavailable():
            async with self._pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                return await Session(connection, self._observe).rows(name, *arguments, **numbers)

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None

    @asynccontextmanager
    async def listening(self, channel: str, hear: Callable[[str], None]) -> AsyncIterator[None]:
        """`hear` is told each message to the channel, on a connection held for this alone."""

        def heard(*told: object) -> None:
            hear(str(told[-1]))

        with unavailable():
            async with connections.direct_connection(self._url) as connection:
                await connection.add_listener(channel, heard)
                try:
                    yield
                finally:
                    with suppress(*connections.LOST):
                        await connection.remove_listener(channel, heard)

    async def dedicated_rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        """`rows` on a connection held for this alone, one call at a time.

        Leasing a connection costs as much as a small statement (measured: 183 against 106 µs).
        """
        if self._standing_is_old:
            await self.release()
        fresh = self._standing is None
        try:
            return await self._standing_rows(name, *arguments)
        except DatabaseUnavailable:
            await self.release()
            if fresh:
                raise
        return await self._standing_rows(name, *arguments)  # the old connection was lost: once more

    async def _standing_rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        with unavailable():
            async with asyncio.timeout(STANDING_TIMEOUT_S):
                if self._standing is None:
                    self._standing = await self._pool.acquire()
                    self._standing_is_old = False
                return await Session(self._standing, self._observe).rows(name, *arguments)

    async def begin_history(self, history: str) -> None:
        """The standing connection has told another history than before.

        Connections that were opened before may still lead to a server that was replaced, and know
        the types of tables that were made anew since: none of them runs another statement.
        """
        before, self.history = self.history, history
        if before:
            await self._pool.expire_connections()
            await self.searching.renew_connections()

    async def renew_connections(self) -> None:
        """Run all statements from now on, standing ones too, on connections opened from now on."""
        self._standing_is_old = True
        await self._pool.expire_connections()
        await self.searching.renew_connections()

    async def release(self) -> None:
        """Give the standing connection back; it is closed, for nobody knows its state."""
        standing, self._standing = self._standing, None
        if standing is not None:
            with suppress(asyncpg.InterfaceError):  # lost, and so in the pool again already
                standing.terminate()
                await self._pool.release(standing)


@asynccontextmanager
async def connect(
    url: str,
    *,
    connections_max: int,
    statement_timeout_s: float,
    observe: Observe,
    search_timeout_s: float | None = None,
    logged: bool = True,
    pooler: Pooler | None = None,
    parallel_builds: bool = True,
) -> AsyncIterator[Database]:
    """A database whose schema and role are in place; see `index.postgres.migrate`.

    url: of the server itself; what can only be done there goes there, `pooler` or not.
    connections_max: for searches, and as many for everything else; of those for searches one tenant
        uses half at most.
    search_timeout_s: for statements of searches, if it is less than for others. The server keeps to
        it by itself, also if this process is gone. Behind a pooler it is a property of the role, so
        all processes on one database need the same.
    logged: whether the audit log is told what is changed.
    parallel_builds: whether PostgreSQL may build an index with several processes; connections of a
        pooler never build one.

    Raises `RoleRefused` if the role may do more than searches need, and `PoolerRefused`.
    """
    search_timeout_s = min(search_timeout_s or statement_timeout_s, statement_timeout_s)
    timeouts_s = Timeouts(statement_timeout_s, search_timeout_s)
    builds = {} if parallel_builds else pgvector_version.WITHOUT_PARALLEL_BUILDS
    async with _pools(url, connections_max, timeouts_s, pooler, builds) as (owner, searching):
        await _check(owner, searching)
        shares = FairShare(
            connections_max, waiting_max=SEARCHES_WAITING_MAX, wait_s_max=ACQUIRE_TIMEOUT_S
        )
        searches = SearchConnections(searching, owner, shares, observe)
        database = Database(url, owner, searches, observe, logged=logged)
        try:
            yield database
        finally:
            await database.release()


@asynccontextmanager
async def _pools(
    url: str,
    connections_max: int,
    timeouts_s: Timeouts,
    pooler: Pooler | None,
    builds: Mapping[str, str],
) -> AsyncIterator[tuple[Pool, Pool]]:
    """The owner's, with one more connection for what stands, and that of searches."""
    owner: AbstractAsyncContextManager[Pool]
    searching: AbstractAsyncContextManager[Pool]
    if pooler is None:
        searches = {"role": search_role.NAME}  # so that RESET ROLE leads back to it
        owner = connections.pool(url, connections_max + 1, timeouts_s.owner, builds)
        searching = connections.pool(url, connections_max, timeouts_s.searches, searches)
    else:
        keeps = await pooler.verify(url, timeouts_s)
        owner = connections.pooled(
            pooler.url, connections_max + 1, timeouts_s.owner, keeps_statements=keeps
        )
        searching = connections.pooled(
            pooler.searches_url, connections_max, timeouts_s.searches, keeps_statements=keeps
        )
    async with owner as owners, searching as of_searches:
        yield owners, of_searches


async def _check(owner: Pool, searching: Pool) -> None:
    with unavailable():
        schema = await owner.fetchval("SELECT current_schema()")
        async with searching.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
            await search_role.check(connection, schema, search_role.NAME)
