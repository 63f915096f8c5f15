"""A write that nobody is told of waits for the read leases of gateways that may not know it."""

import asyncio
import time
from collections.abc import Awaitable

import asyncpg
import pytest

from index.postgres import read_leases
from index.postgres.database import Database, connect
from index.tenants.tenant_store import TenantStore

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

DURATION_S = 0.5


async def renew(database: Database, holder: str, duration_s: float = DURATION_S) -> None:
    async with database.direct_session() as session:
        await session.rows("read_leases.renew", holder, "far", duration_s, None)


async def holders(connection: "asyncpg.Connection[asyncpg.Record]") -> list[str]:
    return [row["holder"] for row in await connection.fetch("SELECT holder FROM read_leases")]


async def seconds_of(waiting: Awaitable[None]) -> float:
    started_s = time.monotonic()
    await waiting
    return time.monotonic() - started_s


async def settled(database: Database) -> None:
    """Leases of an earlier history have run out; the database is a copy, and so has another."""
    await database.rows("read_leases.replicate_history")
    (row,) = await database.rows("read_leases.stored")
    await database.rows("read_leases.settle", row["history"])


async def test_without_leases_a_write_waits_for_one_statement(
    database: Database, tenants: TenantStore, database_url: str
) -> None:
    await settled(database)
    statements: list[str] = []
    async with connect(
        database_url,
        connections_max=1,
        statement_timeout_s=10,
        observe=lambda name, _seconds: statements.append(name),
        announce=read_leases.run_out,
    ) as writing:
        await TenantStore(writing).add_member("acme", "sales", "ana")

    assert [name for name in statements if "lease" in name] == ["read_leases.announce"]


async def test_it_waits_for_the_longest_lease_and_the_next_write_for_none(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await settled(database)
    await renew(database, "short", DURATION_S / 5)
    await renew(database, "long")

    assert await seconds_of(read_leases.run_out(database, ["acme"])) >= DURATION_S

    assert await holders(connection) == []
    assert await seconds_of(read_leases.run_out(database, ["acme"])) < DURATION_S


async def test_a_lease_that_is_renewed_meanwhile_stays(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    """Its holder has read what is committed as it renewed the lease."""
    await settled(database)
    await renew(database, "far")
    async with asyncio.TaskGroup() as group:
        group.create_task(read_leases.run_out(database, ["acme"]))
        await asyncio.sleep(DURATION_S / 2)  # it has read the leases
        await renew(database, "far")

    assert await holders(connection) == ["far"]


async def test_in_a_new_history_it_waits_for_the_longest_lease_that_may_be_lost(
    database: Database, tenants: TenantStore, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await settled(database)
    await renew(database, "lost")
    await connection.execute("DELETE FROM read_leases")
    await tenants.begin_history()

    assert await seconds_of(read_leases.run_out(database, ["acme"])) >= DURATION_S
    assert await seconds_of(read_leases.run_out(database, ["acme"])) < DURATION_S
