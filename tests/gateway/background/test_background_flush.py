"""Items that wait to be stored: merged, stored in the background, bounded, never lost silently."""

import asyncio
from collections.abc import Mapping

import pytest
from structlog.typing import EventDict

from gateway.background.background_flush import FlushBuffer
from index.errors import DatabaseUnavailable

pytestmark = pytest.mark.anyio

ITEMS_MAX = 8  # four of one tenant
HOUR_S = 3_600.0


class FakeStore:
    """Keeps batches; raises `error` while there is one; waits while `is_open` is cleared."""

    def __init__(self) -> None:
        self.batches: list[dict[str, int]] = []
        self.calls = 0
        self.error: Exception | None = None
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.is_called = asyncio.Event()

    async def __call__(self, items: Mapping[str, int]) -> None:
        self.calls += 1
        self.is_called.set()
        await self.is_open.wait()
        if self.error is not None:
            raise self.error
        self.batches.append(dict(items))


def buffer_of(
    store: FakeStore, *, every_s: float = HOUR_S, items_max: int = ITEMS_MAX, size_max: int = 0
) -> FlushBuffer[str, int]:
    return FlushBuffer(
        "things",
        store,
        lambda earlier, later: earlier + later,
        every_s=every_s,
        items_max=items_max,
        size_of=(lambda item: item) if size_max else (lambda _: 0),
        size_max=size_max,
    )


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


async def until_called(store: FakeStore) -> None:
    async with asyncio.timeout(60):
        await store.is_called.wait()
    store.is_called.clear()


async def test_items_of_a_key_are_merged_and_stored_once(store: FakeStore) -> None:
    buffer = buffer_of(store)
    for key, item in (("a", 1), ("b", 2), ("a", 3)):
        buffer.add("acme", key, item)

    await buffer.flush()
    await buffer.flush()

    assert store.batches == [{"a": 4, "b": 2}]
    assert store.calls == 1


async def test_items_are_stored_at_each_interval_and_at_the_end(store: FakeStore) -> None:
    buffer = buffer_of(store, every_s=0.001)
    async with buffer.background_flush():
        buffer.add("acme", "a", 1)
        await until_called(store)
        buffer.add("acme", "b", 2)
        await until_called(store)
        buffer.add("acme", "c", 3)

    assert store.batches == [{"a": 1}, {"b": 2}, {"c": 3}]


@pytest.mark.parametrize(("items_max", "size_max"), [(ITEMS_MAX, 0), (100, 10)])
async def test_a_buffer_that_fills_is_stored_before_its_time(
    store: FakeStore, items_max: int, size_max: int
) -> None:
    buffer = buffer_of(store, items_max=items_max, size_max=size_max)
    async with buffer.background_flush():
        for key in "abc":
            buffer.add("acme", key, 1)
        await until_called(store)

        assert store.batches == [{"a": 1, "b": 1, "c": 1}]


async def test_what_the_database_does_not_take_stays_and_is_merged_with_what_comes_later(
    store: FakeStore, logs: list[EventDict]
) -> None:
    buffer = buffer_of(store)
    store.error = DatabaseUnavailable("no answer")
    store.is_open.clear()
    buffer.add("acme", "a", 1)
    async with buffer.background_flush():
        flushing = asyncio.create_task(buffer.flush())
        await until_called(store)
        buffer.add("acme", "a", 2)
        buffer.add("acme", "b", 3)
        store.is_open.set()
        with pytest.raises(DatabaseUnavailable):
            await flushing
        store.error = None

    assert store.batches == [{"a": 3, "b": 3}]
    assert not logs


async def test_a_failed_flush_is_logged_and_followed_by_another(
    store: FakeStore, logs: list[EventDict]
) -> None:
    buffer = buffer_of(store, every_s=0.001)
    buffer.add("acme", "a", 1)
    async with buffer.background_flush():
        for error in (DatabaseUnavailable("no answer"), ValueError("a defect")):
            store.error = error
            store.is_called.clear()
            await until_called(store)
        store.error = None
        await until_called(store)

    assert store.batches == [{"a": 1}]
    states = {(line["event"], line["state"], line["log_level"]) for line in logs}
    assert states == {("things", "not_stored", "warning"), ("things", "not_stored", "error")}


