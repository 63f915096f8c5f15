"""Answers from shards as a machine of small steps, and a search of all their interleavings.

The rules are the functions of `index.resident` and of `cache.protocol` themselves, on real shards
of a few chunks. This file adds who calls them, and what happens between two calls.

A step is one statement, one task of the worker, or one fault.
  A commit writes or removes one chunk. It is acknowledged at once, which is the earliest.
  The change log is trimmed to any revision at any time.
  The worker loads, follows, compacts and evicts at any time, and a crash loses all that it has.
  A load and a compaction store a file, or map the file of another worker, which may be of any
  revision and history. Labels of a file have codes of their own. Nothing excludes that another
  worker replaces the file meanwhile: the lock saves work alone. Nobody sees a base before it has
  followed the change log, so that is one step with taking it. Using it is another: the version that
  it replaces may have followed further meanwhile.
  A search reads the revision first and looks into memory, or it begins at once: then its history is
  the one that is known when the request arrives. A version of the shard computes the answer; the
  statement that confirms it begins later. If the version is at another revision, any later one may
  compute it again. In a region a version at the known revision answers alone.
  The database goes back to any commit, in a new history. The replaced server may live on, and a
  connection of the pool leads to either. The dedicated connection leads to the new one, and was
  cut when the old one was replaced.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cache.protocol import Revisions
from index.resident import followed_shard
from index.resident.building.loading import ShardChanges
from index.resident.shard import ChunkLabels, Shard
from tests import exploration
from tests.exploration import Exploration, explore
from tests.index.support.shard_versions import Apply, Compact, ShardVersions, Store
from tests.index.support.shard_worlds import (
    PARTITION,
    Contents,
    ModelHistory,
    ModelSearch,
    ModelWorker,
    Reading,
    Remembered,
    ShardWorld,
    revisions,
)

HasReached: TypeAlias = Callable[[Sequence[Shard], str, Mapping[str, int]], bool]
IsAt: TypeAlias = Callable[[Sequence[Shard], str, Mapping[str, int]], bool]
Steps: TypeAlias = exploration.Steps[ShardWorld]


IsWhole: TypeAlias = Callable[[int, int, int], bool]


def log_is_whole(log_start: int, revision: int, since: int) -> bool:
    """As `whole` of `change_log.sql`: whether there is a change for each revision after `since`."""
    return max(0, revision - max(log_start, since)) == revision - since


def _identity(shard: Shard) -> Shard:
    return shard


def _second(_present: Shard, base: Shard) -> Shard:
    """Whatever its revision and history: each search asks for these."""
    return base


@dataclass(frozen=True, slots=True)
class Rules:
    """All that keeps an answer from being stale; a mutant replaces one part of it.

    apply_to_base, base_is_whole: as `apply` and `is_whole`, for what a load or a compaction takes.
    store: what a file says that it holds. replace: the version after the present one and a base.
    """

    apply: Apply = followed_shard.apply
    apply_to_base: Apply = followed_shard.apply
    compact: Compact = Shard.compacted
    store: Store = _identity
    replace: Callable[[Shard, Shard], Shard] = _second
    is_whole: IsWhole = log_is_whole
    base_is_whole: IsWhole = log_is_whole
    is_at: IsAt = followed_shard.is_at
    has_reached: HasReached = followed_shard.has_reached
    reach: Callable[[Revisions, Revisions], bool] = Revisions.reach
    reads_one_snapshot: bool = True
    reads_for_base: bool = True
    applies_to_what_was_read_for: bool = True
    reads_after_arrival: bool = True
    confirms_after_arrival: bool = True
    answers_in_known_history: bool = True
    begins_while_watched: bool = True


@dataclass(frozen=True, slots=True)
class Scene:
    """The bounds of a search.

    commits: of each history. searches: at a time. compacts, trims: whether the worker compacts, and
    whether the change log is trimmed. shares: whether bases are in files. in_region: whether a
    shard answers alone.
    accepts_refusals: whether a shard may disagree with PostgreSQL, so that the tables are read.
    """

    chunks: int = 2
    commits: int = 2
    histories: int = 1
    searches: int = 1
    compacts: bool = True
    trims: bool = True
    shares: bool = False
    in_region: bool = False
    accepts_refusals: bool = False


def search(scene: Scene, rules: Rules, *, deepest_first: bool = False) -> Exploration:
    model = ShardModel(scene, rules)
    return explore(model.start(), model.steps, deepest_first=deepest_first)


class ShardModel:
    """All that can happen next."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._versions = ShardVersions(rules.compact, rules.store)

    def start(self) -> ShardWorld:
        """There is one chunk, and the worker has nothing."""
        first = (1, *(0 for _ in range(1, self._scene.chunks)))
        return ShardWorld((ModelHistory(0, (first,)),))

    def steps(self, world: ShardWorld) -> Steps:
        yield from self._commits(world)
        yield from self._goes_back(world)
        for label, worker in self._works(world):
            yield label, world._replace(worker=worker)
        yield from self._sources(world)
        yield from self._stores(world)
        yield "crash", world._replace(worker=ModelWorker(), searches=())
        yield from self._arrives(world)
        for number, each in enumerate(world.searches):
            others = world.searches[:number] + world.searches[number + 1 :]
            yield from self._searches(world._replace(searches=others), each)

    def _commits(self, world: ShardWorld) -> Steps:
        now = world.current
        for start in range(now.log_start + 1, now.revision + 1) if self._scene.trims else ():
            yield f"trim the log to {start}", world.with_current(now._replace(log_start=start))
        if now.revision == self._scene.commits:
            return
        new = 10 * now.number + now.revision + 2  # a value that no other commit writes
        for chunk, value in enumerate(now.contents[-1]):
            for after in {new, 0 if value else new}:
                contents = _with(now.contents[-1], chunk, after)
                history = now._replace(contents=(*now.contents, contents))
                yield f"commit {contents}", world.with_current(history)

    def _goes_back(self, world: ShardWorld) -> Steps:
        """A restored copy, or a promoted standby, has what there was after some commit."""
        number, now = len(world.histories), world.current
        if number == self._scene.histories:
            return
        for revision in range(now.revision + 1):
            copy = now.contents[: revision + 1]
            history = ModelHistory(number, copy, min(now.log_start, revision))
            worker = world.worker._replace(is_watched=False)
            after = world._replace(histories=(*world.histories, history), worker=worker)
            yield f"the database goes back to {revision}", after

    def _stores(self, world: ShardWorld) -> Steps:
        """Another worker stores what it has loaded."""
        for each in world.histories if self._scene.shares else ():
            loaded = self._versions.loaded(each.name, each.revision, each.contents[-1])
            file = self._versions.stored(loaded)
            yield f"store {each.name} at {each.revision}", world._replace(file=file)

    def _sources(self, world: ShardWorld) -> Steps:
        """A load or a compaction, until its result can be used."""
        worker, versions = world.worker, self._versions
        if worker.sourced is not None:
            return
        if worker.shard is None:
            for each in world.histories:
                loaded = versions.loaded(each.name, each.revision, each.contents[-1])
                file = versions.stored(loaded) if self._scene.shares else None
                after = world._replace(worker=worker._replace(sourced=file or loaded), file=file)
                yield f"load {each.name} at {each.revision}", after
        elif self._scene.compacts and worker.shard.segments:
            base = versions.compacted(worker.shard)
            file = versions.stored(base) if self._scene.shares else None
            yield from self._follows_base("compact", world._replace(file=file), file or base)
        if world.file is not None and (self._scene.compacts or worker.shard is None):
            yield from self._follows_base("map the file", world, world.file)

    def _follows_base(self, deed: str, world: ShardWorld, base: Shard) -> Steps:
        worker, rules = world.worker, self._rules
        read_for = base if rules.reads_for_base else worker.shard or base
        for each in world.histories:
            followed = None
            if rules.base_is_whole(each.log_start, each.revision, base.revision):
                changes = self._logged(each, base.revision, each.revision, read_for.labels)
                followed = self._versions.applied(rules.apply_to_base, base, changes)
            if followed is None:
                yield f"{deed}, which can't follow {each.name}", world
            else:
                after = world._replace(worker=worker._replace(sourced=followed))
                yield f"{deed} and follow to {each.revision}", after

    def _works(self, world: ShardWorld) -> Iterator[tuple[str, ModelWorker]]:
        worker = world.worker
        if worker.sourced is not None:
            shard = worker.sourced
            if worker.shard is not None:
                shard = self._versions.only(self._rules.replace(worker.shard, shard))
            yield "use what was sourced", worker._replace(shard=shard, sourced=None)
        if worker.shard is None:
            return
        yield "evict", worker.without_shard()
        if worker.reading is None:
            yield from self._reads_changes(world, worker.shard)
        else:
            yield "apply", self._with_changes(worker, worker.shard, worker.reading)

    def _with_changes(self, worker: ModelWorker, shard: Shard, reading: Reading) -> ModelWorker:
        """Changes are of no use if another version has taken the place of the one read for."""
        worker = worker._replace(reading=None)
        if self._rules.applies_to_what_was_read_for and shard is not reading.before:
            return worker
        applied = self._versions.applied(self._rules.apply, shard, reading.changes)
        return worker.without_shard() if applied is None else worker._replace(shard=applied)

    def _reads_changes(self, world: ShardWorld, shard: Shard) -> Iterator[tuple[str, ModelWorker]]:
        worker = world.worker
        for each in world.histories:
            if (shard.history, shard.revision) == (each.name, each.revision):
                continue
            if not self._rules.is_whole(each.log_start, each.revision, shard.revision):
                yield f"a gap in {each.name}", worker.without_shard()
                continue
            first = each.revision if self._rules.reads_one_snapshot else shard.revision
            for rows_revision in range(first, each.revision + 1):
                changes = self._logged(each, shard.revision, rows_revision, shard.labels)
                yield f"read to {each.revision}", worker._replace(reading=Reading(shard, changes))

    def _logged(
        self, history: ModelHistory, since: int, rows_revision: int, labels: ChunkLabels
    ) -> ShardChanges:
        first = max(since, history.log_start)
        return self._versions.changes(history, first, rows_revision, labels)

    def _arrives(self, world: ShardWorld) -> Steps:
        if len(world.searches) == self._scene.searches:
            return
        worker, arrived = world.worker, (world.current.number, world.current.revision)
        yield "a request arrives", _searching(world, ModelSearch(arrived, at_once=False))
        if worker.shard and (worker.is_watched or not self._rules.begins_while_watched):
            at_once = ModelSearch(arrived, at_once=True, history=worker.known)
            yield "a request arrives, and is searched at once", _searching(world, at_once)

    def _searches(self, world: ShardWorld, search: ModelSearch) -> Steps:
        """The next step of a search. world: without it."""
        if search.history is None:
            yield from self._reads_revision(world, search)
            return
        memory, newest = world.worker.memory, world.worker.shard
        if search.revision is not None and memory is not None:
            known = revisions(memory.history, memory.revision)
            if self._rules.reach(known, revisions(search.history, search.revision)):
                yield from self._serves("memory", world, search, memory)
        if search.shard is not None:
            for each in world.histories:
                for snapshot in self._snapshots(each):
                    yield from self._confirms(world, search, search.shard, snapshot)
            return
        if newest is not None:
            yield "the shard computes", _searching(world, search._replace(shard=newest))
            yield from self._answers_alone(world, search, newest)
        for each in world.histories:
            answer = Remembered(each.number, each.revision, each.contents[-1])
            yield from self._computed("the tables", world, search, answer)

    def _answers_alone(self, world: ShardWorld, search: ModelSearch, shard: Shard) -> Steps:
        """At the revision that was read, or a later one."""
        if not self._scene.in_region or search.revision is None:
            return
        name = world.histories[search.history or 0].name
        if self._rules.has_reached([shard], name, {PARTITION: search.revision}):
            answer = Remembered(
                next(each.number for each in world.histories if each.name == shard.history),
                shard.revision,
                self._contents(shard),
            )
            yield from self._serves("the shard alone", world, search, answer)

    def _contents(self, shard: Shard) -> Contents:
        held = dict(self._versions.held(shard))
        return tuple(held.get(chunk, 0) for chunk in range(1, self._scene.chunks + 1))

    def _reads_revision(self, world: ShardWorld, search: ModelSearch) -> Steps:
        now = world.current
        worker = world.worker._replace(known=now.number, is_watched=True)
        first = now.revision if self._rules.reads_after_arrival else 0
        for revision in range(first, now.revision + 1):
            read = search._replace(history=now.number, revision=revision)
            yield f"read revision {revision}", _searching(world._replace(worker=worker), read)

    def _snapshots(self, history: ModelHistory) -> Iterator[ModelHistory]:
        """What a statement that confirms may read: the rows as they are, as it begins now."""
        first = history.revision if self._rules.confirms_after_arrival else 0
        for revision in range(first, history.revision + 1):
            yield history._replace(contents=history.contents[: revision + 1])

    def _confirms(
        self, world: ShardWorld, search: ModelSearch, shard: Shard, history: ModelHistory
    ) -> Steps:
        """The statement that asks again for the chunks of the answer, in one snapshot."""
        if not self._rules.is_at([shard], history.name, {PARTITION: history.revision}):
            yield "the shard is elsewhere", _searching(world, search._replace(shard=None))
            return
        shown, stored = self._versions.held(shard), history.contents[-1]
        visible = {chunk for chunk, _ in shown if stored[chunk - 1]}
        if len(visible) < len(shown):
            refused = _searching(world, search._replace(shard=None))
            after = refused._replace(worker=world.worker.without_shard())
            yield "the shard is refused", after if self._scene.accepts_refusals else None
            return
        answer = Remembered(history.number, history.revision, self._contents(shard))
        yield from self._computed("the shard", world, search, answer)

    def _computed(
        self, tier: str, world: ShardWorld, search: ModelSearch, answer: Remembered
    ) -> Steps:
        if self._rules.answers_in_known_history and answer.history != search.history:
            yield "another history answers", world
            return
        yield from self._serves(tier, world, search, answer)

    def _serves(
        self, tier: str, world: ShardWorld, search: ModelSearch, answer: Remembered
    ) -> Steps:
        if not world.is_right(search, answer.history, answer.contents):
            yield f"a request that arrived at {search.arrived} is served {answer}", None
            return
        at_once = " at once" if search.at_once else ""
        yield (
            f"{tier} answers{at_once}",
            world._replace(worker=world.worker._replace(memory=answer)),
        )


def _searching(world: ShardWorld, search: ModelSearch) -> ShardWorld:
    """The world with one more search, in an order that does not tell which came first."""
    return world._replace(searches=tuple(sorted((*world.searches, search), key=hash)))


def _with(contents: Contents, chunk: int, value: int) -> Contents:
    return (*contents[:chunk], value, *contents[chunk + 1 :])
