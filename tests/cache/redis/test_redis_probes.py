"""After a failure and its pause, one call finds out whether Redis is back."""

import asyncio

import pytest
from redis.asyncio import Redis

from cache.errors import CacheUnavailable
from common.circuit_breaker import REDIS, CircuitBreaker
from tests.cache.support.single_store import store_on

pytestmark = pytest.mark.anyio


async def test_while_one_call_probes_redis_others_skip_it_and_a_cancelled_probe_makes_room() -> (
    None
):
    now_s = 0.0
    is_asked = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        is_asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    breaker = CircuitBreaker(lambda: now_s, REDIS)
    async with server, Redis(port=port) as client:
        store = store_on(client, breaker, budget_s=60.0)
        breaker.failed(breaker.admit() or 0)
        now_s = REDIS.first_pause_s
        probe = asyncio.create_task(store.get("acme", "a"))
        async with asyncio.timeout(60):
            await is_asked.wait()
        with pytest.raises(CacheUnavailable):
            await store.get("acme", "a")
        probe.cancel()
        await asyncio.wait((probe,))

        assert breaker.admit() is not None
