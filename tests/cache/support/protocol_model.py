"""The cache protocol as a machine of small steps, and a search of all its interleavings.

The rules are the functions of cache.protocol themselves; this file adds who calls them, and what
can happen between two calls. One key of one tenant is modelled: keys share a state, nothing else.

A step is one command to one Redis server, one look at PostgreSQL, or one fault.
  A commit changes one partition, and with it the answer or not: a change of no consequence is what
  precise invalidation lets an entry survive.
  A drain dooms an entry only if what the entry holds of the partition is no longer so at the
  revision that the drain has read: that is the least that it may drop.
  A swap stores only if it finds what was judged, and a lost one is judged again on what it found.
  So to judge and to store are one step here, and an attempt that loses is none.
  A drain or a fill may end at any step: it crashed, or gave up. Then its place is free for another.
  The database goes back to any commit, in a new history. A server of an older one may live on, and
  a connection that leads there reads what it has: so each reading is of any history.

Three things are asked of the scripts and of cache.redis.store, beside the rules; each is needed:
  A server's name (`run` of a state) is new whenever it starts, and whenever it is promoted.
  A scan knows the name of the server that answered it.
  A record leaves the registry only after its entry has left the server, and a registry that was
  lost is never made anew under its old nonce.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias, TypeVar

from cache import protocol
from cache.protocol import EntryVersion, Revisions, State
from tests import exploration
from tests.cache.support.protocol_worlds import (
    KEY,
    PARTITIONS,
    Drain,
    Fill,
    ModelEntry,
    ModelNode,
    ModelServer,
    ModelSnapshot,
    ProtocolWorld,
    Remembered,
    frozen,
    revisions,
)
from tests.exploration import Exploration, explore

T = TypeVar("T")

Fault: TypeAlias = Literal["state lost", "entry lost", "registry lost", "restart", "failover"]
Believed: TypeAlias = Callable[[State | None, str, str], State | None]
Finish: TypeAlias = Callable[[State | None, State, Mapping[str, int]], State | None]


@dataclass(frozen=True, slots=True)
class Rules:
    """The protocol, whole; a mutant replaces one part of it."""

    believed: Believed = protocol.valid_state
    reset: Callable[[str, str, Revisions], State] = protocol.reset
    joined: Callable[[State, Revisions], State] = protocol.with_partitions
    may_serve: Callable[[State | None, EntryVersion | None, Revisions], bool] = protocol.may_serve
    may_fill: Callable[[State | None, EntryVersion], bool] = protocol.may_fill
    begin: Callable[[State, Revisions], State | None] = protocol.raise_fence
    finish: Finish = protocol.mark_applied
    reach: Callable[[Revisions, Revisions], bool] = Revisions.reach
    drops_as_it_finishes: bool = True
    looks_for_nonce_in_registry: bool = True
    fill_looks_for_nonce: bool = True
    registers_fills: bool = True
    promotion_renames: bool = True
    scan_names_server: bool = True
    entry_leaves_before_record: bool = True


@dataclass(frozen=True, slots=True)
class Scene:
    """The bounds of a search: how much of each there is, and which faults happen, ever so often.

    drains, fills: at a time.
    nonces, names: that can be drawn in all, so they bound the resets, and starts and promotions.
    joins:         whether the state begins without the second partition.
    undoes:        whether a commit may bring back what was before.
    histories:     of the database, in all; commits are those of each.
    remembers:     whether a process keeps the answer in its memory too.
    """

    partitions: int = 1
    commits: int = 1
    drains: int = 2
    fills: int = 1
    nonces: int = 2
    names: int = 1
    joins: bool = False
    undoes: bool = False
    histories: int = 1
    remembers: bool = False
    faults: frozenset[Fault] = frozenset()


Steps: TypeAlias = exploration.Steps[ProtocolWorld]


def search(scene: Scene, rules: Rules, *, deepest_first: bool = False) -> Exploration:
    model = Model(scene, rules)
    return explore(model.start(), model.steps, deepest_first=deepest_first)


class Model:
    """All that can happen next."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules

    def start(self) -> ProtocolWorld:
        """Nothing is cached, there is a state, and a replica is up to date."""
        nothing = ModelSnapshot(0, (0,) * self._scene.partitions, (0,) * self._scene.partitions)
        partitions = 1 if self._scene.joins else self._scene.partitions
        known = revisions(nothing).of(PARTITIONS[:partitions])
        first = self._rules.reset("name 0", "nonce 0", known)
        server = ModelServer(first.server_id, frozen(first), None, frozenset([first.nonce]))
        replica = server._replace(name="" if self._rules.promotion_renames else "its own")
        return ProtocolWorld(
            ((nothing,),), ModelNode(server, replica if "failover" in self._scene.faults else None)
        )

    def steps(self, world: ProtocolWorld) -> Steps:
        yield from self._commits(world)
        yield from self._goes_back(world)
        yield from self._losses(world)
        yield from self._restarts(world)
        yield from self._failovers(world)
        yield from self._first_states(world)
        yield from self._begins(world)
        yield from self._drains(world)
        yield from self._fills(world)
        yield from self._reads(world)

    def _commits(self, world: ProtocolWorld) -> Steps:
        *older, history = world.histories
        if len(history) > self._scene.commits:
            return
        now = history[-1]
        for partition, revision in enumerate(now.revisions):
            content = now.contents[partition]
            for after in {content, _new(now, content), max(0, content - self._scene.undoes)}:
                snapshot = ModelSnapshot(
                    now.history,
                    _with(now.revisions, partition, revision + 1),
                    _with(now.contents, partition, after),
                )
                histories = (*older, (*history, snapshot))
                yield f"commit {snapshot}", world._replace(histories=histories)

    def _goes_back(self, world: ProtocolWorld) -> Steps:
        """A restored copy, or a promoted standby, has what there was after some commit."""
        if len(world.histories) < self._scene.histories:
            for left in world.histories[-1]:
                base = left._replace(history=len(world.histories))
                after = world._replace(histories=(*world.histories, (base,)))
                yield f"the database goes back to {left.revisions}", after

    def _losses(self, world: ProtocolWorld) -> Steps:
        """Eviction, and expiry of an entry, whose record is cleaned up later."""
        server, faults = world.node.reached, self._scene.faults
        if "state lost" in faults and server.state is not None:
            yield "state evicted", world.reaching(server._replace(state=None))
        if "registry lost" in faults:
            if server.registry:
                yield "registry evicted", world.reaching(server._replace(registry=_NO_KEYS))
            yield from self._other_fills(world)
        if "entry lost" not in faults:
            return
        if server.entry is not None:
            yield "entry evicted or expired", world.reaching(server._replace(entry=None))
        if server.entry is None or not self._rules.entry_leaves_before_record:
            record_gone = server._replace(registry=server.registry - {KEY})
            yield "record cleaned up", world.reaching(record_gone)

    def _other_fills(self, world: ProtocolWorld) -> Steps:
        """Of another key, which a lost registry must not be made anew by."""
        server = world.node.reached
        if server.state is None or server.state.nonce in server.registry:
            return
        if self._rules.fill_looks_for_nonce:
            yield "another fill finds no registry", world.reaching(server._replace(state=None))
        else:
            anew = server._replace(registry=server.registry | {server.state.nonce})
            yield "another fill makes the registry anew", world.reaching(anew)

    def _restarts(self, world: ProtocolWorld) -> Steps:
        if "restart" in self._scene.faults and world.names < self._scene.names:
            empty = ModelServer(f"name {world.names}", None, None, _NO_KEYS)
            after = world.reaching(empty)
            yield f"restart, empty, as {empty.name}", after._replace(names=world.names + 1)

    def _failovers(self, world: ProtocolWorld) -> Steps:
        """The other follows at any time, or is reached from now on with what it has got.

        A server that is left lives on as it is, until it is made the replica of the other.
        """
        reached, other = world.node
        if other is None:
            return
        name = "" if self._rules.promotion_renames else other.name
        copy = reached._replace(name=name)
        yield "the other becomes a copy", world._replace(node=ModelNode(reached, copy))
        if other.name:
            yield f"{other.name} is reached", world._replace(node=ModelNode(other, reached))
        elif world.names < self._scene.names:
            promoted = other._replace(name=f"name {world.names}")
            after = world._replace(node=ModelNode(promoted, reached))
            yield f"promotion of {promoted.name}", after._replace(names=world.names + 1)

    def _first_states(self, world: ProtocolWorld) -> Steps:
        """Who looks and finds no state, or one that knows too little, makes one.

        It has read any revisions that there have been.
        """
        for snapshot in _all(world):
            state = self._state(world, revisions(snapshot).history)
            if state is None:
                yield from self._reset(world, revisions(snapshot))
            elif len(state.progress) < self._scene.partitions:
                joined = self._rules.joined(state, revisions(snapshot))
                server = world.node.reached._replace(state=frozen(joined))
                yield f"join at {snapshot.revisions}", world.reaching(server)

    def _reset(self, world: ProtocolWorld, at: Revisions) -> Steps:
        if world.nonces < self._scene.nonces:
            server = world.node.reached
            state = self._rules.reset(server.name, f"nonce {world.nonces}", at)
            after = world.reaching(server.renewed(state))._replace(nonces=world.nonces + 1)
            yield (
                f"reset at {list(at.by_partition.values())}",
                after._replace(nonces=world.nonces + 1),
            )

    def _begins(self, world: ProtocolWorld) -> Steps:
        """Having read what there was at any time since; a mutant reads only what there is later."""
        state = self._state_of_any(world)
        if state is None or len(world.drains) == self._scene.drains:
            return
        for name, progress in state.progress.items():
            partition = PARTITIONS.index(name)
            for read in chain.from_iterable(
                _each_revision(history, partition) for history in world.histories
            ):
                if read.revisions[partition] <= progress.applied:
                    continue
                begun = self._rules.begin(state, revisions(read).of([name]))
                if begun is None:
                    continue
                drain = Drain(partition, read, frozen(begun))
                server = world.node.reached._replace(state=frozen(begun))
                after = world.reaching(server)._replace(drains=_sorted(world.drains, drain))
                yield f"drain of {name} to {read.revisions[partition]} begins", after

    def _drains(self, world: ProtocolWorld) -> Steps:
        """After its begin: the scan, then the finish."""
        for drain, others in _each(world.drains):
            ended = world._replace(drains=others)
            yield "a drain ends early", ended
            if drain.finished:
                yield "drop, late", ended.reaching(world.node.reached.dropped())
            elif drain.found is None:
                yield from self._scan(ended, drain)
            else:
                yield from self._finish(ended, drain)

    def _scan(self, world: ProtocolWorld, drain: Drain) -> Steps:
        """If the registry was lost, the next swap is a reset, of the state that was begun."""
        server, begun = world.node.reached, drain.begun
        same_server = server.name == begun.run
        if self._rules.scan_names_server and not same_server:
            return
        if begun.nonce in server.registry or not self._rules.looks_for_nonce_in_registry:
            scanned = drain._replace(found=self._dooms(drain, server))
            yield "scan", world._replace(drains=_sorted(world.drains, scanned))
        elif same_server and server.state == begun:
            applied = {name: applied for name, _, applied in begun.progress}
            at = Revisions(begun.history, {**applied, **drain.reached})
            yield from self._reset(world, at)

    def _dooms(self, drain: Drain, server: ModelServer) -> bool:
        if server.entry is None or KEY not in server.registry:
            return False
        at, held = drain.partition, server.entry.snapshot
        return (
            held.revisions[at] < drain.read.revisions[at]
            and held.contents[at] != drain.read.contents[at]
        )

    def _finish(self, world: ProtocolWorld, drain: Drain) -> Steps:
        state = self._state(world, drain.begun.history)
        finished = self._rules.finish(state, drain.begun.thawed(), drain.reached)
        if finished is None:
            return
        server = world.node.reached._replace(state=frozen(finished))
        if drain.found and not self._rules.drops_as_it_finishes:
            late = _sorted(world.drains, drain._replace(finished=True))
            world = world._replace(drains=late)
        elif drain.found:
            server = server.dropped()
        yield f"drain to {list(drain.reached.values())} finishes", world.reaching(server)

    def _fills(self, world: ProtocolWorld) -> Steps:
        """A look, the answer computed, then stored."""
        state = self._state_of_any(world)
        if len(world.fills) < self._scene.fills and state is not None:
            begun = _sorted(world.fills, Fill(state.nonce))
            yield f"a fill sees {state.nonce}", world._replace(fills=begun)
        for fill, others in _each(world.fills):
            ended = world._replace(fills=others)
            yield "a fill ends early", ended
            if fill.snapshot is None:
                for history in world.histories:
                    computed = fill._replace(snapshot=history[-1])
                    after = ended._replace(fills=_sorted(others, computed))
                    made = self._remembering(after, revisions(history[-1]), history[-1].contents)
                    yield f"compute in history {history[-1].history}", made
            else:
                yield from self._store(ended, ModelEntry(fill.nonce, fill.snapshot))

    def _store(self, world: ProtocolWorld, entry: ModelEntry) -> Steps:
        if not self._rules.may_fill(self._state_of_any(world), entry.mark):
            return
        server = world.node.reached
        if self._rules.fill_looks_for_nonce and entry.nonce not in server.registry:
            yield "a fill finds no registry", world.reaching(server._replace(state=None))
            return
        record = {KEY} if self._rules.registers_fills else set()
        filled = server._replace(entry=entry, registry=server.registry | record)
        yield f"fill as of {entry.snapshot.revisions}", world.reaching(filled)

    def _reads(self, world: ProtocolWorld) -> Steps:
        """The revision was read at any time before: as late as this it is known which one."""
        entry, known = world.node.reached.entry, world.memory
        for history in world.histories:
            for read, snapshot in enumerate(history):
                wanted, since = revisions(snapshot), history[read:]
                state = self._state(world, wanted.history)
                if entry is not None and self._rules.may_serve(state, entry.mark, wanted):
                    if not _is_right(since, entry.snapshot.contents):
                        yield f"who read {snapshot} is served {entry.snapshot}", None
                    elif self._scene.remembers and state is not None:
                        good = protocol.valid_until(state, entry.mark, wanted)
                        served = self._remembering(world, good, entry.snapshot.contents)
                        yield f"who read {snapshot} is served", served
                if (
                    known is not None
                    and self._rules.reach(known.revisions, wanted)
                    and not _is_right(since, known.contents)
                ):
                    yield f"who read {snapshot} is served {known} from memory", None

    def _remembering(
        self, world: ProtocolWorld, good: Revisions, contents: tuple[int, ...]
    ) -> ProtocolWorld:
        if not self._scene.remembers:
            return world
        numbers = tuple(sorted(good.by_partition.items()))
        return world._replace(memory=Remembered((good.history, numbers), contents))

    def _state(self, world: ProtocolWorld, history: str) -> State | None:
        """As somebody sees it who has read revisions of that history."""
        server = world.node.reached
        state = None if server.state is None else server.state.thawed()
        return self._rules.believed(state, server.name, history)

    def _state_of_any(self, world: ProtocolWorld) -> State | None:
        """As somebody sees it who has read a history that it is believed in, if there is one."""
        found = (self._state(world, revisions(each[0]).history) for each in world.histories)
        return next(filter(None, found), None)


