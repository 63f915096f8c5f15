"""The rules that keep the cache from ever being stale: pure, without I/O and without a clock.

PostgreSQL counts a partition's committed changes (its revision). Redis holds, for each partition,
one state and the entries. Whoever changes a state does so by compare-and-swap against the state
that it judged, so these rules are the whole protocol; `cache/scripts` only compare and store.

Why no answer is stale at revision r:
  1. A commit raises the revision; a reader learns r from PostgreSQL after its request came in.
  2. A drain of the changes (a, R] sets fence to R, then finds what they doom, then in one step
     drops that and sets applied to R (`begin`, scan, `finish`).
  3. A fill that misses change c read its rows as of a revision < c. If c's drain has begun, the
     fence refuses the fill; if not, the fill is registered before the scan, which meets it.
  4. So an entry that is there while applied >= r has survived every change up to r (`may_serve`).
  5. A Redis that restarted, failed over or lost the state is another process or has no state:
     both count as none, a new nonce is drawn, and entries of the old one are no entries.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class State:
    """Of one partition, on one Redis process.

    run:     the name of the server that it was made on, another one after each promotion.
    nonce:   drawn anew whenever the state is made; entries carry it.
    fence:   the revision whose invalidation has begun.
    applied: the revision up to which invalidation is complete; never above fence.
    """

    run: str
    nonce: str
    fence: int
    applied: int


@dataclass(frozen=True, slots=True)
class Mark:
    """What one partition knows of one cached answer.

    nonce: of the state that it was filled under.
    as_of: the revision, of this partition, whose rows the answer was computed from.
    stamp: the digest of the answer's body, which ties the marks of several partitions together.
    """

    nonce: str
    as_of: int
    stamp: bytes


def believed(state: State | None, run: str) -> State | None:
    """The state, unless it was made on another server: what it says may have been lost since."""
    return state if state is not None and state.run == run else None


def reset(run: str, nonce: str, revision: int) -> State:
    """A new state; `revision` was read from PostgreSQL before, so nothing older can be filled."""
    return State(run=run, nonce=nonce, fence=revision, applied=revision)


def may_serve(state: State | None, mark: Mark | None, revision: int) -> bool:
    """Whether an answer with this mark is right at `revision`, as far as this partition goes."""
    return (
        state is not None
        and mark is not None
        and mark.nonce == state.nonce
        and state.applied >= revision
    )


def may_fill(state: State | None, mark: Mark) -> bool:
    """Whether an answer computed as of `mark.as_of`, begun under `mark.nonce`, may be stored."""
    return state is not None and state.nonce == mark.nonce and state.fence <= mark.as_of


def begin(state: State, revision: int) -> State:
    """From here on, no fill that misses a change up to `revision` is accepted."""
    return replace(state, fence=max(state.fence, revision))


def finish(state: State | None, begun: State, revision: int) -> State | None:
    """All that the changes (begun.applied, revision] doom is dropped in the step that stores this.

    None if `state` has moved on since `begun`, so that what was found may not be all there is.
    """
    if state is None or state.nonce != begun.nonce or state.applied != begun.applied:
        return None
    return replace(state, applied=revision) if state.fence >= revision else None
