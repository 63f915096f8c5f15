"""The rules that keep the cache from ever being stale: pure, without I/O and without a clock.

PostgreSQL counts the committed changes of a partition, of a tenant's documents or of what every
tenant may read: its revision. Redis holds, for each tenant, one state and the entries. Whoever
changes a state does so by compare-and-swap against the state that it judged, so these rules are the
whole protocol; `cache/scripts` only compare and store.

Why no answer is stale at revision r of a partition:
  1. A commit raises the revision; a reader learns r from PostgreSQL after its request came in.
  2. A drain reads the changes (applied, R] and what they made, as of R, sets fence to R, then finds
     what they doom, then in one step drops that and sets applied to R (`begin`, scan, `finish`).
  3. A fill that misses change c read its rows as of a revision < c. If c's drain has begun, the
     fence refuses the fill; if not, the fill is registered before the scan, which meets it.
  4. So an entry that is there while applied >= r has survived every change up to r (`may_serve`).
  5. A Redis that restarted, failed over or lost the state is another process or has no state:
     both count as none, a new nonce is drawn, and entries of the old one are no entries.
  6. A database that was restored from an older copy, or failed over to a server without its tail,
     uses revisions again, in another history. Revisions carry the name of their history. A state of
     another history counts as none (`believed`); a fill or a drain that has read another history
     than the state's is refused (`may_fill`, `begin`). So all that goes with one nonce is of one
     Redis process and of one history, and neither ever goes back.
Each partition that an entry depends on is a clock of its own in the state; all have to vouch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of partitions, all read from one history of the database.

    history: its name, another one wherever a revision may be used again; see index/migrations/0019.
    """

    history: str
    by_partition: Mapping[str, int]

    def of(self, partitions: Iterable[str]) -> "Revisions":
        """The revisions of these partitions alone."""
        return Revisions(self.history, {name: self.by_partition[name] for name in partitions})

    def reach(self, wanted: "Revisions") -> bool:
        """Whether each of the wanted revisions is one of these or lies before it."""
        known = self.by_partition
        return self.history == wanted.history and all(
            known.get(name, -1) >= at for name, at in wanted.by_partition.items()
        )


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """How far the invalidation of one partition's changes has come.

    fence:   the revision whose invalidation has begun.
    applied: the revision up to which it is complete; never above fence.
    """

    fence: int
    applied: int


@dataclass(frozen=True, slots=True)
class State:
    """Of one tenant's entries, on one Redis process and in one history of the database.

    run:      the name of the server that it was made on, another one after each promotion.
    nonce:    drawn anew whenever the state is made; entries carry it.
    history:  that the revisions are of.
    progress: of each partition that entries may depend on.
    """

    server_id: str
    nonce: str
    history: str
    progress: Mapping[str, PartitionProgress]


@dataclass(frozen=True, slots=True)
class EntryVersion:
    """What makes a cached answer one of a state's.

    nonce: of the state that it was filled under.
    as_of: the revision of each partition that the answer was computed from: what it depends on.
    """

    nonce: str
    as_of: Revisions


def valid_state(state: State | None, run: str, history: str) -> State | None:
    """The state, unless it was made on another server or in another history than the reader's.

    What it says may have been lost since, by Redis or by the database.
    """
    is_known = state is not None and (state.server_id, state.history) == (run, history)
    return state if is_known else None


def reset(run: str, nonce: str, revisions: Revisions) -> State:
    """A new state; `revisions` were read from PostgreSQL before, so nothing older can be filled."""
    progress = {name: PartitionProgress(at, at) for name, at in revisions.by_partition.items()}
    return State(run, nonce, revisions.history, progress)


def with_partitions(state: State, revisions: Revisions) -> State:
    """The state with those partitions too; until now nothing that depends on them was filled.

    As for a reset, `revisions` were read from PostgreSQL before.
    """
    new = {
        name: PartitionProgress(at, at)
        for name, at in revisions.by_partition.items()
        if name not in state.progress
    }
    return replace(state, progress={**state.progress, **new}) if new else state


def may_serve(state: State | None, mark: EntryVersion | None, revisions: Revisions) -> bool:
    """Whether an answer with this mark is right at `revisions`, of all that it depends on."""
    return (
        state is not None
        and mark is not None
        and mark.nonce == state.nonce
        and all(
            name in state.progress and state.progress[name].applied >= at
            for name, at in revisions.by_partition.items()
        )
    )


def valid_until(state: State, mark: EntryVersion, revisions: Revisions) -> Revisions:
    """Up to which an answer that may be served is right: it may be newer than what is drained.

    Right as of its rows, and after all that was drained since; each partition by itself.
    """
    as_of = mark.as_of.by_partition
    return Revisions(
        state.history,
        {
            name: max(state.progress[name].applied, as_of.get(name, at))
            for name, at in revisions.by_partition.items()
        },
    )


def may_fill(state: State | None, mark: EntryVersion) -> bool:
    """Whether an answer computed as of `mark.as_of`, begun under `mark.nonce`, may be stored.

    It was computed after the state was judged, perhaps on a connection that leads elsewhere.
    """
    return (
        state is not None
        and state.nonce == mark.nonce
        and state.history == mark.as_of.history
        and all(
            name in state.progress and state.progress[name].fence <= at
            for name, at in mark.as_of.by_partition.items()
        )
    )


def pending_revisions(state: State | None, revisions: Revisions) -> Mapping[str, int]:
    """Those of the revisions that have changes to drain; without a state nothing is served."""
    progress = {} if state is None else state.progress
    return {
        name: at
        for name, at in revisions.by_partition.items()
        if name in progress and progress[name].applied < at
    }


def ahead(state: State | None, revisions: Revisions) -> Mapping[str, int]:
    """What the state has applied beyond the revisions: since they were read, or the database has
    gone back without another name for its history.
    """
    progress = {} if state is None else state.progress
    return {
        name: progress[name].applied
        for name, at in revisions.by_partition.items()
        if name in progress and progress[name].applied > at
    }


def raise_fence(state: State, revisions: Revisions) -> State | None:
    """From here on, no fill that misses a change up to `revisions` is accepted.

    None if they are of another history: what was read says nothing of the state's entries.
    """
    if revisions.history != state.history:
        return None
    raised = {
        name: replace(state.progress[name], fence=max(state.progress[name].fence, at))
        for name, at in revisions.by_partition.items()
    }
    return replace(state, progress={**state.progress, **raised})


def mark_applied(state: State | None, begun: State, revisions: Mapping[str, int]) -> State | None:
    """All that the changes (begun's applied, revisions] doom is dropped in the step that stores it.

    None if `state` has moved on since `begun`, so that what was found may not be all there is.
    """
    if state is None or state.nonce != begun.nonce:
        return None
    for name, at in revisions.items():
        now = state.progress[name]
        if now.applied != begun.progress[name].applied or now.fence < at:
            return None
    applied = {name: replace(state.progress[name], applied=at) for name, at in revisions.items()}
    return replace(state, progress={**state.progress, **applied})
