"""Read leases as a machine of small steps. The rules are those of `regions.read_lease`.

A step is one statement on the primary, one message, one task of a process, a tick of the clock, or
one fault.
  Writers commit, read the leases, wait, and acknowledge; each may pause between two steps. They
  share when they first saw each renewal, and also look for renewals beside their writes.
  Messages to a holder arrive at any later time, in any order, or never.
  A holder renews in three steps: the lease is stored, what moved is read, the reply arrives. It
  learns of the tenant in two. It may lose all that it knows.
  The clock of a holder may fall behind by less than the margin.
  The primary fails over once. The new one has every commit that was acknowledged, perhaps lacks
  others, and has no leases. The old one is dead. A writer whose commit is lost never acknowledges.
  A request arrives at a holder, which compares the lease with its clock, reads what it has heard,
  and answers at these revisions. The answer must contain every commit that was acknowledged before
  the request arrived. A request that arrives earlier needs less, and one that needs nothing is
  always answered rightly: so one step is to arrive, when something is acknowledged, and to compare.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

from gateway.extensions.regions import read_lease
from gateway.extensions.regions.read_lease import (
    HeldLease,
    Renewal,
    SeenLease,
    SeenLeases,
    StoredLease,
)
from tests import exploration
from tests.exploration import Exploration

TENANT = "acme"
TICK_S = 5.0
DURATION_S = 10.0
LAG_S = 1.0  # of a holder's clock: MARGIN of the duration
History: TypeAlias = tuple[int, ...]  # its commits, in order
Steps: TypeAlias = "exploration.Steps[LeaseWorld]"


@dataclass(frozen=True, slots=True)
class ModelCounters:
    history: str
    revision: int

    def is_before(self, earlier: "ModelCounters") -> bool:
        return self.history == earlier.history and self.revision < earlier.revision


Held: TypeAlias = HeldLease[ModelCounters]


class FrozenLease(NamedTuple):
    """A `HeldLease` that can be hashed; known, announced: revisions of the tenant."""

    until_s: float
    history: str | None
    since: int | None
    epoch: int
    known: int | None
    announced: int | None

    def thawed(self) -> Held:
        return _thawed(self)


@cache
def _thawed(lease: FrozenLease) -> Held:
    """One lease for all worlds that have it; no rule changes a lease in place."""
    known, announced = (
        {} if revision is None else {TENANT: ModelCounters(lease.history or "", revision)}
        for revision in (lease.known, lease.announced)
    )
    return HeldLease(lease.until_s, lease.history, lease.since, lease.epoch, known, announced)


def frozen(lease: Held) -> FrozenLease:
    known, announced = (
        counters[TENANT].revision if TENANT in counters else None
        for counters in (lease.known, lease.announced)
    )
    return FrozenLease(lease.until_s, lease.history, lease.since, lease.epoch, known, announced)


NOTHING = frozen(HeldLease())


class ModelRenewal(NamedTuple):
    """stored_in: the number of the history. read: the commits when what moved was read."""

    begun_at_s: float
    since: int | None
    epoch: int
    early: int | None = None  # of the mutant that reads before the lease is stored
    stored_in: int | None = None
    read: int | None = None


class Learning(NamedTuple):
    epoch: int
    history: int | None = None
    revision: int | None = None


class Request(NamedTuple):
    """needed: commits that were acknowledged when it arrived. read: early, by a mutant."""

    needed: frozenset[int]
    read: tuple[str, int] | None = None


class ModelHolder(NamedTuple):
    lease: FrozenLease = NOTHING
    lag_s: float = 0.0
    renewal: ModelRenewal | None = None
    learning: Learning | None = None
    request: Request | None = None


class Write(NamedTuple):
    """A write in the number of a history; leases: as read, with when and where that was."""

    commit: int
    history: int
    leases: tuple[SeenLease, ...] | None = None
    read_at_s: float = 0.0
    read_in: int = 0
    is_settled: bool = False
    acknowledged: frozenset[int] = frozenset()


class Message(NamedTuple):
    commit: int
    history: str
    revision: int
    holder: int


class LeaseWorld(NamedTuple):
    """leases: by holder the number of the last renewal, which begins anew in each history.

    removals: that writers have sent. seen: the history and leases that writers have last read.
    look_s: when a look at the leases began.
    """

    holders: tuple[ModelHolder, ...]
    histories: tuple[History, ...] = ((),)
    now_s: float = 0.0
    leases: frozenset[tuple[int, int]] = frozenset()
    renewals: int = 0
    is_settled: bool = True
    writes: frozenset[Write] = frozenset()
    begun: int = 0
    acknowledged: frozenset[int] = frozenset()
    messages: frozenset[Message] = frozenset()
    removals: frozenset[tuple[int, int]] = frozenset()
    renewed_before: int = 0
    seen: tuple[str | None, tuple[SeenLease, ...]] = (None, ())
    looks: int = 0
    look_s: float | None = None

    @property
    def current(self) -> int:
        return len(self.histories) - 1

    @property
    def commits(self) -> History:
        return self.histories[-1]

    def with_holder(self, number: int, holder: ModelHolder) -> "LeaseWorld":
        others = self.holders[:number], self.holders[number + 1 :]
        return self._replace(holders=(*others[0], holder, *others[1]))


def name_of(history: int) -> str:
    return f"history {history}"


class Renew(Protocol):
    """now_s: when the reply arrives, for a mutant."""

    def __call__(
        self,
        lease: Held,
        renewal: Renewal[ModelCounters],
        epoch: int,
        begun_at_s: float,
        now_s: float,
        /,
    ) -> Held: ...


def renewed(
    lease: Held, renewal: Renewal[ModelCounters], epoch: int, begun_at_s: float, _now_s: float
) -> Held:
    return lease.renewed(renewal, epoch, begun_at_s, DURATION_S)


@dataclass(frozen=True, slots=True)
class Rules:
    """All that keeps an answer from missing a write; a mutant replaces one part of it."""

    renewed: Renew = renewed
    heard: Callable[[Held, str, Mapping[str, ModelCounters]], Held] = HeldLease.heard
    learned: Callable[[Held, int, Mapping[str, ModelCounters]], Held] = HeldLease.learned
    seen: Callable[[SeenLeases, str, Sequence[StoredLease], float], SeenLeases] = SeenLeases.read
    awaited: Callable[[Sequence[SeenLease], frozenset[str], float], Sequence[SeenLease]] = (
        read_lease.awaited
    )
    may_acknowledge: Callable[..., bool] = read_lease.may_acknowledge
    removes_what_was_read: bool = True
    settles_what_was_read: bool = True
    reads_after_storing: bool = True
    reads_leases_after_commit: bool = True
    reads_heard_after_check: bool = True
    sees_at_the_reply: bool = True
    checks_after_arrival: bool = True


@dataclass(frozen=True, slots=True)
class Scene:
    """The bounds of an exploration.

    writes, ticks, renewals: in all. fails_over, lags: at most once.
    forgets: up to this epoch. knows: whether the holders know of a first write, which is not
    acknowledged, from leases that have run out and were removed. looks: of writers at the leases,
    beside their writes. seen: a lease of the first holder that writers have seen to run out: its
    history and its number.
    """

    holders: int = 1
    writes: int = 2
    ticks: int = 3
    renewals: int = 2
    fails_over: bool = False
    lags: bool = False
    learns: bool = True
    forgets: int = 0
    knows: bool = False
    looks: int = 0
    seen: tuple[str, int] | None = None


def search(scene: Scene, rules: Rules, *, deepest_first: bool = False) -> Exploration:
    start = LeaseWorld((ModelHolder(),) * scene.holders)
    if scene.knows:
        holder = ModelHolder(FrozenLease(-DURATION_S, name_of(0), 1, 0, 1, None))
        start = LeaseWorld(
            (holder,) * scene.holders, histories=((1,),), writes=frozenset({Write(1, 0)}), begun=1
        )
    if scene.seen is not None:
        history, number = scene.seen
        start = start._replace(seen=(history, (SeenLease("0", number, start.now_s),)))
    steps = ReadLeaseModel(scene, rules).steps
    return exploration.explore(start, steps, deepest_first=deepest_first)


class ReadLeaseModel:
    """All that can happen next."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules

    def steps(self, world: LeaseWorld) -> Steps:
        yield from self._time(world)
        yield from self._writes(world)
        yield from self._looks(world)
        yield from self._messages(world)
        yield from self._fails_over(world)
        for number, holder in enumerate(world.holders):
            yield from self._renews(world, number, holder)
            yield from self._learns(world, number, holder)
            if holder.lease.epoch < self._scene.forgets:
                emptied = holder._replace(lease=frozen(holder.lease.thawed().emptied()))
                yield "a holder forgets", world.with_holder(number, emptied)
            yield from self._answers(world, number, holder)

    def _time(self, world: LeaseWorld) -> Steps:
        if world.now_s < self._scene.ticks * TICK_S:
            yield "a tick", world._replace(now_s=world.now_s + TICK_S)
        if self._scene.lags and not world.holders[0].lag_s:
            slow = world.holders[0]._replace(lag_s=LAG_S)
            yield "a clock falls behind", world.with_holder(0, slow)

    def _writes(self, world: LeaseWorld) -> Steps:
        if world.begun < self._scene.writes:
            commit = world.begun + 1
            begun = world._replace(begun=commit)
            write = Write(commit, world.current)
            if self._rules.reads_leases_after_commit:
                yield "commit", _committed(begun, write)
            else:
                yield "read leases before the commit", self._reads_leases(begun, write)
        for write in world.writes:
            others = world._replace(writes=world.writes - {write})
            if write.commit not in world.commits:
                if write.history == world.current:
                    yield "commit", _announced(_committed(others, write), write)
                else:
                    yield "a commit is lost", others
            elif write.leases is None:
                yield "read leases", self._reads_leases(others, write)
            else:
                yield from self._ends(world, others, write)

    def _ends(self, world: LeaseWorld, others: LeaseWorld, write: Write) -> Steps:
        leases = write.leases or ()
        acknowledged = frozenset(map(str, write.acknowledged))
        awaiting = self._rules.awaited(leases, acknowledged, world.now_s)
        waited_s = world.now_s - write.read_at_s
        if not self._rules.may_acknowledge(
            awaiting,
            is_history_settled=write.is_settled,
            waited_s=waited_s,
            longest_s=DURATION_S,
        ):
            return
        removals = frozenset(
            (int(lease.holder), lease.number)
            for lease in read_lease.ended(leases, acknowledged, world.now_s)
        )
        yield (
            "acknowledge",
            others._replace(
                acknowledged=world.acknowledged | {write.commit},
                removals=world.removals | removals,
                is_settled=world.is_settled or self._settles(world, write, waited_s),
            ),
        )

    def _reads_leases(self, world: LeaseWorld, write: Write) -> LeaseWorld:
        after = self._seen(world, world.now_s)
        reading = write._replace(
            leases=after.seen[1],
            read_at_s=world.now_s,
            read_in=world.current,
            is_settled=world.is_settled,
        )
        after = _writing(after, reading)
        return _announced(after, reading) if write.commit in world.commits else after

    def _looks(self, world: LeaseWorld) -> Steps:
        if world.look_s is None:
            if world.looks < self._scene.looks:
                begun = world._replace(looks=world.looks + 1, look_s=world.now_s)
                yield "a look at the leases begins", begun
            return
        at_s = world.now_s if self._rules.sees_at_the_reply else world.look_s
        yield "the leases are seen", self._seen(world, at_s)._replace(look_s=None)

    def _seen(self, world: LeaseWorld, now_s: float) -> LeaseWorld:
        stored = [StoredLease(str(holder), n, DURATION_S) for holder, n in sorted(world.leases)]
        seen = self._rules.seen(SeenLeases(*world.seen), name_of(world.current), stored, now_s)
        return world._replace(seen=(seen.history, tuple(seen.leases)))

    def _settles(self, world: LeaseWorld, write: Write, waited_s: float) -> bool:
        is_same = write.read_in == world.current or not self._rules.settles_what_was_read
        return is_same and waited_s >= DURATION_S

    def _messages(self, world: LeaseWorld) -> Steps:
        for message in world.messages:
            number, counters = message.holder, ModelCounters(message.history, message.revision)
            holder = world.holders[number]
            heard = self._rules.heard(holder.lease.thawed(), message.history, {TENANT: counters})
            after = world.with_holder(number, holder._replace(lease=frozen(heard)))
            yield (
                "a holder hears",
                after._replace(
                    messages=world.messages - {message},
                    writes=frozenset(_acknowledged(each, message) for each in world.writes),
                ),
            )
        for removal in world.removals:
            left = world.leases - {removal}
            if not self._rules.removes_what_was_read:
                left = frozenset(each for each in world.leases if each[0] != removal[0])
            after = world._replace(removals=world.removals - {removal}, leases=left)
            yield "remove a lease", after

    def _fails_over(self, world: LeaseWorld) -> Steps:
        if not self._scene.fails_over or world.current:
            return
        for kept in range(len(world.commits) + 1):
            history = world.commits[:kept]
            if world.acknowledged <= set(history):
                yield (
                    f"fail over with {kept} commits",
                    world._replace(
                        histories=(*world.histories, history),
                        leases=frozenset(),
                        renewed_before=world.renewals,
                        is_settled=False,
                        removals=frozenset(),
                    ),
                )

    def _renews(self, world: LeaseWorld, number: int, holder: ModelHolder) -> Steps:
        renewal, moved = holder.renewal, len(world.commits)
        if renewal is None:
            if world.renewals < self._scene.renewals:
                clock_s = world.now_s - holder.lag_s
                early = None if self._rules.reads_after_storing else moved
                begun = ModelRenewal(clock_s, holder.lease.since, holder.lease.epoch, early)
                after = world.with_holder(number, holder._replace(renewal=begun))
                yield "a renewal begins", after._replace(renewals=world.renewals + 1)
            return
        if renewal.stored_in is None:
            stored = renewal._replace(stored_in=world.current)
            if renewal.early is not None:
                stored = stored._replace(read=min(renewal.early, moved))
            others = frozenset(each for each in world.leases if each[0] != number)
            after = world.with_holder(number, holder._replace(renewal=stored))
            yield (
                "a lease is stored",
                after._replace(leases=others | {(number, world.renewals - world.renewed_before)}),
            )
        elif renewal.read is None:
            if renewal.stored_in == world.current:
                read = holder._replace(renewal=renewal._replace(read=moved))
            else:
                read = holder._replace(renewal=None)
            yield "what moved is read", world.with_holder(number, read)
        else:
            yield (
                "a lease is held",
                world.with_holder(number, self._renewed(world, holder, renewal)),
            )
            yield "a reply is lost", world.with_holder(number, holder._replace(renewal=None))

    def _renewed(
        self, world: LeaseWorld, holder: ModelHolder, renewal: ModelRenewal
    ) -> ModelHolder:
        history, read = name_of(renewal.stored_in or 0), renewal.read or 0
        moved = {}
        if renewal.since is not None and read > renewal.since:
            moved = {TENANT: ModelCounters(history, read)}
        lease = self._rules.renewed(
            holder.lease.thawed(),
            Renewal(history, read, moved),
            renewal.epoch,
            renewal.begun_at_s,
            world.now_s - holder.lag_s,
        )
        return holder._replace(lease=frozen(lease), renewal=None)

    def _learns(self, world: LeaseWorld, number: int, holder: ModelHolder) -> Steps:
        learning = holder.learning
        if learning is None:
            if self._scene.learns and holder.lease.known is None:
                begun = holder._replace(learning=Learning(holder.lease.epoch))
                yield "learning begins", world.with_holder(number, begun)
        elif learning.revision is None:
            read = learning._replace(history=world.current, revision=len(world.commits))
            yield "the tenant is read", world.with_holder(number, holder._replace(learning=read))
        else:
            counters = ModelCounters(name_of(learning.history or 0), learning.revision)
            lease = self._rules.learned(holder.lease.thawed(), learning.epoch, {TENANT: counters})
            after = holder._replace(lease=frozen(lease), learning=None)
            yield "the tenant is learned", world.with_holder(number, after)

    def _answers(self, world: LeaseWorld, number: int, holder: ModelHolder) -> Steps:
        """By the first holder: the others are there to be waited for."""
        if number:
            return
        lease = holder.lease.thawed()
        is_held = lease.is_held(world.now_s - holder.lag_s)
        known = lease.counters_of([TENANT])
        heard = None if known is None else (known[TENANT].history, known[TENANT].revision)
        if holder.request is None:
            request = self._request(world, heard, is_held=is_held)
            if request is not None:
                yield "a request arrives", world.with_holder(0, holder._replace(request=request))
            return
        gone = world.with_holder(0, holder._replace(request=None))
        read = holder.request.read or heard
        if read is None:
            yield "the tenant is unknown", gone
        elif not self._rules.reads_heard_after_check and not is_held:
            yield "the lease has run out", gone
        else:
            history, revision = read
            commits = world.histories[int(history.split()[1])][:revision]
            needed = (
                holder.request.needed if self._rules.checks_after_arrival else world.acknowledged
            )
            yield "an answer", gone if needed <= set(commits) else None

    def _request(
        self, world: LeaseWorld, heard: tuple[str, int] | None, *, is_held: bool
    ) -> Request | None:
        """One that has arrived and was checked, and will be answered later."""
        if not self._rules.checks_after_arrival:
            return Request(frozenset()) if is_held else None
        if not world.acknowledged:
            return None
        if not self._rules.reads_heard_after_check:
            return heard and Request(world.acknowledged, heard)
        return Request(world.acknowledged) if is_held else None


def _committed(world: LeaseWorld, write: Write) -> LeaseWorld:
    histories = (*world.histories[:-1], (*world.commits, write.commit))
    return _writing(world._replace(histories=histories), write)


def _writing(world: LeaseWorld, write: Write) -> LeaseWorld:
    return world._replace(writes=world.writes | {write})


def _acknowledged(write: Write, message: Message) -> Write:
    """At once, which is the earliest."""
    if write.commit != message.commit:
        return write
    return write._replace(acknowledged=write.acknowledged | {message.holder})


def _announced(world: LeaseWorld, write: Write) -> LeaseWorld:
    messages = frozenset(
        Message(write.commit, name_of(world.current), len(world.commits), int(lease.holder))
        for lease in write.leases or ()
    )
    return world._replace(messages=world.messages | messages)
