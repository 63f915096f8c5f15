"""The connections of searches, whose role may only call their functions."""

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, Protocol, cast

import asyncpg

from common.errors import Saturated
from common.shares.slots import FairSlots
from index.errors import DatabaseUnavailable
from index.postgres import prepared_ahead, statement_comment
from index.postgres.connections import ACQUIRE_TIMEOUT_S, Pool, unavailable
from index.postgres.dedicated_connection import Health
from index.postgres.functions import function_roles, security_definer_functions
from index.postgres.functions.function_roles import Connection
from index.postgres.kept_connections import KeptConnections
from index.postgres.session import Row

_SEVERAL_TENANTS = ""  # no tenant has this name

# The connection of the task's snapshot, if it has one.
_PINNED: ContextVar["Connection | None"] = ContextVar("pinned", default=None)


class SearchStatements(Protocol):
    """Runs the statements of searches by their names."""

    async def rows(self, name: str, *arguments: Any) -> Sequence[Row]: ...


class SearchConnections:
    """Calls the search functions by statement name, on connections of the search role.

    A connection counts against the share of a tenant: of the statement's first argument, but for
    `shared_rows`.
    owner: where functions are created; of the primary, if `pool` leads to a standby.
    standby: of the owner on that standby, where functions are looked for first; else None.
    """

    def __init__(
        self,
        pool: Pool,
        owner: Pool,
        shares: FairSlots,
        health: Health,
        *,
        standby: "Pool | None" = None,
    ) -> None:
        self._pool = pool
        self._connections = KeptConnections(pool)
        self._owner = owner
        self._standby = standby
        self._shares = shares
        self._health = health
        self._functions = security_definer_functions.Functions(function_roles.SEARCH)
        self._create_lock = asyncio.Lock()

    @property
    def is_pinned(self) -> bool:
        """Whether this task's statements run in a `snapshot`."""
        return _PINNED.get() is not None

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        """The rows of a statement in `security_definer_functions.STATEMENTS`.

        Raises `DatabaseUnavailable` and `Saturated`.
        """
        return await self._call(arguments[0], name, arguments, numbers)

    async def shared_rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        """`rows` of a statement that serves several tenants at once: these have one share.

        Raises `DatabaseUnavailable` and `Saturated`.
        """
        return await self._call(_SEVERAL_TENANTS, name, arguments, {})

    async def _call(
        self, tenant: str, name: str, arguments: Sequence[Any], numbers: Mapping[str, int]
    ) -> Sequence[Row]:
        with unavailable:
            call = self._functions.get_call(name, numbers) or await self._create_function(
                name, numbers
            )
            try:
                return await self._rows(tenant, name, call, arguments)
            except asyncpg.UndefinedFunctionError as error:  # it was dropped meanwhile
                self._functions.forget(name, numbers)
                if _PINNED.get() is not None:  # the error has ended its transaction
                    raise DatabaseUnavailable("a search's function was dropped") from error
            call = await self._create_function(name, numbers)
            try:
                return await self._rows(tenant, name, call, arguments)
            except asyncpg.UndefinedFunctionError as error:
                raise DatabaseUnavailable("a standby has not replayed a function yet") from error

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None

    async def renew_connections(self) -> None:
        await self._connections.renew()

    async def release(self) -> None:
        """Return the connections to their pool, which closes."""
        await self._connections.release()

    @asynccontextmanager
    async def snapshot(self, tenant: str) -> AsyncIterator[None]:
        """Run this task's statements in one snapshot, one statement at a time.

        Within a snapshot it is the same one.
        """
        if _PINNED.get() is not None:
            yield
            return
        with unavailable:
            await self._acquire_slot(tenant)
            try:
                async with (
                    self._connections.taken() as connection,
                    connection.transaction(isolation="repeatable_read", readonly=True),
                ):
                    pinned = _PINNED.set(connection)
                    try:
                        yield
                    finally:
                        _PINNED.reset(pinned)
            finally:
                self._shares.release(tenant)

    async def create_functions(self) -> None:
        """Find or create those without numbers, before a search needs one.

        On a server that only reads, a search later says what is missing.
        """
        with suppress(DatabaseUnavailable), unavailable:
            async with self._owner.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                await self._functions.create_all(connection)

    async def prepare_ahead(self, names: Collection[str]) -> None:
        """Prepare the calls of these statements on one connection, if it is possible."""
        calls = [self._functions.get_call(name, {}) for name in names]
        await prepared_ahead.prepare(self._pool, [call for call in calls if call is not None])

    async def _create_function(self, name: str, numbers: Mapping[str, int]) -> str:
        """Create a function, one at a time, so that concurrent callers share one connection."""
        async with self._create_lock:
            if call := self._functions.get_call(name, numbers):
                return call
            if self._standby is not None:
                async with self._standby.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                    found = await self._functions.find(connection, name, numbers)
                if found is not None:
                    return found
            async with self._owner.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
                return await self._functions.create(connection, name, numbers)

    async def _rows(
        self, tenant: str, name: str, call: str, arguments: Sequence[Any]
    ) -> Sequence[Row]:
        pinned = _PINNED.get()
        if pinned is not None:
            return await self._fetch(pinned, name, call, arguments)
        await self._acquire_slot(tenant)
        try:
            async with self._connections.taken() as connection:
                return await self._fetch(connection, name, call, arguments)
        finally:
            self._shares.release(tenant)

    async def _acquire_slot(self, tenant: str) -> None:
        start_s = time.perf_counter()
        try:
            await self._shares.acquire(tenant)
        except Saturated as error:
            if not self._health.has_failed_since(start_s):
                raise
            # Statements that hang hold the tenant's share: the tenant is not the cause.
            raise DatabaseUnavailable("PostgreSQL does not answer") from error

    async def _fetch(
        self, connection: Connection, name: str, call: str, arguments: Sequence[Any]
    ) -> Sequence[Row]:
        started_s = time.perf_counter()
        rows = await statement_comment.fetch(connection, call, arguments)
        self._health.answered(name, time.perf_counter() - started_s)
        return cast("Sequence[Row]", rows)
