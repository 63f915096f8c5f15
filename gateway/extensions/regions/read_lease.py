"""The rules of read leases: pure functions without I/O or a clock.

A holder is a gateway that may answer from the revisions that it has heard of, without asking the
primary (the PostgreSQL that takes the writes). In return a write is acknowledged only after each
holder has heard of it, or after the lease of that holder has run out. All clocks are monotonic, and
only durations are compared: no two clocks need to show the same time.

Why an answer at the heard revisions contains every write that was acknowledged before the request:
  1. A holder notes its clock. The primary then stores the lease and commits. In a later snapshot it
     reads what has moved since the renewal before. Only then the lease counts, from the noted time
     (`renewed`). It counts for a margin less than its duration, because clocks run apart.
  2. A writer commits, and only then reads the leases. It announces the new revisions to each holder
     and waits for its acknowledgement. A lease that is not acknowledged counts as run out after its
     duration (`awaited`), from the reply that first showed this renewal to the writer's process
     (`SeenLeases`): the renewal was stored before that. A process whose writes wait looks for
     renewals, so that the last one of a holder that has gone silent delays no further write.
  3. If the writer's reading misses a lease, that lease was stored later. So the snapshot of its
     renewal contains the commit, and the holder has heard of it when the lease begins to count. If
     the reading finds the lease, the writer waits for it.
  4. A lease that has run out is removed, unless it was renewed since the writer read it (`ended`).
     So a holder that is gone delays writes once.
  5. A request arrives; then the lease is compared with the clock (`is_held`); then the heard
     revisions are read (`counters_of`); then the answer is computed at these or later revisions. A
     pause between two of these steps makes the answer newer, never older.
  6. A tenant that is not known is read from the primary. What was announced of it since the reading
     began counts too, so the greater of both is known (`learned`). An announcement alone does not
     make a tenant known, because a later commit may have been announced before. What was forgotten
     since the reading began is missing, so then the result is not kept.
  7. A database that was restored, or failed over to a server that lacks the last commits, has
     another history, and may have lost leases. So nothing is acknowledged in a new history until
     the longest lease has run out since a writer first read its name (`may_acknowledge`). A holder
     that hears of another history forgets everything.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, Self, TypeVar

MARGIN = 0.1  # of a lease's duration: the clocks of holder and writer run apart by less than this
TENANTS_MAX = 10_000  # that a holder has heard of; about 3 MB; beyond that it forgets all of them


class Counters(Protocol):
    """The counters of one tenant in one history; each of them only rises."""

    @property
    def history(self) -> str: ...

    def is_before(self, earlier: Self, /) -> bool:
        """Whether one of these counters is less than the earlier one of the same history."""


C = TypeVar("C", bound=Counters)


@dataclass(frozen=True, slots=True)
class Renewal(Generic[C]):
    """What the primary returns for a lease that it has stored.

    history, moved: read in a later snapshot than the one that stored the lease.
    since: the position of that snapshot, from which the next renewal continues.
    moved: the counters of the tenants that have changed since the position of the renewal before;
        of none if there was no such position.
    """

    history: str
    since: int
    moved: Mapping[str, C]


@dataclass(frozen=True, slots=True)
class HeldLease(Generic[C]):
    """What a holder knows; an immutable value.

    until_s: on the holder's clock, when the lease has run out.
    history: of all that is known; None if nothing is.
    since: the position of the last renewal; None before the first one.
    epoch: rises whenever something is forgotten.
    known: by tenant, counters that are not less than those of any acknowledged write.
    announced: by tenant that is not known, the greatest counters that were announced.
    """

    until_s: float = float("-inf")
    history: str | None = None
    since: int | None = None
    epoch: int = 0
    known: Mapping[str, C] = field(default_factory=dict)
    announced: Mapping[str, C] = field(default_factory=dict)

    def renewed(
        self, renewal: Renewal[C], epoch: int, begun_at_s: float, duration_s: float
    ) -> "HeldLease[C]":
        """After a renewal that began at this epoch and time, before the lease was stored."""
        lease: HeldLease[C]
        if self.since is None or self.history != renewal.history:
            lease = HeldLease(history=renewal.history, epoch=self.epoch + 1)
        else:
            moved = renewal.moved
            if epoch != self.epoch:
                moved = {tenant: moved[tenant] for tenant in moved if tenant in self.known}
            lease = self._knowing(moved)
        until_s = begun_at_s + duration_s * (1 - MARGIN)
        return replace(lease, until_s=until_s, since=renewal.since)

    def heard(self, history: str, counters: Mapping[str, C]) -> "HeldLease[C]":
        """After an announcement, which may be acknowledged now."""
        if history != self.history:
            return self  # nothing is acknowledged in a later history before this lease has run out
        known = {tenant: counters[tenant] for tenant in counters if tenant in self.known}
        announced = {
            tenant: _newer(each, self.announced.get(tenant))
            for tenant, each in counters.items()
            if tenant not in self.known
        }
        lease = self._knowing(known)
        return _bounded(replace(lease, announced={**lease.announced, **announced}))

    def learned(self, epoch: int, counters: Mapping[str, C]) -> "HeldLease[C]":
        """After counters were read from the primary, by a reading that began at this epoch."""
        is_same = all(each.history == self.history for each in counters.values())
        return _bounded(self._knowing(counters)) if is_same and epoch == self.epoch else self

    def dropped(self) -> "HeldLease[C]":
        """No lease, until the next renewal; what is known stays."""
        return replace(self, until_s=float("-inf"))

    def emptied(self) -> "HeldLease[C]":
        """The lease, with no tenant known."""
        return replace(self, epoch=self.epoch + 1, known={}, announced={})

    def is_held(self, now_s: float) -> bool:
        """Whether `counters_of` is enough for a request that arrived before `now_s`."""
        return now_s < self.until_s

    def counters_of(self, tenants: Collection[str]) -> Mapping[str, C] | None:
        """The known counters; None if a tenant is unknown. Read them after `is_held`."""
        if any(tenant not in self.known for tenant in tenants):
            return None
        return {tenant: self.known[tenant] for tenant in tenants}

    def _knowing(self, counters: Mapping[str, C]) -> "HeldLease[C]":
        """With the greatest of these counters, of those known and of those announced."""
        if not counters:
            return self
        known, announced = {**self.known}, {**self.announced}
        for tenant, each in counters.items():
            known[tenant] = _newer(_newer(each, known.get(tenant)), announced.pop(tenant, None))
        return replace(self, known=known, announced=announced)


def _bounded(lease: HeldLease[C]) -> HeldLease[C]:
    tenants = len(lease.known) + len(lease.announced)
    return lease.emptied() if tenants > TENANTS_MAX else lease


def _newer(counters: C, others: C | None) -> C:
    return others if others is not None and counters.is_before(others) else counters


@dataclass(frozen=True, slots=True)
class StoredLease:
    """A lease as the primary stores it.

    number: of its last renewal; a history has each number once.
    """

    holder: str
    number: int
    duration_s: float


@dataclass(frozen=True, slots=True)
class SeenLease:
    """A stored lease, and when it has run out at the latest, on the writer's clock."""

    holder: str
    number: int
    until_s: float


