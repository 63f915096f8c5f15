"""What Redis lists of a tenant, page by page, and who goes when it is full."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from cache.protocol import Mark
from cache.redis.codec import Head
from cache.redis.store import Filled, Store
from cache.registry_replica import Mirror
from tests.cache.histories import HISTORY, at
from tests.cache.index import Index
from tests.cache.worker import Changed, Truth, Watch, Worker

pytestmark = pytest.mark.anyio


async def fill(store: Store, *keys: str) -> None:
    worker = Worker(store, Truth(acme=3))
    for key in keys:
        await worker.ask(key, Index(b"body", key.encode(), acme=3), acme=3)


async def listed(store: Store) -> dict[str, bytes]:
    """By key, the records of all that is registered."""
    sight = await store.look("acme", HISTORY, "")
    assert sight.state is not None
    page = await store.scan(sight, sight.state.nonce, after=0)
    assert page is not None
    assert page.is_last
    assert page.count == len(page.listed)
    return {one.key: one.head.record if one.head else b"gone" for one in page.listed}


async def refreshed(mirror: Mirror[Changed], store: Store) -> None:
    sight = await store.look("acme", HISTORY, "")
    assert sight.state is not None
    assert await mirror.refresh(sight, sight.state.nonce)


def names(count: int) -> list[str]:
    return [f"key{number}" for number in range(count)]


async def test_a_registry_lists_each_entry_with_its_record(store: Store) -> None:
    await fill(store, "one", "two")

    assert await listed(store) == {"one": b"one", "two": b"two"}


async def test_a_mirror_reads_page_after_page(new_store: Callable[..., Store]) -> None:
    store = new_store(page_entries=4)
    mirror: Mirror[Changed] = Mirror(store, Watch)
    for count in (1, 2, 3, 4, 5, 6, 7, 8, 20):
        await fill(store, *names(count))
        sight = await store.look("acme", HISTORY, "")
        assert sight.state is not None

        assert await mirror.refresh(sight, sight.state.nonce)

        assert len(mirror) == count
        assert mirror.doomed([Changed(HISTORY, "acme", 4, None)]).keys() == set(names(count))
        assert mirror.doomed([Changed(HISTORY, "acme", 3, None)]) == {}  # computed as of it


async def test_what_is_registered_again_while_it_is_doomed_is_another_entry(store: Store) -> None:
    mirror: Mirror[Changed] = Mirror(store, Watch)
    truth = Truth(acme=3)
    worker = Worker(store, truth)
    await worker.ask("key", Index(b"old", acme=3), acme=3)
    await refreshed(mirror, store)
    doomed = mirror.doomed([Changed(HISTORY, "acme", 4, None)])
    truth.commit("acme")
    await worker.invalidation.drain("acme", at(acme=4))
    await worker.ask("key", Index(b"new", acme=4), acme=4)
    await refreshed(mirror, store)

    mirror.discard(doomed)
    assert mirror.doomed([Changed(HISTORY, "acme", 5, None)]).keys() == {"key"}
    await asyncio.sleep(0)

    assert mirror.doomed([Changed(HISTORY, "acme", 5, None)]).keys() == {"key"}


async def test_what_a_worker_has_stored_itself_is_not_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scan(*_: object, **__: object) -> None:
        raise AssertionError("the registry was read")

    monkeypatch.setattr(store, "scan", scan)
    truth = Truth(acme=3)
    worker = Worker(store, truth)
    for key in names(3):
        await worker.ask(key, Index(b"body", acme=3), acme=3)
    truth.commit("acme")

    await worker.invalidation.drain("acme", at(acme=4))

    assert worker.events.count("dropped") == 3
    monkeypatch.undo()
    assert await listed(store) == {}


async def test_what_another_worker_has_stored_between_is_read(store: Store) -> None:
    truth = Truth(acme=3)
    here, there = Worker(store, truth), Worker(store, truth)
    for place, key in enumerate(names(5)):
        worker = there if place in (1, 3) else here
        await worker.ask(key, Index(b"body", acme=3), acme=3)
    truth.commit("acme")

    await here.invalidation.drain("acme", at(acme=4))

    assert here.events.count("dropped") == 5
    assert await listed(store) == {}


async def test_what_is_stored_while_the_registry_is_read_is_known_by_the_next_change(
    store: Store,
) -> None:
    truth = Truth(acme=3)
    await fill(store, *names(90))
    worker = Worker(store, truth)
    mirror = worker.mirrors.of("acme")
    reading = asyncio.create_task(refreshed(mirror, store))
    while not len(mirror):
        await asyncio.sleep(0)
    await worker.ask("another", Index(b"body", acme=3), acme=3)
    await reading
    truth.commit("acme")

    await worker.invalidation.drain("acme", at(acme=4))

    assert worker.events.count("dropped") == 91
    assert await listed(store) == {}


async def test_nothing_that_is_stored_begins_a_mirror_anew_that_is_being_read(store: Store) -> None:
    await fill(store, *names(90))
    sight = await store.look("acme", HISTORY, "")
    mirror: Mirror[Changed] = Mirror(store, Watch)
    reading = asyncio.create_task(refreshed(mirror, store))
    while not len(mirror):
        await asyncio.sleep(0)
    head = Head(Mark("0123456789abcdef", at(acme=3)), b"", b"")

    mirror.stored("another", head, Filled(True, sight, number=1, count=1))

    await reading
    assert mirror.doomed([Changed(HISTORY, "acme", 4, None)]).keys() == set(names(90))


async def test_a_worker_forgets_what_makes_room_for_what_it_stores(
    new_store: Callable[..., Store],
) -> None:
    store = new_store(entries_max=5)
    worker = Worker(store, Truth(acme=3))
    for key in names(30):
        await worker.ask(key, Index(b"body", key.encode(), acme=3), acme=3)

    doomed = worker.mirrors.of("acme").doomed([Changed(HISTORY, "acme", 4, None)])

    assert doomed.keys() == (await listed(store)).keys()


async def test_what_made_room_and_was_stored_anew_is_another_entry(store: Store) -> None:
    await fill(store, *names(3))
    mirror: Mirror[Changed] = Mirror(store, Watch)
    await refreshed(mirror, store)
    sight = await store.look("acme", HISTORY, "")
    assert sight.state is not None
    head = Head(Mark(sight.state.nonce, at(acme=3)), b"", b"")

    # Before key2 was the third, the one that was there under its name had to go.
    mirror.stored("key1", head, Filled(True, sight, number=2, count=3, gone=["key2"]))

    assert mirror.doomed([Changed(HISTORY, "acme", 4, None)]).keys() == set(names(3))


async def test_what_was_stored_anew_before_one_hears_that_it_was_stored_is_not_forgotten(
    store: Store,
) -> None:
    truth = Truth(acme=3)
    worker = Worker(store, truth)
    await worker.ask("key", Index(b"old", b"old", acme=3), acme=3)
    sight = await store.look("acme", HISTORY, "")
    assert sight.state is not None
    head = Head(Mark(sight.state.nonce, at(acme=3)), b"old", b"")
    truth.commit("acme")
    await worker.ask("key", Index(b"new", b"new", acme=4), acme=4)
    mirror: Mirror[Changed] = Mirror(store, Watch)
    await refreshed(mirror, store)

    mirror.stored("key", head, Filled(True, sight, number=1, count=1))

    assert mirror.doomed([Changed(HISTORY, "acme", 5, frozenset({b"new"}))]).keys() == {"key"}


async def test_a_mirror_that_nobody_has_needed_learns_nothing(store: Store) -> None:
    await fill(store, "one")
    worker = Worker(store, Truth(acme=3))

    await worker.ask("two", Index(b"body", acme=3), acme=3)

    assert len(worker.mirrors.of("acme")) == 0


async def test_a_mirror_with_more_that_has_gone_than_is_there_starts_anew(store: Store) -> None:
    await fill(store, *names(103))
    mirror: Mirror[Changed] = Mirror(store, Watch)
    await refreshed(mirror, store)
    sight = await store.look("acme", HISTORY, "")
    assert sight.state is not None
    head = Head(Mark(sight.state.nonce, at(acme=3)), b"", b"")

    mirror.stored("another", head, Filled(True, sight, number=104, count=2))
    assert len(mirror) == 104
    mirror.stored("one more", head, Filled(True, sight, number=105, count=2))

    assert len(mirror) == 0
    await refreshed(mirror, store)
    assert len(mirror) == 103


async def test_a_mirror_learns_a_page_in_turns(store: Store) -> None:
    """However many entries it has, nobody waits for more than some of them."""
    turn = 0
    turns: list[int] = []

    class Watching(Watch):
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
    await refreshed(Mirror(store, Watching), store)
    counting[0].cancel()

    assert len(turns) == 90
    assert max(Counter(turns).values()) <= 20


async def test_a_mirror_forgets_what_was_dropped_in_turns(store: Store) -> None:
    """However many went, nobody waits for more than some of them; none is dropped once more."""
    await fill(store, *names(90))
    mirror: Mirror[Changed] = Mirror(store, Watch)
    await refreshed(mirror, store)
    left = []

    mirror.discard(mirror.doomed([Changed(HISTORY, "acme", 4, None)]))
    while len(mirror):
        left.append(len(mirror))
        assert mirror.doomed([Changed(HISTORY, "acme", 5, None)]) == {}
        await asyncio.sleep(0)

    assert left == [90, 70, 50, 30, 10]


async def test_a_mirror_forgets_what_has_gone_for_long(
    new_store: Callable[..., Store],
) -> None:
    store = new_store(entries_max=10)
    mirror: Mirror[Changed] = Mirror(store, Watch)
    for start in range(0, 400, 50):
        await fill(store, *(f"key{number}" for number in range(start, start + 50)))
        sight = await store.look("acme", HISTORY, "")
        assert sight.state is not None
        assert await mirror.refresh(sight, sight.state.nonce)

    assert len(mirror) <= 2 * 10 + 100


async def test_a_full_registry_makes_room_for_what_comes(new_store: Callable[..., Store]) -> None:
    store = new_store(entries_max=5)

    await fill(store, *names(30))

    left = await listed(store)
    assert len(left) == 5
    assert "key29" in left


async def test_the_one_that_was_not_used_for_longest_goes(
    new_store: Callable[..., Store], redis: Redis
) -> None:
    store = new_store(entries_max=5)
    await fill(store, *names(5))
    name = store.name("acme", "key2")
    value = await redis.dump(name)
    assert value is not None
    await redis.restore(name, 60_000, value, replace=True, idletime=1_000)

    await fill(store, "another")

    assert set(await listed(store)) == {*names(5), "another"} - {"key2"}


async def test_what_has_gone_leaves_the_registry(store: Store, redis: Redis) -> None:
    await fill(store, *names(6))
    for key in names(5):
        await redis.delete(store.name("acme", key))

    await fill(store, "another", "and another")

    assert set(await listed(store)) == {"key5", "another", "and another"}


async def test_a_registry_far_beyond_its_bound_is_not_read(
    new_store: Callable[..., Store],
) -> None:
    await fill(new_store(), *names(30))
    small = new_store(entries_max=10)
    sight = await small.look("acme", HISTORY, "")
    assert sight.state is not None

    assert not await Mirror[Changed](small, Watch).refresh(sight, sight.state.nonce)
