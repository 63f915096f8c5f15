"""What a Redis Cluster does to a tenant's keys: moves them one by one, back, and loses the last.

The moves below are more than redis-cli does: a move is given up, and keys come back from it later.
"""

import secrets
from collections.abc import AsyncIterator
from itertools import count

import pytest

from cache import protocol
from cache.lookup import CacheLookup, ServedAnswer
from cache.redis.store import CacheSnapshot, RedisStore
from tests.cache.support.histories import HISTORY, at
from tests.cache.support.own_server import until
from tests.cache.support.search_stub import Index
from tests.cache.support.worker import CacheWorker, FakeChangeLog
from tests.gateway.extensions.redis_cluster.own_cluster import (
    ClusterNode,
    OwnCluster,
    cluster_store,
    own_cluster,
    slot_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

_NUMBERS = count()  # of scenes, which are the same in each run: names drawn at random share slots


class Scene:
    """A tenant of its own, in a slot of the first node, and the answers `a` and `b` about it."""

    def __init__(self, cluster: OwnCluster, store: RedisStore, tag: str) -> None:
        self.cluster = cluster
        self.store = store
        self.tenant = cluster.tenant_of(0, tag)
        self.slot = slot_of(self.tenant)
        self.truth = FakeChangeLog(**{self.tenant: 3})
        self.home, self.away, _ = cluster.masters
        self.is_fixed = False

    async def ask(self, key: str, body: bytes) -> ServedAnswer:
        """As another process, with nothing in its memory; `body` is what is right now."""
        current = self.truth.revisions[self.tenant]
        worker = CacheWorker(self.store, self.truth)
        return await worker.answers.get_or_compute(
            CacheLookup(self.tenant, key),
            at(**{self.tenant: current}),
            Index(body, key.encode(), **{self.tenant: current}),
        )

    async def change(self, key: str) -> None:
        """A write that the answer under this key depends on, acknowledged after its drain."""
        revision = self.truth.commit(self.tenant, key.encode())
        await CacheWorker(self.store, self.truth).invalidation.drain(
            self.tenant, at(**{self.tenant: revision})
        )

    async def look(self, key: str) -> CacheSnapshot:
        return await self.store.lookup(self.tenant, HISTORY, key)

    def name(self, name: str) -> bytes:
        return self.store.name(self.tenant, name).encode()

    async def move(self, source: ClusterNode, target: ClusterNode) -> None:
        await self.cluster.move_slot(self.slot, source, target)

    async def strand(self, *names: str) -> None:
        """Begin to move the slot, move these keys, and give up: they stay on the other node."""
        await self.cluster.open_slot(self.slot, self.home, self.away)
        await self.cluster.move_keys(self.home, self.away, *map(self.name, names))
        await self.cluster.give_up_move(self.slot, self.home)

    async def bring_back(self) -> None:
        """What was moved comes back: alone, as `redis-cli --cluster fix` does, or with its slot."""
        if not self.is_fixed:
            await self.move(self.home, self.away)
            await self.move(self.away, self.home)
            return
        stranded = await self.cluster.keys(self.away, self.slot)
        await self.cluster.move_keys(self.away, self.home, *stranded)
        await self.cluster.give_up_move(self.slot, self.away)


@pytest.fixture(params=[False, True], ids=["moved again", "fixed"])
async def scene(cluster: OwnCluster, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    home, away, _ = cluster.masters
    owned = await cluster.slots_of(home) - await cluster.slots_of(away)  # others' slots have moved
    async with cluster_store(cluster.url) as store:
        scenes = (Scene(cluster, store, f"scene{number}-") for number in _NUMBERS)
        scene = next(scene for scene in scenes if scene.slot in owned)
        scene.is_fixed = request.param
        yield scene


@pytest.mark.thorough
async def test_a_tenants_answers_are_filled_served_and_dropped_on_each_node(
    cluster: OwnCluster, scene: Scene
) -> None:
    for number in range(3):
        scene.tenant = cluster.tenant_of(number, secrets.token_hex(4))
        scene.truth.revisions[scene.tenant] = 3
        tiers = [(await scene.ask(key, b"old")).tier for key in ("a", "b", "a", "b")]
        await scene.change("a")

        after = [await scene.ask(key, b"new") for key in ("a", "b")]

        assert tiers == ["miss", "miss", "redis", "redis"]
        assert [(answer.tier, answer.body) for answer in after] == [
            ("miss", b"new"),
            ("redis", b"old"),
        ]


async def test_a_state_that_moved_to_another_node_counts_as_none(scene: Scene) -> None:
    await scene.ask("a", b"old")
    assert (await scene.look("a")).state is not None

    await scene.move(scene.home, scene.away)

    moved = await scene.look("a")
    assert moved.entry is not None
    assert moved.state is None
    assert [(await scene.ask("a", b"old")).tier for _ in range(2)] == ["miss", "redis"]


async def test_a_slot_that_comes_back_untouched_brings_valid_answers(scene: Scene) -> None:
    await scene.ask("a", b"old")
    await scene.ask("b", b"old")
    await scene.move(scene.home, scene.away)
    scene.truth.commit(scene.tenant, b"a")  # its drain finds no valid state there
    await scene.move(scene.away, scene.home)

    assert (await scene.ask("a", b"new")).body == b"new"
    spared = await scene.ask("b", b"old")
    assert (spared.tier, spared.body) == ("redis", b"old")


async def test_an_answer_that_comes_back_after_its_drop_is_not_served(scene: Scene) -> None:
    await scene.ask("a", b"old")
    await scene.ask("b", b"old")
    await scene.strand("a")
    await scene.change("a")

    await scene.bring_back()

    back = await scene.look("b")
    assert back.state is not None
    assert back.entry is not None
    assert (await scene.ask("a", b"new")).body == b"new"


async def test_an_answer_that_comes_back_in_the_place_of_a_later_one_is_not_served(
    scene: Scene,
) -> None:
    await scene.ask("a", b"old")
    await scene.strand("a")
    await scene.change("a")
    await scene.ask("a", b"new")
    await scene.home.tell("DEL", scene.name("a"))  # as an eviction does

    await scene.bring_back()

    assert (await scene.look("b")).state is not None
    assert (await scene.ask("a", b"new")).body == b"new"


async def test_a_drain_does_not_end_on_a_registry_that_is_elsewhere(scene: Scene) -> None:
    await scene.ask("a", b"old")
    scene.truth.commit(scene.tenant, b"a")
    reached = at(**{scene.tenant: 4})
    snapshot = await scene.look("")
    assert snapshot.state is not None
    begun = protocol.raise_fence(snapshot.state, reached)
    assert begun is not None
    fenced = await scene.store.compare_and_swap(snapshot, begun)
    assert fenced.is_done
    applied = protocol.mark_applied(begun, begun, reached.by_partition)
    assert applied is not None
    await scene.strand("a", "entries")

    finish = await scene.store.compare_and_swap(fenced.snapshot, applied, drop=["a"])
    await scene.bring_back()

    assert not finish.is_done
    assert (await scene.ask("a", b"new")).body == b"new"


async def test_a_state_that_was_elsewhere_does_not_serve_answers_of_the_next_one(
    scene: Scene,
) -> None:
    await scene.ask("a", b"old")
    await scene.strand("state", "a")
    await scene.change("a")
    await scene.ask("a", b"new")
    await scene.home.tell("DEL", scene.name("state"), scene.name("a"))  # as evictions do

    await scene.bring_back()

    assert (await scene.ask("a", b"new")).body == b"new"


@pytest.mark.thorough
async def test_answers_that_a_promoted_replica_took_are_found_by_a_worker_that_knew_others() -> (
    None
):
    async with (
        own_cluster(has_replica=True) as cluster,
        cluster_store(cluster.url, budget_s=0.3) as store,
    ):
        scene = Scene(cluster, store, "failover")
        replica = cluster.replica
        assert replica is not None
        knowing = CacheWorker(store, scene.truth)
        for key in ("a", "b"):
            if key == "b":  # which never reaches the replica
                await scene.home.tell("SET", scene.name("mark"), 1)
                await scene.home.tell("WAIT", 1, 5_000)  # for what this client has written
                replica.hang()
                await scene.home.tell("CLIENT", "KILL", "TYPE", "replica")
            await knowing.answers.get_or_compute(
                CacheLookup(scene.tenant, key),
                at(**{scene.tenant: 3}),
                Index(b"old", key.encode(), **{scene.tenant: 3}),
            )
        await scene.home.kill()
        replica.go_on()

        async def is_served() -> bool:
            return (await scene.ask("c", b"old")).tier == "redis"

        assert (await scene.ask("a", b"old")).body == b"old"  # computed, while nobody has the slot
        await until(is_served)
        revision = scene.truth.commit(scene.tenant, b"c")
        await knowing.invalidation.drain(scene.tenant, at(**{scene.tenant: revision}))

        assert await replica.role() == "master"
        assert (await scene.ask("c", b"new")).body == b"new"
