"""The cache protocol as a machine of small steps, and a search of all its interleavings.

The rules are the functions of cache.protocol themselves; this file adds who calls them, and what
can happen between two calls. One key is modelled: keys share a state, and nothing else.

A step is one command to one Redis server, one look at PostgreSQL, or one fault.
  A swap stores only if it finds what was judged, and a lost one is judged again on what it found.
  So to judge and to store are one step here, and an attempt that loses is none.
  A drain or a fill may end at any step: it crashed, or gave up. Then its place is free for another.
  Any change dooms every entry, as in cache.answers: no change would make more answers wrong.

Three things are asked of the scripts and of cache.store, beside the rules; each is needed:
  A server's name (`run` of a state) is new whenever it starts, and whenever it is promoted.
  A scan knows the name of the server that answered it.
  A record leaves the registry only after its entry has left the server.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from cache import protocol
from cache.protocol import Mark, State

T = TypeVar("T")

Snapshot: TypeAlias = tuple[int, ...]  # the revision of each partition
Fault: TypeAlias = Literal["state lost", "entry lost", "registry lost", "restart", "failover"]

KEY = "key"  # the record of the one entry; a registry also holds its nonce


@dataclass(frozen=True, slots=True)
class Rules:
    """The protocol, whole; a mutant replaces one part of it."""

    believed: Callable[[State | None, str], State | None] = protocol.believed
    reset: Callable[[str, str, int], State] = protocol.reset
    may_serve: Callable[[State | None, Mark | None, int], bool] = protocol.may_serve
    may_fill: Callable[[State | None, Mark], bool] = protocol.may_fill
    begin: Callable[[State, int], State] = protocol.begin
    finish: Callable[[State | None, State, int], State | None] = protocol.finish
    drops_as_it_finishes: bool = True
    looks_for_nonce_in_registry: bool = True
    asks_every_partition: bool = True
    compares_stamps: bool = True
    promotion_renames: bool = True
    scan_names_server: bool = True
    entry_leaves_before_record: bool = True


@dataclass(frozen=True, slots=True)
class Scene:
    """The bounds of a search: how much of each there is, and which faults happen, ever so often.

    drains, fills: at a time.
    nonces, names: that can be drawn in all, so they bound the resets, and starts and promotions.
    body:          of the answer computed as of a snapshot.
    """

    partitions: int = 1
    commits: int = 1
    drains: int = 2
    fills: int = 1
    nonces: int = 2
    names: int = 1
    faults: frozenset[Fault] = frozenset()
    body: Callable[[Snapshot], bytes] = bytes


# Named tuples from here on, not dataclasses: a search hashes millions of them.
class Server(NamedTuple):
    """One partition's keys on one Redis process; a replica has no name of its own."""

    name: str
    state: State | None
    entry: Mark | None
    registry: frozenset[str]

    def renewed(self, state: State) -> "Server":
        return self._replace(state=state, registry=frozenset([state.nonce]))

    def filled(self, mark: Mark) -> "Server":
        return self._replace(entry=mark, registry=self.registry | {KEY})

    def dropped(self) -> "Server":
        return self._replace(entry=None, registry=self.registry - {KEY})


class Node(NamedTuple):
    """The server that commands reach, and another: its replica, or one that was reached before."""

    reached: Server
    other: Server | None


class Drain(NamedTuple):
    """found: whether the scan met the entry; None until it has ended."""

    partition: int
    revision: int
    begun: State
    found: bool | None = None
    finished: bool = False


class Fill(NamedTuple):
    """nonces: of the partitions looked at; filled: how many partitions have stored it."""

    nonces: tuple[str, ...]
    as_of: Snapshot | None = None
    filled: int = 0


class Reader(NamedTuple):
    """read: which snapshot of the history; marks: of the partitions that have vouched."""

    read: int
    marks: tuple[Mark, ...]


class World(NamedTuple):
    """history: PostgreSQL after each commit; nonces, names: how many have been drawn."""

    history: tuple[Snapshot, ...]
    nodes: tuple[Node, ...]
    nonces: int = 1
    names: int = 1
    drains: tuple[Drain, ...] = ()
    fills: tuple[Fill, ...] = ()
    reader: Reader | None = None

    def reaching(self, partition: int, server: Server) -> "World":
        return self.linked(partition, self.nodes[partition]._replace(reached=server))

    def linked(self, partition: int, node: Node) -> "World":
        return self._replace(nodes=_with(self.nodes, partition, node))


