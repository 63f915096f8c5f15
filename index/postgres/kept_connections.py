"""Connections of a pool that stay taken between statements.

To take one from the pool and to return it costs more than a small statement: some hundred calls of
the driver, two tasks, and turns of the event loop in which another request opens one more.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from index.errors import DatabaseUnavailable
from index.postgres.connections import ACQUIRE_TIMEOUT_S, Pool, unavailable
from index.postgres.functions.function_roles import Connection

_IDLE_S_MAX = 240.0  # what stands in between may forget a connection that is idle for longer
_USES_MAX = 1_000  # then the pool has it once: it renews connections that have run many statements


@dataclass(slots=True, eq=False)
class _Kept:
    """generation: see `renew`. idle_since_s: of `perf_counter`."""

    connection: "PoolConnectionProxy[asyncpg.Record]"
    generation: int
    uses: int = 0
    idle_since_s: float = 0.0


class KeptConnections:
    """As many as were in use at once, the last used one first.

    Searches take connections here and not from the pool: it lacks those that are kept.
    """

    def __init__(
        self, pool: Pool, *, idle_s_max: float = _IDLE_S_MAX, uses_max: int = _USES_MAX
    ) -> None:
        self._pool = pool
        self._idle_s_max = idle_s_max
        self._uses_max = uses_max
        self._generation = 0
        self._idle: list[_Kept] = []

    def taken(self) -> "TakenConnection":
        """One for the body alone, as a context. Raises what the pool raises."""
        return TakenConnection(self)

    async def renew(self) -> None:
        """Run all later statements on new connections."""
        self._generation += 1
        await self._pool.expire_connections()
        await self.release()

    async def release(self) -> None:
        """Return to the pool what is not in use."""
        idle, self._idle = self._idle, []
        for kept in idle:
            await self.discard(kept)

    async def take(self) -> _Kept:
        while self._idle:
            kept = self._idle.pop()
            is_recent = time.perf_counter() - kept.idle_since_s < self._idle_s_max
            if is_recent and _is_open(kept.connection):
                return kept
            await self.discard(kept, is_lost=True)
        connection = await self._pool.acquire(timeout=ACQUIRE_TIMEOUT_S)
        return _Kept(connection, self._generation)

    async def put(self, kept: _Kept) -> None:
        """Keep it for the next statement; its last one has ended."""
        kept.uses += 1
        if kept.generation != self._generation or kept.uses >= self._uses_max:
            await self.discard(kept)
        else:
            kept.idle_since_s = time.perf_counter()
            self._idle.append(kept)

    async def discard(self, kept: _Kept, *, is_lost: bool = False) -> None:
        """Return it to the pool, which waits until even a cancelled statement has ended."""
        with suppress(DatabaseUnavailable), unavailable:
            if is_lost:
                kept.connection.terminate()
            await self._pool.release(kept.connection)


class TakenConnection:
    def __init__(self, connections: KeptConnections) -> None:
        self._connections = connections

    async def __aenter__(self) -> Connection:
        self._kept = await self._connections.take()
        return self._kept.connection

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if kind is None:
            await self._connections.put(self._kept)
        else:
            await self._connections.discard(self._kept)


def _is_open(connection: Connection) -> bool:
    with suppress(asyncpg.InterfaceError):  # lost, and so in the pool again
        return not connection.is_closed()
    return False
