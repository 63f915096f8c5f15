"""Shards are compared with the tables in the background; one that differs is dropped."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from gateway.extensions.audits import shard_auditor
from gateway.extensions.audits.shard_auditor import ShardAuditor
from gateway.extensions.audits.shard_comparison import ShardDifferences
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable
from index.resident.building import loading
from index.resident.shard import Shard
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, running
from tests.index.support.tiny_shards import empty_shard

pytestmark = pytest.mark.anyio

EQUAL = ShardDifferences(0, 0, 0)
LACKING = ShardDifferences(1, 0, 0)


class Worker:
    """Shards, answers, and a clock that moves as the auditor rests and compares.

    differences: what each comparison finds, by partition. seconds: that each takes.
    """

    def __init__(self, *partitions: str, seconds: float = 0.01) -> None:
        self.shards = {name: shard_of(name) for name in partitions}
        self.differences: dict[str, ShardDifferences | Exception | None] = {}
        self.seconds = seconds
        self.now_s = 0.0
        self.compared: list[tuple[float, str]] = []
        self.events: Counter[str] = Counter()
        self.local_drops = 0
        self.invalidated: list[str] = []
        self.is_away = 0
        self.ends_s = 0.0
        self.over = asyncio.Event()

    def versions(self) -> Mapping[str, Shard]:
        return dict(self.shards)

    def refuse(self, partitions: Sequence[str]) -> None:
        for partition in partitions:
            del self.shards[partition]

    def drop_local(self) -> None:
        self.local_drops += 1

    async def invalidate(self, partition: str) -> None:
        if self.is_away:
            self.is_away -= 1
            raise DatabaseUnavailable("away")
        self.invalidated.append(partition)

    async def compare(self, shard: Shard) -> ShardDifferences | None:
        self.compared.append((round(self.now_s, 2), shard.partition))
        self.now_s += self.seconds
        found = self.differences.get(shard.partition, EQUAL)
        if isinstance(found, Exception):
            raise found
        return found

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        if self.now_s >= self.ends_s:
            self.over.set()
            await asyncio.Event().wait()

    async def work(self, until_s: float, *, every_s: float = 600) -> list[tuple[float, str]]:
        """The time and the partition of each comparison."""
        self.ends_s = until_s
        auditor = ShardAuditor(
            self.compare,
            self,
            self,
            self.invalidate,
            lambda event, amount=1: self.events.update({event: amount}),
            every_s=every_s,
            clock_s=lambda: self.now_s,
            sleep=self.sleep,
        )
        async with auditor.running(), asyncio.timeout(60):
            await self.over.wait()
        return self.compared


def shard_of(partition: str) -> Shard:
    return empty_shard(loading.new_labels(), partition, "history", 1)


async def test_each_shard_is_compared_in_turn() -> None:
    worker = Worker("acme", "beta", "public")

    compared = await worker.work(1_300)

    assert [name for _, name in compared] == ["acme", "beta", "public"] * 3
    assert [at_s // 600 for at_s, _ in compared] == [0] * 3 + [1] * 3 + [2] * 3
    assert worker.events == {"shard_audit_equal": 9}


async def test_comparing_takes_a_hundredth_of_the_time() -> None:
    worker = Worker("acme", "beta", seconds=7)

    compared = await worker.work(7_000, every_s=1)

    assert [at_s for at_s, _ in compared] == [700 * number for number in range(10)]


@pytest.mark.parametrize("away", [0, 2])
async def test_a_shard_that_differs_is_dropped_and_all_answers_of_its_partition_end(
    away: int,
) -> None:
    worker = Worker("acme", "beta")
    worker.differences["acme"] = LACKING
    worker.is_away = away

    await worker.work(100)

    assert [*worker.shards] == ["beta"]
    assert worker.local_drops == 1
    assert worker.invalidated == ["acme"]
    assert worker.events == {"shard_audit_other": 1, "shard_audit_equal": 1}


@pytest.mark.parametrize("failure", [DatabaseUnavailable("away"), ValueError("a fault")])
async def test_the_next_shard_is_compared_after_a_failure(failure: Exception) -> None:
    worker = Worker("acme", "beta", "public")
    worker.differences |= {"acme": failure, "beta": None}

    assert [name for _, name in await worker.work(100)] == ["acme", "beta", "public"]

    assert worker.local_drops == 0
    assert worker.invalidated == []
    assert worker.events == {"shard_audit_moved": 1, "shard_audit_equal": 1}


async def test_no_shard_is_compared_if_the_interval_is_zero() -> None:
    worker = Worker("acme")
    auditor = ShardAuditor(
        worker.compare, worker, worker, worker.invalidate, print, every_s=0, sleep=worker.sleep
    )
    async with auditor.running():
        await asyncio.sleep(0)

    assert worker.compared == []


@pytest.mark.isolated
@pytest.mark.slow
async def test_what_a_shard_has_missed_is_found_by_the_next_search(
    settings: Settings, ana: Caller, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_auditor, "_REST", 0)
    monkeypatch.setattr("gateway.extensions.audits.extension.SHARD_AUDIT_S", 0.01)
    await ana.put("leave", "Everybody gets 25 days of annual leave a year.")
    changes = {"shard_bytes_max": 1 << 26, "cache_audit_per_mille": 0}
    async with running(settings.model_copy(update=changes), embedder) as auditing:
        asking, numbers = auditing.as_(ana), itertools.count()

        async def until(metric: str, event: str, number: int) -> None:
            async with asyncio.timeout(60):
                while await auditing.counted(metric, event=event) < number:
                    assert "leave" in await asking.found(f"annual leave {next(numbers)}")
                    await asyncio.sleep(0.01)

        await until("nearhit_shard_events_total", "loaded", 1)
        await until("nearhit_cache_events_total", "shard_audit_equal", 1)
        monkeypatch.setattr(Shard, "with_segment", lambda shard, _segment: shard)
        await ana.put("travel", "Trains first on days of travel.")
        assert "travel" not in await asking.found("trains and travel")

        await until("nearhit_cache_events_total", "shard_audit_other", 1)
        assert "travel" in await asking.found("trains and travel")