Steps: TypeAlias = Iterator[tuple[str, World | None]]  # None: a stale answer is served


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many worlds were seen, and the shortest way to a stale answer, if there is one."""

    states: int
    trace: list[str] | None


def search(scene: Scene, rules: Rules) -> Outcome:
    """Visit every world that can come about, nearest first, until a stale answer is served."""
    model = Model(scene, rules)
    start = model.start()
    came_from: dict[World, tuple[str, World] | None] = {start: None}
    frontier = [start]
    while frontier:
        reached = []
        for world in frontier:
            for label, after in model.steps(world):
                if after is None:
                    return Outcome(len(came_from), [*_way(came_from, world), label])
                if after not in came_from:
                    came_from[after] = (label, world)
                    reached.append(after)
        frontier = reached
    return Outcome(len(came_from), None)


class Model:
    """All that can happen next."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules

    def start(self) -> World:
        """Nothing is cached, every partition has a state, and every replica is up to date."""
        first = self._rules.reset("name 0", "nonce 0", 0)
        server = Server(first.run, first, None, frozenset([first.nonce]))
        replica = server._replace(name="" if self._rules.promotion_renames else "its own")
        other = replica if "failover" in self._scene.faults else None
        nodes = (Node(server, other),) * self._scene.partitions
        return World(((0,) * self._scene.partitions,), nodes)

    def steps(self, world: World) -> Steps:
        yield from self._commits(world)
        for partition in range(self._scene.partitions):
            yield from self._losses(world, partition)
            yield from self._restarts(world, partition)
            yield from self._failovers(world, partition)
            yield from self._first_resets(world, partition)
            yield from self._begins(world, partition)
        yield from self._drains(world)
        yield from self._fills(world)
        yield from self._reads(world)

    def _commits(self, world: World) -> Steps:
        if len(world.history) > self._scene.commits:
            return
        now = world.history[-1]
        for partition, revision in enumerate(now):
            after = _with(now, partition, revision + 1)
            yield f"commit {after}", world._replace(history=(*world.history, after))

    def _losses(self, world: World, partition: int) -> Steps:
        """Eviction, and expiry of an entry, whose record is cleaned up later."""
        server, faults = world.nodes[partition].reached, self._scene.faults
        if "state lost" in faults and server.state is not None:
            yield "state evicted", world.reaching(partition, server._replace(state=None))
        if "registry lost" in faults and server.registry:
            yield "registry evicted", world.reaching(partition, server._replace(registry=_NO_KEYS))
        if "entry lost" not in faults:
            return
        if server.entry is not None:
            yield "entry evicted or expired", world.reaching(partition, server._replace(entry=None))
        if server.entry is None or not self._rules.entry_leaves_before_record:
            record_gone = server._replace(registry=server.registry - {KEY})
            yield "record cleaned up", world.reaching(partition, record_gone)

    def _restarts(self, world: World, partition: int) -> Steps:
        if "restart" in self._scene.faults and world.names < self._scene.names:
            empty = Server(f"name {world.names}", None, None, _NO_KEYS)
            after = world.reaching(partition, empty)
            yield f"restart, empty, as {empty.name}", after._replace(names=world.names + 1)

    def _failovers(self, world: World, partition: int) -> Steps:
        """The other follows at any time, or is reached from now on with what it has got.

        A server that is left lives on as it is, until it is made the replica of the other.
        """
        reached, other = world.nodes[partition]
        if other is None:
            return
        name = "" if self._rules.promotion_renames else other.name
        copy = reached._replace(name=name)
        yield "the other becomes a copy", world.linked(partition, Node(reached, copy))
        if other.name:
            yield f"{other.name} is reached", world.linked(partition, Node(other, reached))
        elif world.names < self._scene.names:
            promoted = other._replace(name=f"name {world.names}")
            after = world.linked(partition, Node(promoted, reached))
            yield f"promotion of {promoted.name}", after._replace(names=world.names + 1)

    def _first_resets(self, world: World, partition: int) -> Steps:
        """Who looks and finds no state makes one, having read any revision that there has been."""
        if self._state(world, partition) is None:
            for revision in range(world.history[-1][partition] + 1):
                yield from self._reset(world, partition, revision)

    def _reset(self, world: World, partition: int, revision: int) -> Steps:
        if world.nonces < self._scene.nonces:
            server = world.nodes[partition].reached
            state = self._rules.reset(server.name, f"nonce {world.nonces}", revision)
            after = world.reaching(partition, server.renewed(state))
            yield f"reset at {revision}", after._replace(nonces=world.nonces + 1)

    def _begins(self, world: World, partition: int) -> Steps:
        state = self._state(world, partition)
        if state is None or len(world.drains) == self._scene.drains:
            return
        server = world.nodes[partition].reached
        for revision in range(state.applied + 1, world.history[-1][partition] + 1):
            begun = self._rules.begin(state, revision)
            drains = _sorted(world.drains, Drain(partition, revision, begun))
            after = world.reaching(partition, server._replace(state=begun))
            yield f"drain to {revision} begins", after._replace(drains=drains)

    def _drains(self, world: World) -> Steps:
        """After its begin: the scan, then the finish."""
        for drain, others in _each(world.drains):
            ended = world._replace(drains=others)
            yield "a drain ends early", ended
            if drain.finished:
                server = world.nodes[drain.partition].reached
                yield "drop, late", ended.reaching(drain.partition, server.dropped())
            elif drain.found is None:
                yield from self._scan(ended, drain)
            else:
                yield from self._finish(ended, drain)

    def _scan(self, world: World, drain: Drain) -> Steps:
        """If the registry was lost, the next swap is a reset, of the state that was begun."""
        server, begun = world.nodes[drain.partition].reached, drain.begun
        same_server = server.name == begun.run
        if self._rules.scan_names_server and not same_server:
            return
        if begun.nonce in server.registry or not self._rules.looks_for_nonce_in_registry:
            scanned = drain._replace(found=KEY in server.registry)
            yield "scan", world._replace(drains=_sorted(world.drains, scanned))
        elif same_server and server.state == begun:
            yield from self._reset(world, drain.partition, drain.revision)

    def _finish(self, world: World, drain: Drain) -> Steps:
        state = self._state(world, drain.partition)
        finished = self._rules.finish(state, drain.begun, drain.revision)
        if finished is None:
            return
        server = world.nodes[drain.partition].reached._replace(state=finished)
        if drain.found and not self._rules.drops_as_it_finishes:
            late = _sorted(world.drains, drain._replace(finished=True))
            world = world._replace(drains=late)
        elif drain.found:
            server = server.dropped()
        yield f"drain to {drain.revision} finishes", world.reaching(drain.partition, server)

    def _fills(self, world: World) -> Steps:
        """A look at every partition, the answer computed, then stored in every partition."""
        if len(world.fills) < self._scene.fills:
            yield from self._look(world, Fill(()))
        for fill, others in _each(world.fills):
            ended = world._replace(fills=others)
            yield "a fill ends early", ended
            if len(fill.nonces) < self._scene.partitions:
                yield from self._look(ended, fill)
            elif fill.as_of is None:
                computed = fill._replace(as_of=world.history[-1])
                yield "compute", ended._replace(fills=_sorted(others, computed))
            else:
                yield from self._store(ended, fill, fill.as_of)

    def _look(self, world: World, fill: Fill) -> Steps:
        state = self._state(world, len(fill.nonces))
        if state is not None:
            looked = Fill((*fill.nonces, state.nonce))
            yield f"a fill sees {state.nonce}", world._replace(fills=_sorted(world.fills, looked))

    def _store(self, world: World, fill: Fill, as_of: Snapshot) -> Steps:
        partition = fill.filled
        mark = Mark(fill.nonces[partition], as_of[partition], self._scene.body(as_of))
        if not self._rules.may_fill(self._state(world, partition), mark):
            return
        if partition + 1 < self._scene.partitions:
            stored = fill._replace(filled=partition + 1)
            world = world._replace(fills=_sorted(world.fills, stored))
        server = world.nodes[partition].reached.filled(mark)
        yield f"fill of {partition} as of {as_of}", world.reaching(partition, server)

    def _reads(self, world: World) -> Steps:
        """The revision read, then a look at every partition, then the answer."""
        if world.reader is not None:
            yield "the reader misses", world._replace(reader=None)
            yield from self._vouch(world, world.reader)
            return
        for read in range(len(world.history)):  # as late as this is known what was read before
            yield from self._vouch(world, Reader(read, ()))

    def _vouch(self, world: World, reader: Reader) -> Steps:
        partition = len(reader.marks)
        mark = world.nodes[partition].reached.entry
        revision = world.history[reader.read][partition]
        if not self._rules.may_serve(self._state(world, partition), mark, revision):
            return
        assert mark is not None
        vouched = Reader(reader.read, (*reader.marks, mark))
        if self._rules.asks_every_partition and partition + 1 < self._scene.partitions:
            yield f"{partition} vouches", world._replace(reader=vouched)
        elif self._is_served(vouched) and not self._is_right(world, vouched):
            yield f"who read {world.history[reader.read]} is served {list(mark.stamp)}", None

    def _is_served(self, reader: Reader) -> bool:
        stamps = {mark.stamp for mark in reader.marks}
        return len(stamps) == 1 or not self._rules.compares_stamps

    def _is_right(self, world: World, reader: Reader) -> bool:
        """Whether the body is that of a snapshot no older than what the reader had read.

        The body lies in the first partition, and a stamp stands for its body.
        """
        bodies = {self._scene.body(snapshot) for snapshot in world.history[reader.read :]}
        return reader.marks[0].stamp in bodies

    def _state(self, world: World, partition: int) -> State | None:
        server = world.nodes[partition].reached
        return self._rules.believed(server.state, server.name)


_NO_KEYS: frozenset[str] = frozenset()


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


def _way(came_from: dict[World, tuple[str, World] | None], world: World) -> list[str]:
    way = []
    while (step := came_from[world]) is not None:
        label, world = step
        way.append(label)
    return way[::-1]
