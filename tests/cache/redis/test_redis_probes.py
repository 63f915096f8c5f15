"""After a failure and its pause, one call finds out whether Redis is back."""

import asyncio

import pytest
from redis.asyncio import Redis

from cache.errors import CacheUnavailable
from cache.redis.node import RedisNode
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


async def test_a_connection_that_ends_before_it_is_written_to_is_an_outage() -> None:
    """uvloop raises no `OSError` then."""

    async def write_to_a_closed_one(_client: Redis) -> None:
        _reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.transport.abort()
        await asyncio.sleep(0)
        writer.writelines([b"PING\r\n"])

    async def fail(_client: Redis) -> None:
        raise RuntimeError("a fault of ours")

    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    breaker = CircuitBreaker(lambda: 0.0, REDIS)
    async with server, Redis(port=port) as client:
        node = RedisNode("Redis", client, breaker, budget_s=60.0)
        with pytest.raises(RuntimeError, match="of ours"):
            await node.run_apart(fail)
        with pytest.raises(CacheUnavailable, match="closed the connection"):
            await node.run_apart(write_to_a_closed_one)

        with pytest.raises(CacheUnavailable, match="skipped"):
            await node.run_apart(fail)
