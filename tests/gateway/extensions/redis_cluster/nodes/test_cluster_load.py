"""Two gateways, a writer and a judge on a Redis Cluster whose slots move and whose node fails."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cache.lookup import CacheLookup, ComputedAnswer
from tests.cache.support.histories import at
from tests.cache.support.worker import CacheWorker, FakeChangeLog
from tests.gateway.extensions.redis_cluster.own_cluster import (
    ClusterNode,
    OwnCluster,
    cluster_store,
    own_cluster,
    slot_of,
)
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MOVES = 40 if is_thorough() else 20
READERS = 8
QUESTIONS = 12  # of each tenant
RANDOM = random.Random()  # noqa: S311  no secret


class Load:
    """Each answer is how often its question was written about; it is stale if that is too few.

    served: how many answers came from each tier, by tenant.
    """

    def __init__(
        self, tenants: list[str], workers: list[CacheWorker], truth: FakeChangeLog
    ) -> None:
        self.tenants = tenants
        self.workers = workers
        self.truth = truth
        self.is_over = False
        self.written: Counter[tuple[str, str]] = Counter()
        self.served: Counter[tuple[str, str]] = Counter()
        self.stale: list[str] = []

    async def read(self) -> None:
        while not self.is_over:
            tenant, key = self._question()
            current, least = self.truth.revisions[tenant], self.written[tenant, key]
            answer = await RANDOM.choice(self.workers).answers.get_or_compute(
                CacheLookup(tenant, key),
                at(**{tenant: current}),
                lambda tenant=tenant, key=key: self._compute(tenant, key),  # type: ignore[misc]
            )
            self.served[tenant, answer.tier] += 1
            if int(answer.body) < least:
                self.stale.append(f"{tenant} {key}: {answer} instead of {least}")
            await asyncio.sleep(0)

    async def write(self) -> None:
        while not self.is_over:
            tenant, key = self._question()
            self.written[tenant, key] += 1
            revision = self.truth.commit(tenant, key.encode())
            worker = RANDOM.choice(self.workers)
            await worker.invalidation.drain(tenant, at(**{tenant: revision}))
            await asyncio.sleep(0.002)

    def _question(self) -> tuple[str, str]:
        tenant = RANDOM.choice(self.tenants)
        return tenant, f"{tenant}-{RANDOM.randrange(QUESTIONS)}"

    async def _compute(self, tenant: str, key: str) -> ComputedAnswer:
        body, as_of = str(self.written[tenant, key]).encode(), self.truth.revisions[tenant]
        await asyncio.sleep(RANDOM.choice((0, 0.001)))
        return ComputedAnswer(body, at(**{tenant: as_of}), key.encode)


@asynccontextmanager
async def load_on(cluster: OwnCluster) -> AsyncIterator[Load]:
    """Readers and a writer at work, of two tenants of each node."""
    tenants = [cluster.tenant_of(number, tag) for number in range(3) for tag in ("a", "b")]
    truth = FakeChangeLog(**dict.fromkeys(tenants, 1))
    async with (
        cluster_store(cluster.url, budget_s=0.3) as one,
        cluster_store(cluster.url, budget_s=0.3) as other,
    ):
        load = Load(tenants, [CacheWorker(store, truth) for store in (one, other)], truth)
        async with asyncio.TaskGroup() as group:
            for work in (load.write(), *(load.read() for _ in range(READERS))):
                group.create_task(work)
            try:
                yield load
            finally:
                load.is_over = True


async def move_at_random(cluster: OwnCluster, load: Load) -> None:
    """Move slots to and fro; some moves are given up, and their keys come back or stay behind."""
    owners = {slot_of(tenant): cluster.masters[at // 2] for at, tenant in enumerate(load.tenants)}
    for _ in range(MOVES):
        slot = RANDOM.choice(list(owners))
        source = owners[slot]
        target = RANDOM.choice([node for node in cluster.masters if node is not source])
        if RANDOM.random() < 0.5:
            await cluster.move_slot(slot, source, target, lambda: asyncio.sleep(0.001))
            owners[slot] = target
        else:
            await give_up(cluster, slot, source, target)
        await asyncio.sleep(0.01)


async def give_up(cluster: OwnCluster, slot: int, source: ClusterNode, target: ClusterNode) -> None:
    keys = await cluster.keys(source, slot)
    await cluster.open_slot(slot, source, target)
    await cluster.move_keys(source, target, *RANDOM.sample(keys, len(keys) // 2))
    await cluster.give_up_move(slot, source)
    await asyncio.sleep(0.02)
    if RANDOM.random() < 0.5:
        await cluster.move_keys(target, source, *await cluster.keys(target, slot))
    await cluster.give_up_move(slot, target)


@pytest.mark.thorough
async def test_no_answer_is_stale_while_slots_move_and_a_node_fails() -> None:
    async with own_cluster(has_replica=True) as cluster:
        assert cluster.replica is not None
        async with load_on(cluster) as load:
            await move_at_random(cluster, load)
            moved, load.served = load.served, Counter()
            lost = await cluster.slots_of(cluster.masters[0])
            await cluster.masters[0].kill()
            async with asyncio.timeout(60):
                # Perhaps no tenant is left on the lost node: then all are served at once.
                while not (is_served(load, lost) and await cluster.replica.role() == "master"):
                    await asyncio.sleep(0.05)

        assert load.stale == []
        tiers = Counter[str]()
        for (_, tier), count in moved.items():
            tiers[tier] += count
        assert tiers["redis"] > MOVES
        assert tiers["miss"] > MOVES


def is_served(load: Load, slots: set[int]) -> bool:
    """Whether Redis has served all tenants of these slots again."""
    lost = [tenant for tenant in load.tenants if slot_of(tenant) in slots]
    return all(load.served[tenant, "redis"] > 10 for tenant in lost or load.tenants)
