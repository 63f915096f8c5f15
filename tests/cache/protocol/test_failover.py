"""What Redis does to its own memory: fails over, comes back, forgets. Two real servers in step."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from redis.asyncio import Redis

from cache.errors import CacheUnavailable
from cache.redis.store import CacheSnapshot, RedisStore
from tests.cache.support.histories import HISTORY
from tests.cache.support.own_server import server, until
from tests.cache.support.search_stub import Index
from tests.cache.support.single_store import store_on
from tests.cache.support.worker import CacheWorker, FakeChangeLog

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PROMPT = ("--repl-diskless-sync-delay", "0")


@pytest.fixture
async def pair() -> AsyncIterator[tuple[Redis, Redis]]:
    """A master and its replica."""
    async with AsyncExitStack() as stack:
        master = await stack.enter_async_context(server(*PROMPT))
        replica = await stack.enter_async_context(server(*PROMPT))
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


async def fill(store: RedisStore, key: str) -> None:
    worker = CacheWorker(store, FakeChangeLog(acme=3))
    await worker.ask(key, Index(b"old", acme=3), acme=3)


async def registered(store: RedisStore, sight: CacheSnapshot) -> set[str]:
    assert sight.state is not None
    page = await store.scan(sight, sight.state.nonce, after=0)
    assert page is not None
    return {listed.key for listed in page.records}


async def test_a_promoted_replica_believes_no_state_of_its_master(
    pair: tuple[Redis, Redis],
) -> None:
    master, replica = pair
    await fill(store_on(master), "key")
    await master.wait(1, 5_000)

    await promote(replica)
    sight = await store_on(replica).lookup("acme", HISTORY, "key")

    assert sight.entry is not None
    assert sight.state is None


@pytest.mark.thorough
async def test_a_server_demoted_and_promoted_again_believes_no_state_of_before(
    pair: tuple[Redis, Redis],
) -> None:
    first, second = pair
    await fill(store_on(first), "key")
    assert (await store_on(first).lookup("acme", HISTORY, "key")).state is not None

    await promote(second)
    await follow(first, second)
    await promote(first)

    assert (await store_on(first).lookup("acme", HISTORY, "key")).state is None


@pytest.mark.thorough
async def test_a_scan_counts_only_on_the_server_that_was_seen(pair: tuple[Redis, Redis]) -> None:
    master, replica = pair
    await fill(store_on(master), "key")
    await master.wait(1, 5_000)
    sight = await store_on(master).lookup("acme", HISTORY, "key")
    assert await registered(store_on(master), sight) == {"key"}

    await promote(replica)

    with pytest.raises(CacheUnavailable):
        await registered(store_on(replica), sight)
