"""One PostgreSQL database, whose statements are called by name.

A statement runs as the owner of the tables, or, for searches and for loading shards, as a role that
may only call the functions of `index/postgres/functions/security_definer_functions.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import asyncpg

from common import background_tasks
from common.shares.slots import FairSlots
from index.errors import DatabaseUnavailable
from index.postgres import connections, prepared_ahead
from index.postgres.connections import ACQUIRE_TIMEOUT_S, Pool, unavailable
from index.postgres.dedicated_connection import DedicatedConnection, Health
from index.postgres.driver_connection import ServerTypes
from index.postgres.functions import function_roles, security_definer_functions
from index.postgres.functions.function_roles import Connection, FunctionRole
from index.postgres.pooler import Pooler, Timeouts
from index.postgres.prepared_ahead import NOTHING_AHEAD, PreparedAhead
from index.postgres.search_connections import SearchConnections
from index.postgres.session import STATEMENTS, ObserveStatement, Row, Session
from index.postgres.session_shares import SessionShares
from index.postgres.setup import pgvector_version, server_state
from index.postgres.setup.database_problem import DatabaseProblem

SEARCHES_WAITING_MAX = 512  # of one tenant; a worker serves fewer of its searches at once


class Database:
    """A pool of sessions. Methods raise `DatabaseUnavailable` if the server can't answer.

    url: of the server itself, even if the pool uses a pooler.
    searching: the connections of searches alone.
    history: the database's history when last read; empty before that.
    problems: what an operator has to know of the server, as it was when it was connected.
    dedicated: the connection for small statements that are run all the time.
    """

    def __init__(
        self,
        url: str,
        pool: Pool,
        searches: SearchConnections,
        health: Health,
        announce: "Announce",
        *,
        logged: bool,
        primary: "Pool | None" = None,
    ) -> None:
        """primary: where functions are created, if this server is a standby."""
        self.searching = searches
        self.history = ""
        self.problems: Sequence[DatabaseProblem] = ()
        self._url = url
        self._pool = pool
        self._shares = SessionShares(max(1, pool.get_max_size() - 1))  # one is dedicated
        self._primary = primary or pool
        self._observe = health.answered
        self._announce = announce
        self._logged = logged
        self._shard_functions = security_definer_functions.Functions(function_roles.SHARDS)
        self.dedicated = DedicatedConnection(pool, health)

    @property
    def owner_pool(self) -> Pool:
        """The connections of the role that owns the tables."""
        return self._pool

    @property
    def is_watched(self) -> bool:
        """Whether the dedicated connection is open.

        It is the one that notices a new server: if it was lost, others may lead to the old one.
        """
        return self.dedicated.is_open

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """A session; at its end, what it has committed is announced."""
        with unavailable:
            async with (
                self._shares.slot(),
                self._pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection,
            ):
                session = Session(connection, self._observe, self._logged)
                yield session
        if session.raised:
            await self._announce(self, session.raised)

    async def announce(self, *tenants: str) -> None:
        """Announce these tenants' committed changes, which another writer may not have announced.

        For a write that finds nothing left to change: the writer that did it may still wait for the
        holders of read leases, so this one announces it too before it answers.
        """
        await self._announce(self, tenants)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Session]:
        async with self.session() as session, session.connection.transaction():
            yield session

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Session]:
        """A read-only transaction that reads one snapshot."""
        async with (
            self.session() as session,
            session.connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield session

    @asynccontextmanager
    async def shard_snapshot(self) -> AsyncIterator[Session]:
        """A snapshot that may run the statements of `resident.sql` alone, as the role of shards."""
        async with (
            self._shard_session() as session,
            session.connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            await _set_role(session.connection, function_roles.SHARDS)
            yield session

    async def shard_rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        """The rows of one statement of `resident.sql`, in one round trip.

        The owner calls the function that the role of shards may call, and reads no more than that
        returns.
        """
        async with self._shard_session() as session:
            return await session.rows(name, *arguments)

    @asynccontextmanager
    async def _shard_session(self) -> AsyncIterator[Session]:
        """A session whose statements are the functions that the role of shards may call."""
        calls = self._shard_functions.all_calls() or await self._create_shard_functions()
        async with self.session() as session:
            try:
                yield replace(session, statements=calls)
            except asyncpg.UndefinedFunctionError as error:  # it was dropped meanwhile
                self._shard_functions.forget_all()
                raise DatabaseUnavailable("a function of shards was dropped") from error

    async def _create_shard_functions(self) -> Mapping[str, str]:
        functions = self._shard_functions
        with unavailable:
            if self._primary is not self._pool:
                async with self._pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                    await functions.find_all(connection)
                if (calls := functions.all_calls()) is not None:
                    return calls
            async with self._primary.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                await functions.create_all(connection)
        calls = functions.all_calls()
        assert calls is not None, "they have been created"
        return calls

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        async with self.session() as session:
            return await session.rows(name, *arguments, **numbers)

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None

    @asynccontextmanager
    async def listening(
        self, channel: str, on_message: Callable[[str], None]
    ) -> AsyncIterator[Session]:
        """Call `on_message` with each message to the channel, on the session's own connection."""

        def listener(*arguments: object) -> None:
            on_message(str(arguments[-1]))

        async with self.direct_session() as session:
            await session.connection.add_listener(channel, listener)
            # No UNLISTEN at the end: on a lost connection it would wait for minutes.
            yield session

    @asynccontextmanager
    async def direct_session(self) -> AsyncIterator[Session]:
        """A session on a new connection of its own, without a pooler and without our settings."""
        with unavailable:
            # The migrations verified the URL; to a holder of a lease each round trip counts.
            async with connections.direct_connection(self._url, verifies=False) as connection:
                yield Session(connection, self._observe)

    async def begin_history(self, history: str) -> None:
        """Store a new history, which the dedicated connection has read.

        Earlier connections may lead to a replaced server, or know types of tables that were
        recreated since: none of them runs another statement.
        """
        previous, self.history = self.history, history
        if previous:
            await self._pool.expire_connections()
            await self.searching.renew_connections()

    async def renew_connections(self) -> None:
        """Run all later statements, dedicated ones too, on new connections."""
        self.dedicated.renew()
        await self._pool.expire_connections()
        await self.searching.renew_connections()

    async def release(self) -> None:
        """Close the dedicated connection, and return those of searches to their pool."""
        await self.dedicated.release()
        await self.searching.release()


