"""The rules that keep cached answers from being stale: pure functions without I/O or a clock.

A partition is one tenant's documents, or the documents that every tenant may read. PostgreSQL
counts the committed changes of each partition: its revision. Redis holds one state and the cached
entries for each tenant. Every change of a state is a compare-and-swap against the state that the
caller read, so these rules are the whole protocol; `cache/redis/scripts` only compare and store.

Why no answer is stale at revision r of a partition:
  1. A commit raises the revision. A reader reads r from PostgreSQL after its request arrived.
  2. A drain reads the changes (applied, R] and the rows as of R. It sets fence to R
     (`raise_fence`), scans for the entries that the changes invalidate, and then drops these
     entries and sets applied to R in one step (`mark_applied`).
  3. A fill that misses change c read its rows as of a revision < c. If c's drain has begun, the
     fence refuses the fill. If not, the fill is registered before the scan, which finds it.
  4. So an entry that exists while applied >= r has survived every change up to r (`may_serve`).
  5. A Redis that restarted, failed over or lost the state is another process or has no state. Both
     count as no state: a new nonce is drawn, and entries of the old nonce are not served.
  6. A database that was restored from an older copy, or failed over to a server that lacks the last
     commits, issues the same revisions again in another history. Revisions carry the name of their
     history. A state of another history counts as no state (`valid_state`). A fill or a drain that
     read another history than the state's is refused (`may_fill`, `raise_fence`). So everything
     under one nonce belongs to one Redis process and one history, and neither goes back.
  7. In a Redis Cluster any node may answer for a tenant, even two at once: each has a state of its
     own, which only drains that scan its own registry raise. A moved state names the process that
     it left, so it counts as no state until it comes back there. Keys move one by one, and some may
     come back later than others. So an entry counts only if the registry lists it under its own
     number, and the registry holds the nonce; and entries are dropped only where the registry is.
The state holds the progress of each partition separately; an entry is served only if all partitions
that it depends on allow it.

Why callers who see the same may share an answer, whatever grants they hold:
  8. A key may name what a scope sees: the audiences that it admits, of those that the tenant has,
     and by which name each shows (`index/model/sight.py`). The tenant's audience revision rises
     with each change of the set of audiences. So equal audience revisions of a history mean equal
     sets, and a key belongs to the audience revision that it was made at.
  9. Revisions carry the audience revision that the tenant has at them. An answer is stored under
     such a key, and served from it, only if it is correct at revisions with the audience revision
     of the key (`Revisions.fit`). So the callers of a key see, at these revisions, the same
     documents by the same names.
 10. An entry is registered with the scope of the caller for whom it was computed. That scope admits
     all that the key names, so each change that matters to the key was judged. It may admit more by
     now; that drops the entry needlessly, or does not change its body.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

_NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of partitions, all read from one history of the database.

    history: its name; it changes whenever a revision may be reused, see `history_of`
        in index/migrations/0001_schema.sql.
    audiences: the audience revisions of partitions, at these revisions; required ones name those of
        the key, and none for a key that does not depend on them.
    """

    history: str
    by_partition: Mapping[str, int]
    audiences: Mapping[str, int] = field(default_factory=lambda: _NONE)

    def of(self, partitions: Iterable[str]) -> "Revisions":
        """The revisions of only these partitions."""
        numbers = {name: self.by_partition[name] for name in partitions}
        audiences = {name: number for name, number in self.audiences.items() if name in numbers}
        return Revisions(self.history, numbers, audiences)

    def without_audiences(self) -> "Revisions":
        """For a key that does not depend on them."""
        return replace(self, audiences=_NONE) if self.audiences else self

    def reach(self, required: "Revisions") -> bool:
        """Whether these revisions are at or past each of the required ones, in the same history.

        They also have to fit them.
        """
        if self.history != required.history:
            return False
        # Loops: each cached answer comes by here, and a generator takes three times as long.
        by_partition = self.by_partition
        for name, revision in required.by_partition.items():
            if by_partition.get(name, -1) < revision:
                return False
        return self.fit(required)

    def fit(self, required: "Revisions") -> bool:
        """Whether the audience revisions are those that the key of the answer was made at."""
        if not required.audiences:
            return True
        if self.history != required.history:
            return False
        audiences = self.audiences
        for name, number in required.audiences.items():  # noqa: SIM110  a loop, as in `reach`
            if audiences.get(name) != number:
                return False
        return True


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """The progress of the invalidation of one partition's changes.

    fence:    the revision whose invalidation has begun.
    applied:  the revision up to which it is complete; never above fence.
    audience: the audience revision at `applied`; None if it is not known.
    """

    fence: int
    applied: int
    audience: int | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The state of one tenant's entries, on one Redis process and in one history of the database.

    server_id: the server that the state was created on; it changes at each start and promotion.
    nonce:     drawn anew at each reset; entries carry it.
    history:   the history that the revisions belong to.
    progress:  by partition that entries may depend on.
    """

    server_id: str
    nonce: str
    history: str
    progress: Mapping[str, PartitionProgress]


@dataclass(frozen=True, slots=True)
class EntryVersion:
    """The nonce and the revisions under which a cached answer was stored.

    nonce: of the state at the fill.
    as_of: the revision that the answer was computed at, of each partition that it depends on.
    """

    nonce: str
    as_of: Revisions


def valid_state(state: State | None, server_id: str, history: str) -> State | None:
    """The state, or None if it belongs to another server or history than the reader's.

    Redis or the database may have lost changes since such a state was written.
    """
    is_valid = state is not None and (state.server_id, state.history) == (server_id, history)
    return state if is_valid else None


def reset(server_id: str, nonce: str, revisions: Revisions) -> State:
    """A new state at `revisions`, read from PostgreSQL before, so that it accepts no older fill."""
    progress = {name: _progress_at(revisions, name) for name in revisions.by_partition}
    return State(server_id, nonce, revisions.history, progress)


def with_partitions(state: State, revisions: Revisions) -> State:
    """The state with these partitions added; no entry that depends on them was filled before.

    As for a reset, `revisions` were read from PostgreSQL before.
    """
    new = {
        name: _progress_at(revisions, name)
        for name in revisions.by_partition
        if name not in state.progress
    }
    return replace(state, progress={**state.progress, **new}) if new else state


def _progress_at(revisions: Revisions, name: str) -> PartitionProgress:
    revision = revisions.by_partition[name]
    return PartitionProgress(revision, revision, revisions.audiences.get(name))


def may_serve(state: State | None, version: EntryVersion | None, revisions: Revisions) -> bool:
    """Whether an answer of this version is correct at `revisions`, which name all it depends on."""
    return (
        state is not None
        and version is not None
        and version.nonce == state.nonce
        and all(
            name in state.progress and state.progress[name].applied >= revision
            for name, revision in revisions.by_partition.items()
        )
        and valid_until(state, version, revisions).fit(revisions)
    )


def valid_until(state: State, version: EntryVersion, revisions: Revisions) -> Revisions:
    """The revisions up to which an answer that may be served is correct.

    For each partition the greater of the applied revision and the one the answer was computed at.
    """
    as_of, audiences = version.as_of.by_partition, {}
    for name, audience in version.as_of.audiences.items():
        applied = state.progress.get(name)
        at = audience if applied is None or applied.applied <= as_of[name] else applied.audience
        if at is not None:
            audiences[name] = at
    return Revisions(
        state.history,
        {
            name: max(state.progress[name].applied, as_of.get(name, revision))
            for name, revision in revisions.by_partition.items()
        },
        audiences,
    )


def may_fill(state: State | None, version: EntryVersion) -> bool:
    """Whether an answer computed at `version.as_of` under `version.nonce` may be stored.

    The history is compared because the answer may come from another database server than the state.
    """
    return (
        state is not None
        and state.nonce == version.nonce
        and state.history == version.as_of.history
        and all(
            name in state.progress and state.progress[name].fence <= revision
            for name, revision in version.as_of.by_partition.items()
        )
    )


def pending_revisions(state: State | None, revisions: Revisions) -> Mapping[str, int]:
    """The revisions whose changes are not drained yet; empty without a state."""
    progress = {} if state is None else state.progress
    return {
        name: revision
        for name, revision in revisions.by_partition.items()
        if name in progress and progress[name].applied < revision
    }


def ahead(state: State | None, revisions: Revisions) -> Mapping[str, int]:
    """The applied revisions that are greater than the given ones.

    Either they were applied after `revisions` was read, or the database was restored from an older
    copy and kept the name of its history.
    """
    progress = {} if state is None else state.progress
    return {
        name: progress[name].applied
        for name, revision in revisions.by_partition.items()
        if name in progress and progress[name].applied > revision
    }


def raise_fence(state: State, revisions: Revisions) -> State | None:
    """The state that refuses every fill that misses a change up to `revisions`.

    None if `revisions` belong to another history than the state's.
    """
    if revisions.history != state.history:
        return None
    raised = {
        name: replace(state.progress[name], fence=max(state.progress[name].fence, revision))
        for name, revision in revisions.by_partition.items()
    }
    return replace(state, progress={**state.progress, **raised})


def mark_applied(
    state: State | None,
    begun: State,
    revisions: Mapping[str, int],
    audiences: Mapping[str, int] = _NONE,
) -> State | None:
    """The state with `revisions` applied; the caller drops the entries in the same step.

    begun: the state after `raise_fence`, before the scan.
    audiences: the audience revisions at `revisions`, as the drain has read them.
    None if `state` has changed since `begun`, so that the scan may have missed entries.
    """
    if state is None or state.nonce != begun.nonce:
        return None
    for name, revision in revisions.items():
        current = state.progress[name]
        if current.applied != begun.progress[name].applied or current.fence < revision:
            return None
    applied = {
        name: replace(state.progress[name], applied=revision, audience=audiences.get(name))
        for name, revision in revisions.items()
    }
    return replace(state, progress={**state.progress, **applied})
