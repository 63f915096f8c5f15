"""Drains on a real server: an entry that a change dooms goes, and no other one."""

import asyncio
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from cache.redis.store import RedisStore
from tests.cache.support.histories import at
from tests.cache.support.search_stub import Index
from tests.cache.support.worker import CacheWorker, FakeChangeLog

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

NewWorker = Callable[[], CacheWorker]


async def fill(worker: CacheWorker, *keys: str, acme: int = 3) -> None:
    """Entries that depend on one thing each, of the name of their key."""
    for key in keys:
        index = Index(b"old " + key.encode(), key.encode(), acme=acme)
        await worker.ask(key, index, acme=acme)


async def tier(worker: CacheWorker, key: str, **revisions: int) -> str:
    index = Index(b"new", b"x", **revisions)
    return (await worker.ask(key, index, **revisions)).tier


async def test_a_change_takes_the_entries_that_depend_on_it_and_no_other(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    writer = new_worker()
    await fill(writer, "one", "two", "three")

    truth.commit("acme", b"two")
    await writer.invalidation.drain("acme", at(acme=4))

    assert await tier(new_worker(), "one", acme=4) == "redis"
    assert await tier(new_worker(), "two", acme=4) == "miss"
    assert await tier(new_worker(), "three", acme=4) == "redis"
    assert writer.events.count("dropped") == 1


async def test_memory_is_renewed_by_redis_if_the_change_spared_the_answer(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await fill(worker, "one", "two")

    truth.commit("acme", b"two")
    await worker.invalidation.drain("acme", at(acme=4))

    assert [await tier(worker, "one", acme=4) for _ in range(2)] == ["redis", "memory"]
    assert await tier(worker, "two", acme=4) == "miss"


async def test_a_worker_that_drains_again_reads_only_what_is_new(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    writer, other = new_worker(), new_worker()
    await fill(other, "one", "two")
    truth.commit("acme", b"nothing")
    await writer.invalidation.drain("acme", at(acme=4))

    await fill(other, "three", acme=4)
    truth.commit("acme", b"one", b"three")
    await writer.invalidation.drain("acme", at(acme=5))

    assert await tier(new_worker(), "one", acme=5) == "miss"
    assert await tier(new_worker(), "two", acme=5) == "redis"
    assert await tier(new_worker(), "three", acme=5) == "miss"


async def test_a_key_that_was_filled_again_dies_of_what_it_depends_on_now(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    writer, other = new_worker(), new_worker()
    await fill(other, "one")
    truth.commit("acme", b"one")
    await writer.invalidation.drain("acme", at(acme=4))
    await other.ask("one", Index(b"new", b"two", acme=4), acme=4)

    truth.commit("acme", b"one")
    await writer.invalidation.drain("acme", at(acme=5))
    assert await tier(new_worker(), "one", acme=5) == "redis"

    truth.commit("acme", b"two")
    await writer.invalidation.drain("acme", at(acme=6))
    assert await tier(new_worker(), "one", acme=6) == "miss"


async def test_both_partitions_are_drained_together(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    writer = new_worker()
    revisions = {"acme": 3, "public": 7}
    for key in (b"own", b"public", b"neither"):
        index = Index(b"old", key, acme=3, public=7)
        await writer.ask(key.decode(), index, **revisions)

    truth.commit("acme", b"own")
    truth.commit("public", b"public")
    await writer.invalidation.drain("acme", at(acme=4, public=8))

    assert await tier(new_worker(), "own", acme=4, public=8) == "miss"
    assert await tier(new_worker(), "public", acme=4, public=8) == "miss"
    assert await tier(new_worker(), "neither", acme=4, public=8) == "redis"


async def test_drains_of_many_writers_at_once_all_get_through(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    workers = [new_worker() for _ in range(4)]
    await fill(workers[0], "one", "two")

    async def write(worker: CacheWorker) -> None:
        for _ in range(8):
            revision = truth.commit("acme", b"two")
            await worker.invalidation.drain("acme", at(acme=revision))

    await asyncio.gather(*(write(worker) for worker in workers))

    assert await tier(new_worker(), "one", acme=35) == "redis"
    assert await tier(new_worker(), "two", acme=35) == "miss"
    assert not any("contended" in worker.events for worker in workers)


async def test_a_change_that_is_drained_already_costs_one_look(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await fill(worker, "one")
    truth.commit("acme", b"two")
    await worker.invalidation.drain("acme", at(acme=4))
    asked = truth.asked

    await worker.invalidation.drain("acme", at(acme=4))

    assert truth.asked == asked


async def test_changes_that_are_forgotten_doom_everything(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await fill(worker, "one")
    truth.forgotten = truth.commit("acme", b"two")

    await worker.invalidation.drain("acme", at(acme=4))

    assert await tier(new_worker(), "one", acme=4) == "miss"
    assert await tier(new_worker(), "one", acme=4) == "redis"


async def test_many_doomed_at_once_are_dropped_by_a_new_nonce(
    new_worker: NewWorker, truth: FakeChangeLog, store: RedisStore
) -> None:
    worker = CacheWorker(store, truth, drops_max=2)
    await fill(worker, "one", "two", "three", "four")

    truth.commit("acme", b"one", b"two", b"three")
    await worker.invalidation.drain("acme", at(acme=4))

    assert "renewed" in worker.events
    assert await tier(new_worker(), "four", acme=4) == "miss"


async def test_without_the_truth_nothing_is_dropped_and_nothing_served(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await fill(worker, "one")
    truth.commit("acme", b"two")
    truth.is_away = True

    await worker.invalidation.drain("acme", at(acme=4))
    assert await tier(new_worker(), "one", acme=4) == "miss"

    truth.is_away = False
    await worker.invalidation.drain("acme", at(acme=4))
    assert await tier(new_worker(), "one", acme=4) == "redis"


async def test_every_drain_is_timed_whatever_becomes_of_it(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await fill(worker, "one")

    truth.commit("acme", b"one")
    await worker.invalidation.drain("acme", at(acme=4))
    truth.commit("acme", b"one")
    truth.is_away = True
    await worker.invalidation.drain("acme", at(acme=5))

    assert len(worker.drains_s) == 2
    assert all(seconds > 0 for seconds in worker.drains_s)


async def test_an_entry_that_can_not_be_read_dies_of_any_change(
    new_worker: NewWorker, truth: FakeChangeLog, store: RedisStore, redis: Redis
) -> None:
    await fill(new_worker(), "one", "two")
    await redis.set(store.name("acme", "one"), b"of another version")

    truth.commit("acme", b"nothing")
    await new_worker().invalidation.drain("acme", at(acme=4))

    assert not await redis.exists(store.name("acme", "one"))
    assert await tier(new_worker(), "two", acme=4) == "redis"


async def test_an_entry_whose_registry_was_lost_is_dropped_with_all_others(
    new_worker: NewWorker, truth: FakeChangeLog, store: RedisStore, redis: Redis
) -> None:
    worker = new_worker()
    await fill(worker, "one")
    await redis.delete(store.name("acme", "entries"))

    truth.commit("acme", b"two")
    await worker.invalidation.drain("acme", at(acme=4))

    assert "renewed" in worker.events
    assert await tier(new_worker(), "one", acme=4) == "miss"


async def test_neither_a_search_nor_another_drain_waits_for_a_drain_that_hangs(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await fill(worker, "one")
    truth.commit("acme", b"two")
    truth.answers.clear()
    hanging = asyncio.create_task(worker.invalidation.drain("acme", at(acme=4)))

    async with asyncio.timeout(30):  # far more than the limits of both waits
        assert await tier(worker, "three", acme=4) == "miss"
        await worker.invalidation.drain("acme", at(acme=4))
    gave_up = "contended" in worker.events
    truth.answers.set()
    await hanging

    assert gave_up
    assert await tier(new_worker(), "one", acme=4) == "redis"  # the drain has ended all the same
