"""Worlds of the model of the protocol: what there is at one time of servers, drains and fills.

Named tuples, not dataclasses: a search hashes millions of them.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from cache.protocol import EntryVersion, PartitionProgress, Revisions, State

KEY = "key"  # the record of the one entry; a registry also holds its nonce
PARTITIONS = ("tenant", "public")


class ModelSnapshot(NamedTuple):
    """PostgreSQL at one time: of each partition the revision, and what it gives to the answer.

    history: its number; two histories use the same revisions for different contents.
    """

    history: int
    revisions: tuple[int, ...]
    contents: tuple[int, ...]


class ModelEntry(NamedTuple):
    nonce: str
    snapshot: ModelSnapshot

    @property
    def mark(self) -> EntryVersion:
        return EntryVersion(self.nonce, revisions(self.snapshot))


class ModelServer(NamedTuple):
    """One Redis process; a replica has no name of its own."""

    name: str
    state: "Frozen | None"
    entry: ModelEntry | None
    registry: frozenset[str]

    def renewed(self, state: State) -> "ModelServer":
        return self._replace(state=frozen(state), registry=frozenset([state.nonce]))

    def dropped(self) -> "ModelServer":
        return self._replace(entry=None, registry=self.registry - {KEY})


class Frozen(NamedTuple):
    """A state that can be hashed."""

    run: str
    nonce: str
    history: str
    progress: tuple[tuple[str, int, int], ...]

    def thawed(self) -> State:
        return _thawed(self)


@cache
def _thawed(state: Frozen) -> State:
    """One state for all worlds that have it; no rule changes a state in place."""
    progress = {name: PartitionProgress(fence, applied) for name, fence, applied in state.progress}
    return State(state.run, state.nonce, state.history, progress)


def frozen(state: State) -> Frozen:
    progress = ((name, one.fence, one.applied) for name, one in state.progress.items())
    return Frozen(state.server_id, state.nonce, state.history, tuple(sorted(progress)))


@cache
def revisions(snapshot: ModelSnapshot) -> Revisions:
    numbers = dict(zip(PARTITIONS, snapshot.revisions, strict=False))
    return Revisions(f"history {snapshot.history}", numbers)


class ModelNode(NamedTuple):
    """The server that commands reach, and another: its replica, or one that was reached before."""

    reached: ModelServer
    other: ModelServer | None


class Drain(NamedTuple):
    """Of one partition's changes as of `read`.

    begun: the state as this drain has left it.
    found: whether the scan met an entry that is doomed; None until it has ended.
    """

    partition: int
    read: ModelSnapshot
    begun: Frozen
    found: bool | None = None
    finished: bool = False

    @property
    def reached(self) -> Mapping[str, int]:
        return {PARTITIONS[self.partition]: self.read.revisions[self.partition]}


class Fill(NamedTuple):
    nonce: str
    snapshot: ModelSnapshot | None = None


class Remembered(NamedTuple):
    """The answer in the memory of a process, and what it is known good up to."""

    good: tuple[str, tuple[tuple[str, int], ...]]
    contents: tuple[int, ...]

    @property
    def revisions(self) -> Revisions:
        history, numbers = self.good
        return Revisions(history, dict(numbers))


class ProtocolWorld(NamedTuple):
    """histories: PostgreSQL after each commit, by its history; the last one takes commits.

    nonces, names: how many have been drawn.
    """

    histories: tuple[tuple[ModelSnapshot, ...], ...]
    node: ModelNode
    nonces: int = 1
    names: int = 1
    drains: tuple[Drain, ...] = ()
    fills: tuple[Fill, ...] = ()
    memory: Remembered | None = None

    def reaching(self, server: ModelServer) -> "ProtocolWorld":
        return self._replace(node=self.node._replace(reached=server))
