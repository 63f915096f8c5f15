"""Whatever is interleaved with whatever, a shard holds the chunks of its revision.

Commits, searches, loading, following, compaction, eviction and a restored database happen in random
order; each step of the work in the background waits until it is drawn. PostgreSQL is a dictionary
here, because the order of its answers is what is drawn.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from index.errors import DatabaseUnavailable
from index.model.query import Filter
from index.model.scope import Scope, resolve
from index.resident import followed_shard, matching_documents, resident_partition, resident_shards
from index.resident.building import loading, shard_folder
from index.resident.building.loading import ShardChanges
from index.resident.building.shard_folder import ShardFolder
from index.resident.exact_scores import SumOrder
from index.resident.matching_documents import MatchingDocuments
from index.resident.resident_shards import ResidentShards
from index.resident.segment import ShardSegment
from index.resident.shard import ChunkLabels, Shard
from tests.index.support.tiny_shards import STATS, SUMS, empty_shard, tiny_segment, values_of
from tests.threads import new_threads

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ANA = resolve("acme", "ana", [], ["tenant"])
FILTER = Filter(metadata={"value": "even"})
STEPS = 150
CHUNKS = 12


@dataclass(slots=True)
class Commit:
    written: frozenset[int]
    removed: frozenset[int]


@dataclass(slots=True)
class Model:
    """The database, and the steps in the background that wait to be drawn."""

    random: Random
    history: str = "first"
    chunks: dict[int, int] = field(default_factory=dict)  # the value of each chunk
    commits: list[Commit] = field(default_factory=list)
    contents: list[dict[int, int]] = field(default_factory=lambda: [{}])  # by revision
    waiting: list[asyncio.Event] = field(default_factory=list)

    @property
    def revision(self) -> int:
        return len(self.commits)

    def commit(self) -> None:
        ids = range(1, CHUNKS + 1)
        written = frozenset(self.random.sample(ids, self.random.randint(0, 3)))
        removed = frozenset(self.random.sample(ids, self.random.randint(0, 2))) - written
        self.chunks = {name: value for name, value in self.chunks.items() if name not in removed}
        self.commits.append(Commit(written, removed))
        self.chunks |= dict.fromkeys(written, self.revision)
        self.contents.append(dict(self.chunks))

    def restore(self) -> None:
        """To an earlier revision, as a new history."""
        revision = self.random.randint(0, self.revision)
        self.history += "+"
        del self.commits[revision:], self.contents[revision + 1 :]
        self.chunks = dict(self.contents[revision])

    async def wait(self) -> None:
        event = asyncio.Event()
        self.waiting.append(event)
        await event.wait()

    def segment(self, labels: ChunkLabels, names: Iterable[int]) -> ShardSegment:
        return tiny_segment(labels, {name: self.chunks[name] for name in names})

    async def load(self, _database: object, partition: str, **_limits: object) -> Shard | None:
        await self.wait()
        if self.random.random() < 0.1:
            raise DatabaseUnavailable("drawn")
        labels = loading.new_labels()
        empty = empty_shard(labels, partition, self.history, self.revision)
        if self.chunks:
            segment = self.segment(labels, self.chunks)
            empty = empty.with_segment(segment).at_revision(self.revision, "space", STATS, None)
        await self.wait()
        return empty

    async def read_sums(self, _database: object) -> SumOrder:
        await self.wait()
        return SUMS

    async def read_changes(self, _database: object, shard: Shard) -> ShardChanges | None:
        await self.wait()
        if self.random.random() < 0.1 or shard.revision > self.revision:
            return None
        since = self.commits[shard.revision :]
        named = {name for commit in since for name in commit.written | commit.removed}
        changed = sorted(named & self.chunks.keys())
        changes = ShardChanges(
            history=self.history,
            revision=self.revision,
            space="space" if changed else None,
            stats=STATS,
            outdated=np.array(sorted(named - self.chunks.keys()), np.int64),
            segment=self.segment(shard.labels, changed) if changed else None,
            words=None,
        )
        await self.wait()
        return changes

    async def read_matching(
        self, _database: object, scope: Scope, _conditions: Filter
    ) -> MatchingDocuments:
        """The filter admits chunks of even values."""
        await self.wait()
        even = [name for name, value in self.chunks.items() if value % 2 == 0]
        matching = MatchingDocuments(
            self.history, {scope.tenant: self.revision}, {scope.tenant: np.array(even, np.int64)}
        )
        await self.wait()
        return matching

    async def in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        await self.wait()
        done = work(*arguments)
        await self.wait()
        return done


_OWNERS = {"Interleaving", "Model", "ResidentPartition", "ResidentShards", "ShardSource"}


@dataclass(slots=True)
class Interleaving:
    """workers: one, or several that share a folder."""

    model: Model
    workers: Sequence[ResidentShards]
    searches: set[asyncio.Task[None]] = field(default_factory=set)
    filtered: int = 0

    def begin_search(self) -> None:
        worker = self.model.random.choice(self.workers)
        self.searches.add(asyncio.create_task(self._search(worker)))

    async def _search(self, worker: ResidentShards) -> None:
        found = worker.use(ANA)
        if found is None:
            return
        history, revision = self.model.history, self.model.revision
        followed = await worker.follow(found, history, {"acme": revision})
        for shard in followed or ():
            assert shard.history == history
            assert shard.revision >= revision
            if shard.history == self.model.history:
                assert values_of(shard) == self.model.contents[shard.revision]
        filtered = followed and await worker.filtered(followed, ANA, FILTER)
        for shard in filtered or ():
            if shard.history == self.model.history:
                contents = self.model.contents[shard.revision]
                even = {name: value for name, value in contents.items() if value % 2 == 0}
                assert values_of(shard) == even
                self.filtered += 1

    def step(self) -> None:
        model = self.model
        match model.random.choice(["commit", "search", "search", "step", "step", "step", "rare"]):
            case "commit":
                model.commit()
            case "search":
                self.begin_search()
            case "step" if model.waiting:
                model.waiting.pop(model.random.randrange(len(model.waiting))).set()
            case "rare" if model.random.random() < 0.1:
                model.restore()

    def _is_mine(self, task: asyncio.Task[Any]) -> bool:
        """Whether the task is of a search, of shards or of a thread; fixtures have others too."""
        owner = getattr(task.get_coro(), "__qualname__", "").partition(".")[0]
        return owner in _OWNERS

    async def end(self) -> None:
        for worker in self.workers:
            await worker.close()
        async with asyncio.timeout(60):
            while any(map(self._is_mine, asyncio.all_tasks())):  # also for shards that were dropped
                for event in self.model.waiting:
                    event.set()
                await asyncio.sleep(0)
        for outcome in await asyncio.gather(*self.searches, return_exceptions=True):
            if isinstance(outcome, AssertionError):
                raise outcome


async def played(
    seed: int, monkeypatch: pytest.MonkeyPatch, path: Path | None = None
) -> Counter[str]:
    """The events of one interleaving; with a path, of two workers that share that folder."""
    model = Model(Random(seed))  # noqa: S311  no secret
    monkeypatch.setattr(loading, "load", model.load)
    monkeypatch.setattr(loading, "read_changes", model.read_changes)
    monkeypatch.setattr(loading, "read_sums", model.read_sums)
    monkeypatch.setattr(matching_documents, "read", model.read_matching)
    monkeypatch.setattr(resident_partition, "_CHANGED_ROWS_MAX", 4)
    monkeypatch.setattr(asyncio, "to_thread", model.in_thread)
    monkeypatch.setattr(shard_folder, "_LOCK_ATTEMPTS", 5)
    monkeypatch.setattr(shard_folder, "_LOCK_POLL_S", 0.0)
    monkeypatch.setattr(resident_shards, "_REFUSED_S", 0.0)  # loaded again at once
    events: Counter[str] = Counter()
    bytes_max = 1 << 20 if seed % 3 else 2_500
    workers = [
        ResidentShards(
            None,  # type: ignore[arg-type]  # the model answers
            bytes_max=bytes_max,
            chunks_max=1_000,
            on_event=lambda event: events.update([event]),
            threads=new_threads(),
            folder=None if path is None else ShardFolder(path, "edition", bytes_max),
        )
        for _ in range(2 if path else 1)
    ]
    interleaving = Interleaving(model, workers)
    for _ in range(STEPS * len(workers)):
        interleaving.step()
        await asyncio.sleep(0)
    await interleaving.end()
    events["filtered"] = interleaving.filtered
    return events


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", [range(start, start + 30) for start in (0, 30, 60)])
async def test_a_shard_holds_the_chunks_of_its_revision(
    seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: Counter[str] = Counter()
    for seed in seeds:
        with monkeypatch.context() as context:
            events += await played(seed, context)
    assert events.keys() >= {"loaded", "followed", "compacted", "evicted", "outdated", "filtered"}


@pytest.mark.sampled("seeds0")
@pytest.mark.parametrize("seeds", [range(start, start + 20) for start in (0, 20, 40)])
async def test_shards_that_workers_share_hold_the_chunks_of_their_revisions(
    seeds: range, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events: Counter[str] = Counter()
    for seed in seeds:
        with monkeypatch.context() as context:
            events += await played(seed, context, tmp_path / str(seed))
    assert events.keys() >= {"loaded", "mapped", "followed", "compacted", "evicted", "outdated"}


async def test_a_compaction_that_forgets_what_came_meanwhile_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forgetful(shard: Shard, changes: ShardChanges) -> Shard:
        return shard.at_revision(changes.revision, shard.space, STATS, shard.words)

    monkeypatch.setattr(followed_shard, "apply", forgetful)

    async def play_all() -> None:
        for seed in range(30):
            await played(seed, monkeypatch)

    with pytest.raises(AssertionError):
        await play_all()