_NO_KEYS: frozenset[str] = frozenset()


def _is_right(since: tuple[ModelSnapshot, ...], contents: tuple[int, ...]) -> bool:
    """Whether each partition's part is what it was at that reading, or has been since."""
    return all(
        content in {snapshot.contents[partition] for snapshot in since}
        for partition, content in enumerate(contents)
    )


def _new(now: ModelSnapshot, content: int) -> int:
    """What no other history has had; there are fewer than ten commits."""
    return 10 * now.history + content % 10 + 1


def _all(world: ProtocolWorld) -> Iterator[ModelSnapshot]:
    return chain.from_iterable(world.histories)


def _each_revision(history: tuple[ModelSnapshot, ...], partition: int) -> Iterator[ModelSnapshot]:
    """The first snapshot of each revision: what the others change is no business of a drain's."""
    seen: set[int] = set()
    for snapshot in history:
        if snapshot.revisions[partition] not in seen:
            seen.add(snapshot.revisions[partition])
            yield snapshot


def _each(items: tuple[T, ...]) -> Iterator[tuple[T, tuple[T, ...]]]:
    """Each of the different items, and the others."""
    for index, item in enumerate(items):
        if item not in items[:index]:
            yield item, items[:index] + items[index + 1 :]


def _sorted(items: tuple[T, ...], item: T) -> tuple[T, ...]:
    """The items and one more, in an order that does not tell who is who."""
    return tuple(sorted((*items, item), key=hash))


def _with(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])
