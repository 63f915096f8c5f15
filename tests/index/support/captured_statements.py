"""Searches by one connection, for who wants to see what it is told, or to do something to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from common.shares.slots import FairSlots
from index.postgres.connections import Pool, pool
from index.postgres.dedicated_connection import Health
from index.postgres.functions import function_roles
from index.postgres.functions.function_roles import Connection
from index.postgres.search_connections import SearchConnections


class _OneConnection:
    """A pool whose only connection is never given back, so that who listens to it may stay."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def acquire(self, **_: Any) -> Connection:
        return self._connection

    async def release(self, _: Connection) -> None:
        pass


@asynccontextmanager
async def held(url: str) -> AsyncIterator[tuple[SearchConnections, Connection]]:
    async with (
        pool(url, 1, 10, {}) as owner,
        pool(url, 1, 10, {"role": function_roles.SEARCH.name}) as opened,
        opened.acquire() as connection,
    ):
        one = cast("Pool", _OneConnection(connection))
        yield (
            SearchConnections(
                one, owner, FairSlots(1, waiting_max=100, wait_s_max=5.0), Health(unobserved)
            ),
            connection,
        )


def unobserved(_name: str, _seconds: float) -> None:
    pass
