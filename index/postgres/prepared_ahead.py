"""Statements that a far gateway prepares before it needs them.

The first call of a statement on a connection takes two round trips, each later one takes one.
"""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from index.errors import DatabaseUnavailable
from index.postgres.connections import ACQUIRE_TIMEOUT_S, Pool, unavailable

_PoolConnection: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"


@dataclass(frozen=True, slots=True)
class PreparedAhead:
    """The names of statements.

    requests: of each request; on one connection, which is soon ready.
    all: of writes too; on two other connections.
    searches: without numbers, on one connection of searches.
    """

    requests: Collection[str] = ()
    all: Collection[str] = ()
    searches: Collection[str] = ()


NOTHING_AHEAD = PreparedAhead()


async def prepare(pool: Pool, statements: Collection[str]) -> None:
    """Prepare the statements on a connection of the pool, if it is possible."""
    if statements:
        with suppress(DatabaseUnavailable), unavailable:
            await prepare_on(pool, await pool.acquire(timeout=ACQUIRE_TIMEOUT_S), statements)


async def prepare_on(pool: Pool, connection: _PoolConnection, statements: Iterable[str]) -> None:
    """Prepare the statements on a connection of the pool, which goes back there."""
    try:
        with suppress(DatabaseUnavailable), unavailable:  # then the first calls prepare them
            for statement in statements:
                # What the driver calls before it runs a statement: its `prepare` keeps nothing
                # for later calls.
                await connection._get_statement(statement, None)  # type: ignore[attr-defined]  # noqa: SLF001
    finally:
        await pool.release(connection)