@dataclass(frozen=True, slots=True)
class SeenLeases:
    """What a process that writes has last read of the leases; an immutable value.

    history: that all of them are of; None before the first reading.
    """

    history: str | None = None
    leases: Sequence[SeenLease] = ()

    def read(self, history: str, stored: Iterable[StoredLease], now_s: float) -> "SeenLeases":
        """After a reading whose reply came at `now_s`: each renewal counts from its first one."""
        known: Mapping[tuple[str, int], SeenLease] = {}
        if history == self.history:
            known = {(seen.holder, seen.number): seen for seen in self.leases}
        leases = tuple(
            known.get((lease.holder, lease.number))
            or SeenLease(lease.holder, lease.number, now_s + lease.duration_s)
            for lease in stored
        )
        return SeenLeases(history, leases)


def awaited(
    leases: Iterable[SeenLease], acknowledged: Collection[str], now_s: float
) -> Sequence[SeenLease]:
    """The leases whose holders may still answer without the write.

    leases: read after the write was committed. acknowledged: the holders that have heard of it.
    """
    return [lease for lease in leases if lease.holder not in acknowledged and now_s < lease.until_s]


def ended(
    leases: Iterable[SeenLease], acknowledged: Collection[str], now_s: float
) -> Sequence[SeenLease]:
    """The leases to remove, unless they were renewed since they were read."""
    return [
        lease for lease in leases if lease.holder not in acknowledged and now_s >= lease.until_s
    ]


def may_acknowledge(
    awaiting: Collection[SeenLease],
    *,
    is_history_settled: bool,
    waited_s: float,
    longest_s: float,
) -> bool:
    """Whether the writer may acknowledge its committed write.

    awaiting: the leases that are `awaited`.
    waited_s: since the reply of the reading of the leases.
    is_history_settled: whether somebody has waited for `longest_s` in the history of the commit.
    longest_s: the duration of the longest lease that may have been lost with an earlier history.
    """
    return not awaiting and (is_history_settled or waited_s >= longest_s)
