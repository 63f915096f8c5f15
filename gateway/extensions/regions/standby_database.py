"""Connects to a standby of PostgreSQL as `index.postgres.database` does to the primary."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from common.shares.slots import FairSlots
from index.postgres import connections
from index.postgres.connections import ACQUIRE_TIMEOUT_S, unavailable
from index.postgres.database import SEARCHES_WAITING_MAX, Database, announce_to_nobody
from index.postgres.dedicated_connection import Health
from index.postgres.driver_connection import ServerTypes
from index.postgres.functions import function_roles
from index.postgres.search_connections import SearchConnections
from index.postgres.session import ObserveStatement

_SYSTEM_IDENTIFIER = "SELECT system_identifier FROM pg_control_system()"


@asynccontextmanager
async def connect(
    primary: Database,
    url: str,
    *,
    connections_max: int,
    statement_timeout_s: float,
    search_timeout_s: float,
    observe: ObserveStatement,
) -> AsyncIterator[Database]:
    """A standby of the primary's server, for searches and reads; it need not be reachable yet.

    Its statements may raise `DatabaseUnavailable` for what it has not replayed, such as functions.
    The other parameters are those of `database.connect`.
    """
    searches = {"role": function_roles.SEARCH.name}
    pool = partial(connections.pool, url, types=ServerTypes(), connections_min=0)
    async with (
        pool(connections_max + 1, statement_timeout_s) as owner,
        pool(connections_max, search_timeout_s, searches) as searching,
    ):
        shares = FairSlots(
            connections_max, waiting_max=SEARCHES_WAITING_MAX, wait_s_max=ACQUIRE_TIMEOUT_S
        )
        health = Health(observe)
        standby = Database(
            url,
            owner,
            SearchConnections(searching, primary.owner_pool, shares, health, standby=owner),
            health,
            announce_to_nobody,
            logged=False,
            primary=primary.owner_pool,
        )
        try:
            yield standby
        finally:
            await standby.release()


async def system_identifier(url: str) -> int:
    """What a server shares with its standbys alone. Raises `DatabaseUnavailable`."""
    with unavailable:
        async with connections.direct_connection(url) as connection:
            identifier: int = await connection.fetchval(_SYSTEM_IDENTIFIER)
    return identifier
