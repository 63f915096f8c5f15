"""Connections that stay taken between statements, and those that may not."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from index.postgres.connections import Pool, pool
from index.postgres.kept_connections import KeptConnections
from tests.gateway.servers.database_proxy import database_proxy

pytestmark = pytest.mark.anyio

WAIT_S_MAX = 60.0


@pytest.fixture
async def opened(database_url: str) -> AsyncIterator[Pool]:
    async with pool(database_url, 2, WAIT_S_MAX) as opened:
        yield opened


@pytest.fixture
async def connections(opened: Pool) -> AsyncIterator[KeptConnections]:
    connections = KeptConnections(opened)
    yield connections
    await connections.release()
    assert opened.get_idle_size() == opened.get_size(), "all are back in the pool"


async def backend(connections: KeptConnections) -> int:
    async with connections.taken() as connection:
        pid: int = await connection.fetchval("SELECT pg_backend_pid()")
    return pid


async def test_statements_one_after_the_other_share_a_connection_that_the_pool_does_not_have(
    connections: KeptConnections, opened: Pool
) -> None:
    assert await backend(connections) == await backend(connections)
    assert opened.get_idle_size() == 0


async def test_statements_at_once_have_one_each(connections: KeptConnections) -> None:
    async with connections.taken(), asyncio.timeout(WAIT_S_MAX):
        pid = await backend(connections)
        assert pid == await backend(connections)


async def test_after_an_error_the_pool_has_it(connections: KeptConnections, opened: Pool) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):
        async with connections.taken() as connection:
            await connection.execute("SELECT 1 / 0")

    assert opened.get_idle_size() == 1


async def test_a_cancelled_statement_has_ended_before_the_next_one(
    connections: KeptConnections,
) -> None:
    begun = asyncio.Event()

    async def wait() -> None:
        async with connections.taken() as connection:
            begun.set()
            await connection.execute("SELECT pg_sleep(600)")

    task = asyncio.create_task(wait())
    await begun.wait()
    task.cancel()
    async with asyncio.timeout(WAIT_S_MAX):
        await asyncio.wait([task])
        assert await backend(connections)


async def test_a_cancelled_statement_does_not_wait_for_a_server_that_says_nothing(
    database_url: str,
) -> None:
    async with database_proxy(database_url) as wire, pool(wire.url, 2, WAIT_S_MAX) as far:
        begun = asyncio.Event()

        async def wait() -> None:
            async with far.acquire(timeout=10 * WAIT_S_MAX) as connection:
                begun.set()
                await connection.execute("SELECT pg_sleep(600)")

        task = asyncio.create_task(wait())
        await begun.wait()
        wire.hold()
        task.cancel()
        async with asyncio.timeout(WAIT_S_MAX):
            await asyncio.wait([task])
            wire.mend()
            async with far.acquire(timeout=WAIT_S_MAX) as connection:
                assert await connection.fetchval("SELECT 1")

    assert task.cancelled()


async def test_a_lost_one_is_replaced(connections: KeptConnections, opened: Pool) -> None:
    async with connections.taken() as connection:
        closed = asyncio.Event()
        connection.add_termination_listener(lambda _: closed.set())
        pid = await connection.fetchval("SELECT pg_backend_pid()")
    async with opened.acquire() as other:
        await other.execute("SELECT pg_terminate_backend($1)", pid)
    async with asyncio.timeout(WAIT_S_MAX):
        await closed.wait()
        assert await backend(connections) != pid


async def test_renewed_ones_run_no_other_statement(connections: KeptConnections) -> None:
    async with connections.taken() as connection:
        in_use: int = await connection.fetchval("SELECT pg_backend_pid()")
        idle = await backend(connections)

        await connections.renew()

    assert not {await backend(connections), await backend(connections)} & {in_use, idle}


async def test_one_that_was_idle_for_long_is_closed(opened: Pool) -> None:
    connections = KeptConnections(opened, idle_s_max=0.0)

    assert await backend(connections) != await backend(connections)
    await connections.release()


async def test_the_pool_has_one_again_after_so_many_uses(opened: Pool) -> None:
    connections = KeptConnections(opened, uses_max=2)
    await backend(connections)
    assert opened.get_idle_size() == 0

    await backend(connections)
    assert opened.get_idle_size() == 1
