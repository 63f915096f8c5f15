"""What Redis lists of a tenant, page by page, and who goes when it is full."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from cache.invalidation.registry_replica import RegistryReplica
from cache.protocol import EntryVersion
from cache.redis.codec import EntryHeader
from cache.redis.store import FillResult, RedisStore
from tests.cache.support.histories import HISTORY, at
from tests.cache.support.search_stub import Index
from tests.cache.support.worker import CacheWorker, Changed, FakeChangeLog, FakeDependencyIndex

pytestmark = [pytest.mark.anyio, pytest.mark.redis]


async def fill(store: RedisStore, *keys: str) -> None:
    worker = CacheWorker(store, FakeChangeLog(acme=3))
    for key in keys:
        await worker.ask(key, Index(b"body", key.encode(), acme=3), acme=3)


async def listed(store: RedisStore) -> dict[str, bytes]:
    """By key, the records of all that is registered."""
    sight = await store.lookup("acme", HISTORY, "")
    assert sight.state is not None
    page = await store.scan(sight, sight.state.nonce, after=0)
    assert page is not None
    assert page.is_last
    assert page.count == len(page.records)
    return {one.key: one.header.dependencies if one.header else b"gone" for one in page.records}


async def refreshed(mirror: RegistryReplica[Changed], store: RedisStore) -> None:
    sight = await store.lookup("acme", HISTORY, "")
    assert sight.state is not None
    assert await mirror.refresh(sight, sight.state.nonce)


def names(count: int) -> list[str]:
    return [f"key{number}" for number in range(count)]


async def test_a_registry_lists_each_entry_with_its_record(store: RedisStore) -> None:
    await fill(store, "one", "two")

    assert await listed(store) == {"one": b"one", "two": b"two"}


async def test_a_mirror_reads_page_after_page(new_store: Callable[..., RedisStore]) -> None:
    store = new_store(page_entries=4)
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    for count in (1, 2, 3, 4, 5, 6, 7, 8, 20):
        await fill(store, *names(count))
        sight = await store.lookup("acme", HISTORY, "")
        assert sight.state is not None

        assert await mirror.refresh(sight, sight.state.nonce)

        assert len(mirror) == count
        assert mirror.invalidated([Changed(HISTORY, "acme", 4, None)]).keys() == set(names(count))
        assert mirror.invalidated([Changed(HISTORY, "acme", 3, None)]) == {}  # computed as of it


async def test_what_is_registered_again_while_it_is_doomed_is_another_entry(
    store: RedisStore,
) -> None:
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    truth = FakeChangeLog(acme=3)
    worker = CacheWorker(store, truth)
    await worker.ask("key", Index(b"old", acme=3), acme=3)
    await refreshed(mirror, store)
    doomed = mirror.invalidated([Changed(HISTORY, "acme", 4, None)])
    truth.commit("acme")
    await worker.invalidation.drain("acme", at(acme=4))
    await worker.ask("key", Index(b"new", acme=4), acme=4)
    await refreshed(mirror, store)

    mirror.discard(doomed)
    assert mirror.invalidated([Changed(HISTORY, "acme", 5, None)]).keys() == {"key"}
    await asyncio.sleep(0)

    assert mirror.invalidated([Changed(HISTORY, "acme", 5, None)]).keys() == {"key"}


async def test_what_a_worker_has_stored_itself_is_not_read(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scan(*_: object, **__: object) -> None:
        raise AssertionError("the registry was read")

    monkeypatch.setattr(store, "scan", scan)
    truth = FakeChangeLog(acme=3)
    worker = CacheWorker(store, truth)
    for key in names(3):
        await worker.ask(key, Index(b"body", acme=3), acme=3)
    truth.commit("acme")

    await worker.invalidation.drain("acme", at(acme=4))

    assert worker.events.count("dropped") == 3
    monkeypatch.undo()
    assert await listed(store) == {}


async def test_what_another_worker_has_stored_between_is_read(store: RedisStore) -> None:
    truth = FakeChangeLog(acme=3)
    here, there = CacheWorker(store, truth), CacheWorker(store, truth)
    for place, key in enumerate(names(5)):
        worker = there if place in (1, 3) else here
        await worker.ask(key, Index(b"body", acme=3), acme=3)
    truth.commit("acme")

    await here.invalidation.drain("acme", at(acme=4))

    assert here.events.count("dropped") == 5
    assert await listed(store) == {}


async def test_what_is_stored_while_the_registry_is_read_is_known_by_the_next_change(
    store: RedisStore,
) -> None:
    truth = FakeChangeLog(acme=3)
    await fill(store, *names(90))
    worker = CacheWorker(store, truth)
    mirror = worker.mirrors.get("acme")
    reading = asyncio.create_task(refreshed(mirror, store))
    while not len(mirror):
        await asyncio.sleep(0)
    await worker.ask("another", Index(b"body", acme=3), acme=3)
    await reading
    truth.commit("acme")

    await worker.invalidation.drain("acme", at(acme=4))

    assert worker.events.count("dropped") == 91
    assert await listed(store) == {}


async def test_nothing_that_is_stored_begins_a_mirror_anew_that_is_being_read(
    store: RedisStore,
) -> None:
    await fill(store, *names(90))
    sight = await store.lookup("acme", HISTORY, "")
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    reading = asyncio.create_task(refreshed(mirror, store))
    while not len(mirror):
        await asyncio.sleep(0)
    head = EntryHeader(EntryVersion("0123456789abcdef", at(acme=3)), b"", b"")

    mirror.add_stored("another", head, FillResult(True, sight, sequence=1, count=1))

    await reading
    assert mirror.invalidated([Changed(HISTORY, "acme", 4, None)]).keys() == set(names(90))


async def test_a_worker_forgets_what_makes_room_for_what_it_stores(
    new_store: Callable[..., RedisStore],
) -> None:
    store = new_store(entries_max=5)
    worker = CacheWorker(store, FakeChangeLog(acme=3))
    for key in names(30):
        await worker.ask(key, Index(b"body", key.encode(), acme=3), acme=3)

    doomed = worker.mirrors.get("acme").invalidated([Changed(HISTORY, "acme", 4, None)])

    assert doomed.keys() == (await listed(store)).keys()


async def test_what_made_room_and_was_stored_anew_is_another_entry(store: RedisStore) -> None:
    await fill(store, *names(3))
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    await refreshed(mirror, store)
    sight = await store.lookup("acme", HISTORY, "")
    assert sight.state is not None
    head = EntryHeader(EntryVersion(sight.state.nonce, at(acme=3)), b"", b"")

    # Before key2 was the third, the one that was there under its name had to go.
    mirror.add_stored("key1", head, FillResult(True, sight, sequence=2, count=3, removed=["key2"]))

    assert mirror.invalidated([Changed(HISTORY, "acme", 4, None)]).keys() == set(names(3))


async def test_what_was_stored_anew_before_one_hears_that_it_was_stored_is_not_forgotten(
    store: RedisStore,
) -> None:
    truth = FakeChangeLog(acme=3)
    worker = CacheWorker(store, truth)
    await worker.ask("key", Index(b"old", b"old", acme=3), acme=3)
    sight = await store.lookup("acme", HISTORY, "")
    assert sight.state is not None
    head = EntryHeader(EntryVersion(sight.state.nonce, at(acme=3)), b"old", b"")
    truth.commit("acme")
    await worker.ask("key", Index(b"new", b"new", acme=4), acme=4)
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    await refreshed(mirror, store)

    mirror.add_stored("key", head, FillResult(True, sight, sequence=1, count=1))

    assert mirror.invalidated([Changed(HISTORY, "acme", 5, frozenset({b"new"}))]).keys() == {"key"}


async def test_a_mirror_that_nobody_has_needed_learns_nothing(store: RedisStore) -> None:
    await fill(store, "one")
    worker = CacheWorker(store, FakeChangeLog(acme=3))

    await worker.ask("two", Index(b"body", acme=3), acme=3)

    assert len(worker.mirrors.get("acme")) == 0


async def test_a_mirror_with_more_that_has_gone_than_is_there_starts_anew(
    store: RedisStore,
) -> None:
    await fill(store, *names(103))
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    await refreshed(mirror, store)
    sight = await store.lookup("acme", HISTORY, "")
    assert sight.state is not None
    head = EntryHeader(EntryVersion(sight.state.nonce, at(acme=3)), b"", b"")

    mirror.add_stored("another", head, FillResult(True, sight, sequence=104, count=2))
    assert len(mirror) == 104
    mirror.add_stored("one more", head, FillResult(True, sight, sequence=105, count=2))

    assert len(mirror) == 0
    await refreshed(mirror, store)
    assert len(mirror) == 103


async def test_a_mirror_learns_a_page_in_turns(store: RedisStore) -> None:
    """However many entries it has, nobody waits for more than some of them."""
    turn = 0
    turns: list[int] = []

    class Watching(FakeDependencyIndex):
        def add(self, key: str, record: bytes) -> None:
            turns.append(turn)
            super().add(key, record)

    def count_turns() -> None:
        nonlocal turn
        turn += 1
        counting[0] = loop.call_soon(count_turns)

    await fill(store, *names(90))
    loop = asyncio.get_running_loop()
    counting = [loop.call_soon(count_turns)]
    await refreshed(RegistryReplica(store, Watching), store)
    counting[0].cancel()

    assert len(turns) == 90
    assert max(Counter(turns).values()) <= 20


async def test_a_mirror_forgets_what_was_dropped_in_turns(store: RedisStore) -> None:
    """However many went, nobody waits for more than some of them; none is dropped once more."""
    await fill(store, *names(90))
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    await refreshed(mirror, store)
    left = []

    mirror.discard(mirror.invalidated([Changed(HISTORY, "acme", 4, None)]))
    while len(mirror):
        left.append(len(mirror))
        assert mirror.invalidated([Changed(HISTORY, "acme", 5, None)]) == {}
        await asyncio.sleep(0)

    assert left == [90, 70, 50, 30, 10]


async def test_a_mirror_forgets_what_has_gone_for_long(
    new_store: Callable[..., RedisStore],
) -> None:
    store = new_store(entries_max=10)
    mirror: RegistryReplica[Changed] = RegistryReplica(store, FakeDependencyIndex)
    for start in range(0, 400, 50):
        await fill(store, *(f"key{number}" for number in range(start, start + 50)))
        sight = await store.lookup("acme", HISTORY, "")
        assert sight.state is not None
        assert await mirror.refresh(sight, sight.state.nonce)

    assert len(mirror) <= 2 * 10 + 100


async def test_a_full_registry_makes_room_for_what_comes(
    new_store: Callable[..., RedisStore],
) -> None:
    store = new_store(entries_max=5)

    await fill(store, *names(30))

    left = await listed(store)
    assert len(left) == 5
    assert "key29" in left


async def test_the_one_that_was_not_used_for_longest_goes(
    new_store: Callable[..., RedisStore], redis: Redis
) -> None:
    store = new_store(entries_max=5)
    await fill(store, *names(5))
    name = store.name("acme", "key2")
    value = await redis.dump(name)
    assert value is not None
    await redis.restore(name, 60_000, value, replace=True, idletime=1_000)

    await fill(store, "another")

    assert set(await listed(store)) == {*names(5), "another"} - {"key2"}


async def test_what_has_gone_leaves_the_registry(store: RedisStore, redis: Redis) -> None:
    await fill(store, *names(6))
    for key in names(5):
        await redis.delete(store.name("acme", key))

    await fill(store, "another", "and another")

    assert set(await listed(store)) == {"key5", "another", "and another"}


async def test_a_registry_far_beyond_its_bound_is_not_read(
    new_store: Callable[..., RedisStore],
) -> None:
    await fill(new_store(), *names(30))
    small = new_store(entries_max=10)
    sight = await small.lookup("acme", HISTORY, "")
    assert sight.state is not None

    assert not await RegistryReplica[Changed](small, FakeDependencyIndex).refresh(
        sight, sight.state.nonce
    )