async def test_keys_beyond_the_limit_are_dropped_and_counted_in_the_log(
    store: FakeStore, logs: list[EventDict]
) -> None:
    buffer = buffer_of(store)
    for number in range(ITEMS_MAX // 2 + 2):
        buffer.add("acme", f"{number}", 1)
    buffer.add("acme", "0", 1)  # its key is there already

    await buffer.flush()

    assert store.batches == [{"0": 2, "1": 1, "2": 1, "3": 1}]
    assert [(line["event"], line["state"], line["items"]) for line in logs] == [
        ("things", "dropped", 2)
    ]


async def test_items_beyond_the_limit_of_their_size_are_dropped(store: FakeStore) -> None:
    buffer = buffer_of(store, size_max=20)
    for key, size in (("a", 6), ("b", 5), ("c", 4)):
        buffer.add("acme", key, size)

    await buffer.flush()
    buffer.add("acme", "b", 5)
    await buffer.flush()

    assert store.batches == [{"a": 6, "c": 4}, {"b": 5}]


async def test_a_full_buffer_is_not_tried_again_before_its_time(store: FakeStore) -> None:
    buffer = buffer_of(store)
    store.error = DatabaseUnavailable("no answer")
    async with buffer.background_flush():
        for key in "abc":
            buffer.add("acme", key, 1)
        await until_called(store)
        for number in range(10):
            buffer.add("acme", f"{number}", 1)
            await asyncio.sleep(0)

        assert store.calls == 1
        store.error = None

    assert sorted(store.batches[0]) == ["0", "a", "b", "c"]


async def test_what_cannot_be_stored_at_the_end_is_an_error_in_the_log(
    store: FakeStore, logs: list[EventDict]
) -> None:
    buffer = buffer_of(store)
    store.error = DatabaseUnavailable("no answer")
    async with buffer.background_flush():
        buffer.add("acme", "a", 1)

    assert (logs[-1]["state"], logs[-1]["items"], logs[-1]["log_level"]) == ("lost", 1, "error")


async def test_the_end_waits_for_a_flush_that_is_under_way(store: FakeStore) -> None:
    buffer = buffer_of(store, every_s=0.001)
    store.is_open.clear()
    buffer.add("acme", "a", 1)

    async def run() -> None:
        async with buffer.background_flush():
            await until_called(store)

    running = asyncio.create_task(run())
    await asyncio.sleep(0.02)
    assert not running.done()
    store.is_open.set()
    await running

    assert store.batches == [{"a": 1}]


async def test_a_cancelled_flush_leaves_its_items(store: FakeStore) -> None:
    buffer = buffer_of(store)
    buffer.add("acme", "a", 1)
    store.is_open.clear()
    flushing = asyncio.create_task(buffer.flush())
    await until_called(store)
    flushing.cancel()
    await asyncio.wait((flushing,))
    store.is_open.set()

    await buffer.flush()

    assert store.batches == [{"a": 1}]


@pytest.mark.parametrize(("items_max", "size_max"), [(ITEMS_MAX, 0), (100, 8)])
async def test_a_tenant_with_very_many_items_leaves_room_for_those_of_others(
    store: FakeStore, items_max: int, size_max: int
) -> None:
    buffer = buffer_of(store, items_max=items_max, size_max=size_max)
    for number in range(100):
        buffer.add("acme", f"{number}", 1)
    buffer.add("beta", "other", 1)

    store.error = DatabaseUnavailable("no answer")
    with pytest.raises(DatabaseUnavailable):
        await buffer.flush()
    store.error = None
    buffer.add("gamma", "third", 1)
    await buffer.flush()

    assert sorted(store.batches[0]) == ["0", "1", "2", "3", "other", "third"]
