"""Gateways on a Redis Cluster: answers are shared, dropped by writes, and right without a shard."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.redis_cluster.own_cluster import OwnCluster, own_cluster, slot_of
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
async def cluster() -> AsyncIterator[OwnCluster]:
    async with own_cluster(password="hush") as started:
        yield started


@pytest.fixture
async def gateways(
    settings: Settings, embedder: Embedder, cluster: OwnCluster
) -> AsyncIterator[list[Gateway]]:
    own = settings.model_copy(update={"redis_url": SecretStr(cluster.url), "redis_timeout_s": 0.3})
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(running(own, embedder)) for _ in range(2)]


async def writer_of(gateway: Gateway, tenant: str) -> Caller:
    await gateway.tenant(tenant)
    return await gateway.caller("ana", tenant=tenant, roles=["reader", "writer"])


async def answers(gateways: list[Gateway], caller: Caller) -> list[tuple[str, str]]:
    """Of each gateway, which tier served, and how many days of leave it says there are."""
    found = []
    for gateway in gateways:
        answer = await gateway.as_(caller).search("annual leave")
        days = next(days for days in ("25", "30", "35") if f"{days} days" in answer.text)
        found.append((answer.headers["Cache-Status"], days))
    return found


async def test_answers_are_shared_dropped_and_right_whatever_befalls_the_cluster(
    cluster: OwnCluster, gateways: list[Gateway], capfd: pytest.CaptureFixture[str]
) -> None:
    tenants = [cluster.tenant_of(number, "g") for number in range(3)]
    callers = [await writer_of(gateways[0], tenant) for tenant in tenants]

    async def write(days: int) -> None:
        for number, caller in enumerate(callers):
            by = gateways[number % 2].as_(caller)
            await by.put("leave", f"Annual leave is {days} days a year.")

    async def are_answered(days: str) -> list[bool]:
        """Whether the second gateway found each tenant's answer in Redis."""
        shared = []
        for caller in callers:
            (_, first), (tier, second) = await answers(gateways, caller)
            assert (first, second) == (days, days)
            shared.append("hit" in tier and "redis" in tier)
        return shared

    await write(25)
    assert await are_answered("25") == [True] * 3
    await write(30)
    assert await are_answered("30") == [True] * 3

    await cluster.move_slot(slot_of(tenants[0]), cluster.masters[0], cluster.masters[1])
    await write(35)
    assert await are_answered("35") == [True] * 3

    await cluster.masters[2].kill()
    await write(25)
    assert await are_answered("25") == [True, True, False]
    assert "hush" not in "".join(capfd.readouterr())
