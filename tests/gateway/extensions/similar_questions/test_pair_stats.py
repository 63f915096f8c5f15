"""The counts that an admin reads: those of this process are among them, and none is lost."""

import asyncio

import pytest

from gateway.extensions.similar_questions.error_limit import PairCounts
from gateway.extensions.similar_questions.pair_stats import PairStats, TenantStats
from index.errors import DatabaseUnavailable
from tests.gateway.extensions.similar_questions.comparing_worker import FakePairStore

pytestmark = pytest.mark.anyio


class SlowPairStore(FakePairStore):
    """Stores counts only once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.may_store = asyncio.Event(), asyncio.Event()

    async def add(self, tenant: str, counts: PairCounts) -> None:
        self.is_asked.set()
        await self.may_store.wait()
        await super().add(tenant, counts)


def reading(stats: PairStats) -> asyncio.Task[TenantStats]:
    return asyncio.create_task(stats.read("acme"))


async def test_what_is_counted_is_read_also_while_it_is_being_written() -> None:
    store = SlowPairStore()
    stats = PairStats(store, lambda: 0.0)
    stats.add("acme", PairCounts(seen=1))
    stats.get("acme")  # begins to write it
    await store.is_asked.wait()
    stats.add("acme", PairCounts(seen=2))

    read = reading(stats)
    await asyncio.sleep(0)  # it has begun
    store.may_store.set()

    assert (await read).counts == store.counts == PairCounts(seen=3)


async def test_whoever_stops_reading_loses_no_count() -> None:
    store = SlowPairStore()
    stats = PairStats(store, lambda: 0.0)
    stats.add("acme", PairCounts(seen=1))
    gone = reading(stats)
    await store.is_asked.wait()

    gone.cancel()
    await asyncio.wait([gone])
    store.may_store.set()

    assert (await stats.read("acme")).counts == PairCounts(seen=1)


async def test_a_reader_is_told_that_the_counts_can_not_be_read_and_they_are_kept() -> None:
    store = FakePairStore()
    stats = PairStats(store, lambda: 0.0)
    stats.add("acme", PairCounts(seen=1))
    store.is_away = True
    with pytest.raises(DatabaseUnavailable):
        await stats.read("acme")

    store.is_away = False

    assert (await stats.read("acme")).counts == PairCounts(seen=1)
