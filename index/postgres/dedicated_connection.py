"""One connection of a pool that stays taken, for small statements that are run all the time.

Their answers show, beside those of searches, whether PostgreSQL is there.
"""

import asyncio
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from index.errors import DatabaseUnavailable
from index.postgres.connections import Pool, translated
from index.postgres.session import RAISING, STATEMENTS, ObserveStatement, Row

TIMEOUT_S = 2.0  # a starting value, not measured: statements look up rows by primary key


class Health:
    """Whether PostgreSQL answers, as the statements of this process show.

    observe: receives the name and seconds of each.
    """

    def __init__(self, observe: ObserveStatement) -> None:
        self._observe = observe
        self._is_answering = True
        self._failed_at_s = -math.inf

    def answered(self, name: str, seconds: float) -> None:
        self._is_answering = True
        self._observe(name, seconds)

    def failed(self) -> None:
        self._is_answering = False
        self._failed_at_s = time.perf_counter()

    def has_failed_since(self, start_s: float) -> bool:
        """Whether a statement has failed since this `perf_counter`, or none was answered since."""
        return not self._is_answering or self._failed_at_s >= start_s


class DedicatedConnection:
    """It is opened by its first statement, and again once it was lost.

    Taking a connection for each costs more than a small statement (measured: 183 against 106 µs).
    """

    def __init__(self, pool: Pool, health: Health) -> None:
        self._pool = pool
        self._health = health
        self._connection: PoolConnectionProxy[asyncpg.Record] | None = None
        self._is_stale = False

    @property
    def is_open(self) -> bool:
        with suppress(asyncpg.InterfaceError):  # lost, and so in the pool again
            return self._connection is not None and not self._connection.is_closed()
        return False

    async def rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        """The rows of a statement, one call at a time; nothing is announced."""
        assert name not in RAISING, "holders of read leases would not hear of it"
        if self._is_stale:
            await self.release()
        while True:
            is_fresh = self._connection is None
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    connection = self._connection or await self._open()
                    started_s = time.perf_counter()
                    rows = await connection.fetch(STATEMENTS[name], *arguments)
            except Exception as error:
                known = translated(error)
                if not isinstance(known, DatabaseUnavailable):
                    raise known from error
                self._health.failed()
                await self.release()
                if is_fresh:
                    raise known from error
                continue  # the old connection was lost
            self._health.answered(name, time.perf_counter() - started_s)
            return cast("Sequence[Row]", rows)

    async def _open(self) -> "PoolConnectionProxy[asyncpg.Record]":
        self._connection = await self._pool.acquire()
        self._is_stale = False
        return self._connection

    def renew(self) -> None:
        """Run all later statements on a new connection."""
        self._is_stale = True

    async def release(self) -> None:
        """Return the connection to the pool, closed, because its state is unknown."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(asyncpg.InterfaceError):  # lost, and so already in the pool again
                connection.terminate()
                await self._pool.release(connection)
