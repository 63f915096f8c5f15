"""All that a tenant's cache touches lies in one slot: a cluster refuses a script that strays."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from tests.cache.support.histories import at
from tests.cache.support.own_server import server, until
from tests.cache.support.search_stub import Index
from tests.cache.support.single_store import store_on
from tests.cache.support.worker import CacheWorker, FakeChangeLog

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def told(client: Redis, *words: str) -> bytes:
    answer = await client.execute_command("CLUSTER", *words)  # type: ignore[no-untyped-call]
    assert isinstance(answer, bytes)
    return answer


@pytest.fixture
async def node() -> AsyncIterator[Redis]:
    """A cluster of one, which has all slots."""
    async with server("--cluster-enabled", "yes") as client:
        await told(client, "ADDSLOTSRANGE", "0", "16383")

        async def is_up() -> bool:
            return b"cluster_state:ok" in await told(client, "INFO")

        await until(is_up)
        yield client


@pytest.mark.thorough
async def test_a_cluster_refuses_what_touches_two_slots(node: Redis) -> None:
    with pytest.raises(ResponseError, match="slot"):
        await node.eval("return redis.call('GET', KEYS[2])", 2, "one", "another")


async def test_answers_are_filled_served_and_dropped_on_a_cluster(node: Redis) -> None:
    store = store_on(node, entries_max=2)
    truth = FakeChangeLog(acme=3)

    def new_worker() -> CacheWorker:
        return CacheWorker(store, truth)

    for key in ("one", "two", "three", "four"):
        await new_worker().ask(key, Index(b"body", key.encode(), acme=3), acme=3)
    truth.commit("acme", b"three")
    await new_worker().invalidation.drain("acme", at(acme=4))
    await new_worker().answers.drop("acme", "two")

    spared = await new_worker().ask("four", Index(b"new", acme=4), acme=4)
    doomed = await new_worker().ask("three", Index(b"new", acme=4), acme=4)
    assert [spared.tier, doomed.tier] == ["redis", "miss"]
