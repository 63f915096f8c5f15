"""One connection for all calls, whoever gives up, whatever is refused, and whenever it ends."""

import asyncio
import gc
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count

import pytest
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import RedisError, ResponseError

from cache.errors import CacheUnavailable
from cache.redis.pipelined_connection import PipelinedConnection
from common.circuit_breaker import REDIS, CircuitBreaker
from gateway.extensions.embedded_servers.owned_servers import Servers
from tests.cache.support.own_server import server
from tests.cache.support.single_store import store_on

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LATE_S = 5


@pytest.fixture
async def client(servers: Servers) -> AsyncIterator[Redis]:
    """Has one connection, and whoever wants another one waits in vain."""
    pool = BlockingConnectionPool.from_url(servers.redis_url, max_connections=1, timeout=LATE_S)
    async with Redis.from_pool(pool) as made:
        yield made


@pytest.fixture
async def line(client: Redis) -> AsyncIterator[PipelinedConnection]:
    line = PipelinedConnection(client)
    yield line
    await line.aclose()


@pytest.fixture
def key() -> str:
    return f"nearhit-test-{secrets.token_hex(6)}"


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_what_is_asked_at_once_is_answered_to_each_on_one_connection(
    line: PipelinedConnection,
) -> None:
    words = [f"word {number}" for number in range(50)]

    echoes = await asyncio.gather(*(line.send("ECHO", word) for word in words))
    connections = await asyncio.gather(*(line.send("CLIENT", "ID") for _ in words))

    assert echoes == [word.encode() for word in words]
    assert len(set(connections)) == 1


async def test_whoever_gives_up_leaves_the_others_theirs(line: PipelinedConnection) -> None:
    await line.send("PING")
    impatient = [asyncio.create_task(line.send("ECHO", "nobody's")) for _ in range(3)]
    patient = asyncio.create_task(line.send("ECHO", "mine"))
    await asyncio.sleep(0)
    for each in impatient:
        each.cancel()

    async with asyncio.timeout(LATE_S):
        assert await patient == b"mine"
        assert await line.send("ECHO", "after") == b"after"


async def test_a_refusal_is_for_whoever_asked(line: PipelinedConnection) -> None:
    refused = asyncio.create_task(line.send("NO-SUCH-COMMAND"))
    told = asyncio.create_task(line.send("ECHO", "mine"))

    async with asyncio.timeout(LATE_S):
        with pytest.raises(ResponseError):
            await refused
        assert await told == b"mine"


async def test_what_the_server_has_closed_is_opened_again(
    line: PipelinedConnection, servers: Servers
) -> None:
    first = await line.send("CLIENT", "ID")
    async with Redis.from_url(servers.redis_url) as other:
        await other.client_kill_filter(_id=first)

    assert await line.send("CLIENT", "ID") != first


async def test_whoever_asks_as_the_server_closes_it_is_answered_or_told_that_it_is_away(
    line: PipelinedConnection, servers: Servers
) -> None:
    async def ask_on() -> None:
        while not is_over:
            with suppress(RedisError, OSError):  # nothing else, as those who ask know of nothing
                assert await line.send("PING") == b"PONG"
            await asyncio.sleep(0)

    is_over = False
    async with Redis.from_url(servers.redis_url) as other:
        asking = [asyncio.create_task(ask_on()) for _ in range(10)]
        for _ in range(100):
            with suppress(RedisError, OSError):
                await other.client_kill_filter(_id=await line.send("CLIENT", "ID"))
        is_over = True
        await asyncio.gather(*asking)


async def test_whoever_waits_as_it_ends_asks_once_more(
    line: PipelinedConnection, key: str, servers: Servers
) -> None:
    await line.send("PING")
    waiting = asyncio.create_task(line.send("BLPOP", key, LATE_S))
    await turns(5)

    line.disconnect()
    await turns(5)
    async with Redis.from_url(servers.redis_url) as other:
        await other.lpush(key, "for it")

    assert await waiting == [key.encode(), b"for it"]


@pytest.mark.parametrize("late", range(40))
async def test_whenever_it_ends_the_connection_is_free_again(
    line: PipelinedConnection, late: int
) -> None:
    asking = asyncio.create_task(line.send("ECHO", "mine"))
    await turns(late)
    line.disconnect()

    async with asyncio.timeout(LATE_S - 1):
        assert await asking == b"mine"
        assert await line.send("ECHO", "after") == b"after"


@pytest.mark.parametrize("late", range(20))
async def test_once_it_is_closed_it_holds_no_connection_and_opens_none(
    client: Redis, late: int
) -> None:
    line = PipelinedConnection(client)
    asking = asyncio.create_task(line.send("ECHO", "mine"))
    await turns(late)

    async with asyncio.timeout(LATE_S - 1):
        await line.aclose()
        with suppress(NotConnected):
            assert await asking == b"mine"
        with pytest.raises(NotConnected):
            await line.send("ECHO", "after")
        assert await client.ping()  # the one connection of its pool is free


async def test_what_a_full_server_refuses_ends_no_connection() -> None:
    async with server("--maxmemory", "1", "--maxmemory-policy", "noeviction") as full:
        breaker = CircuitBreaker(count(0.0, 60.0).__next__, REDIS)  # whose pauses are over at once
        store = store_on(full, breaker)
        connections = []
        for _ in range(3):
            with pytest.raises(CacheUnavailable):
                await store.set("acme", "a", b"1")
            told = await full.info("stats")
            connections.append(told["total_connections_received"])

        assert len(set(connections)) == 1


async def test_a_connection_that_nobody_has_closed_is_not_collected_while_it_waits(
    servers: Servers,
) -> None:
    """Python would report it in whichever test it collects in."""
    loop, reported = asyncio.get_running_loop(), list[object]()
    gc.collect()  # what other tests have left is not reported here
    handler = loop.get_exception_handler()
    loop.set_exception_handler(lambda _loop, context: reported.append(context))

    async def ask() -> None:
        pool = BlockingConnectionPool.from_url(servers.redis_url)
        assert await PipelinedConnection(Redis.from_pool(pool)).send("ECHO", "mine") == b"mine"

    await ask()
    gc.collect()
    await turns(2)
    loop.set_exception_handler(handler)

    assert not reported