# Returns when no holder of a read lease may answer without these tenants' committed changes.
Announce: TypeAlias = Callable[[Database, Collection[str]], Awaitable[None]]


async def announce_to_nobody(_database: Database, _tenants: Collection[str]) -> None:
    """For tools that write nothing, and for databases without gateways."""


@asynccontextmanager
async def connect(
    url: str,
    *,
    connections_max: int,
    statement_timeout_s: float,
    observe: ObserveStatement,
    announce: Announce,
    search_timeout_s: float | None = None,
    logged: bool = True,
    pooler: Pooler | None = None,
    parallel_builds: bool = True,
    ahead: PreparedAhead = NOTHING_AHEAD,
) -> AsyncIterator[Database]:
    """Connect to a database whose schema and roles exist; see `index.postgres.setup.migrate`.

    url: of the server itself, which some operations need even with a `pooler`.
    connections_max: for searches, and as many for everything else; one tenant uses at most half of
        those for searches.
    search_timeout_s: for statements of searches, if less than for others. The server enforces it,
        even after this process ends. Behind a pooler it is a property of the role, so all processes
        on one database need the same value.
    announce: called after each commit that raises revisions, before its caller goes on.
    logged: whether changes are written to the audit log.
    parallel_builds: whether PostgreSQL may build an index with several processes; connections of a
        pooler never build one.
    ahead: what is prepared in the background.

    Raises `RoleRefused` if a role may do more than call its functions, and `PoolerRefused`.
    """
    search_timeout_s = min(search_timeout_s or statement_timeout_s, statement_timeout_s)
    timeouts_s = Timeouts(statement_timeout_s, search_timeout_s)
    builds = {} if parallel_builds else pgvector_version.WITHOUT_PARALLEL_BUILDS
    async with _pools(url, connections_max, timeouts_s, pooler, builds) as (owner, searching):
        preparing = [
            asyncio.create_task(prepared_ahead.prepare(owner, _texts(names)))
            for names in (ahead.requests, ahead.all)
        ]
        shares = FairSlots(
            connections_max, waiting_max=SEARCHES_WAITING_MAX, wait_s_max=ACQUIRE_TIMEOUT_S
        )
        health = Health(observe)
        searches = SearchConnections(searching, owner, shares, health)
        database = Database(url, owner, searches, health, announce, logged=logged)
        try:
            with unavailable, connections.role_errors():
                await function_roles.check_all(owner, searching, ACQUIRE_TIMEOUT_S)
            await searches.create_functions()
            async with database.session() as session:
                database.problems = await server_state.problems(session.connection)
            if ahead.all:  # on the connection that has served until here, taken before others do
                connection = await owner.acquire()
                work = prepared_ahead.prepare_on(owner, connection, _texts(ahead.all))
                preparing.append(asyncio.create_task(work))
            preparing.append(asyncio.create_task(searches.prepare_ahead(ahead.searches)))
            yield database
        finally:
            await background_tasks.end(*preparing)
            await database.release()


@asynccontextmanager
async def _pools(
    url: str,
    connections_max: int,
    timeouts_s: Timeouts,
    pooler: Pooler | None,
    builds: Mapping[str, str],
) -> AsyncIterator[tuple[Pool, Pool]]:
    """The owner's pool, with one connection more for dedicated use, and the pool of searches."""
    owner: AbstractAsyncContextManager[Pool]
    searching: AbstractAsyncContextManager[Pool]
    types = ServerTypes()
    if pooler is None:
        searches = {"role": function_roles.SEARCH.name}  # so that RESET ROLE returns to it
        pool = partial(connections.pool, url, types=types)
        owner = pool(connections_max + 1, timeouts_s.owner, builds)
        searching = pool(connections_max, timeouts_s.searches, searches)
    else:
        keeps_statements = await pooler.verify(url, timeouts_s)
        pooled = partial(connections.pooled, types=types, keeps_statements=keeps_statements)
        owner = pooled(pooler.url, connections_max + 1, timeouts_s.owner)
        searching = pooled(pooler.searches_url, connections_max, timeouts_s.searches)
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.TaskGroup() as tasks:  # at once, since a far server takes long
                owner_pool = tasks.create_task(stack.enter_async_context(owner))
                search_pool = tasks.create_task(stack.enter_async_context(searching))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        yield owner_pool.result(), search_pool.result()


def _texts(names: Collection[str]) -> Sequence[str]:
    return [STATEMENTS[name] for name in names]


async def _set_role(connection: Connection, role: FunctionRole) -> None:
    """Act as the role until the transaction ends: no pooler gives the connection away before."""
    await connection.execute(f"SET LOCAL ROLE {role.name}")
