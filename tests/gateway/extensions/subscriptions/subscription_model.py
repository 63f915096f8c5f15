"""A subscriber, the process that follows changes for it, and writers, as a machine of small steps.

The rules of pinned answers are those of `PinnedAnswers` itself; the steps are those of
`ChangeFollower` and `SubscriptionWatcher`, parted wherever these wait for PostgreSQL.
  Writers commit changes, which concern the answer or do not, and toggle a right of the subscriber.
  Each commit sends a message, which arrives at any later time, in any order, or is lost. After a
  loss the counters are read anew.
  The follower reads the changes since what it has reached, and applies them later. It reads the
  subscriber's rights, and compares them later.
  The watcher looks when it was woken: it reads its rights and the revision, takes the pinned answer
  or reads the rows, and reports the answer if the subscriber has not seen it.
When nothing is left to happen, the subscriber must have seen the answer of now, and the revisions
that it was told must have risen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from gateway.extensions.subscriptions.pinned_answers import PinnedAnswers
from tests import exploration
from tests.cache.support.worker import Changed, FakeDependencyIndex
from tests.exploration import Exploration

TENANT = "acme"
HISTORY = "history"
WATCHER = "watcher"
CONCERNING, OTHER = b"leave", b"cars"
Answer: TypeAlias = tuple[int, bool]  # how many changes it shows, and with which right
Pinned: TypeAlias = PinnedAnswers[Changed, str]
Steps: TypeAlias = "exploration.Steps[SubscriptionWorld]"


class Pins(NamedTuple):
    """key: that the watcher waits for. as_of: of the pinned answer, if there is one."""

    key: bool | None = None
    as_of: int | None = None
    reached: int | None = None


class Look(NamedTuple):
    """What a look has read so far. confirmed: whether the rights are the watcher's by now."""

    access: int
    revision: int
    is_confirmed: bool = False
    as_of: int | None = None


class SubscriptionWorld(NamedTuple):
    """access: of the subscriber by access revision. messages: kinds and counters.

    is_behind: whether the follower knows that there are changes to apply.
    """

    commits: tuple[bytes, ...] = ()
    access: tuple[bool, ...] = (True,)
    messages: frozenset[tuple[str, int]] = frozenset()
    is_lost: bool = False
    announced: int = 0
    access_announced: int = 0
    access_checked: int = 0
    is_behind: bool = False
    changes: tuple[int, int] | None = None
    holder: tuple[int, bool] | None = None
    pins: Pins = Pins()
    is_woken: bool = True
    principal: int = 0
    look: Look | None = None
    seen: Answer | None = None
    told: int = 0

    def answer(self, revision: int, access: int) -> Answer:
        return self.commits[:revision].count(CONCERNING), self.access[access]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the promise rests on; a mutant leaves one part out."""

    keep: Callable[[Pinned, str, ComputedAnswer], set[str]] = PinnedAnswers.keep
    clears_before_reading: bool = True
    checks_rights_again: bool = True
    follows_after_keeping: bool = True
    reads_counters_after_a_loss: bool = True


@dataclass(frozen=True, slots=True)
class Bounds:
    """commits, toggles: in all. loses: whether all messages under way are lost, at most once."""

    commits: int
    toggles: int
    loses: bool = False


def search(rules: Rules, bounds: Bounds) -> Exploration:
    return exploration.explore(SubscriptionWorld(), SubscriptionModel(rules, bounds).steps)


class SubscriptionModel:
    """All that can happen next."""

    def __init__(self, rules: Rules, bounds: Bounds) -> None:
        self._rules = rules
        self._bounds = bounds

    def steps(self, world: SubscriptionWorld) -> Steps:
        steps = [
            *self._writes(world),
            *self._messages(world),
            *self._follows(world),
            *self._looks(world),
        ]
        if not steps:
            final = world.answer(len(world.commits), len(world.access) - 1)
            if world.seen != final:
                yield "the final answer is not seen", None
        yield from steps

    def _writes(self, world: SubscriptionWorld) -> Steps:
        if len(world.commits) < self._bounds.commits:
            number = len(world.commits) + 1
            for thing in (CONCERNING, OTHER):
                after = world._replace(commits=(*world.commits, thing))
                yield f"commit {thing!r}", _sent(after, "documents", number)
        if len(world.access) <= self._bounds.toggles:
            number = len(world.access)
            after = world._replace(access=(*world.access, not world.access[-1]))
            yield "toggle a right", _sent(after, "access", number)

    def _messages(self, world: SubscriptionWorld) -> Steps:
        for message in world.messages:
            after = world._replace(messages=world.messages - {message})
            yield "a message arrives", _announced(after, *message)
            if self._bounds.loses and not world.is_lost:
                yield "all messages are lost", world._replace(messages=frozenset(), is_lost=True)
        is_behind = world.announced < len(world.commits) or (
            world.access_announced < len(world.access) - 1
        )
        if world.is_lost and is_behind and self._rules.reads_counters_after_a_loss:
            after = _announced(world, "documents", len(world.commits))
            yield "counters are read", _announced(after, "access", len(world.access) - 1)

    def _follows(self, world: SubscriptionWorld) -> Steps:
        if world.holder is not None:
            announced, right = world.holder
            is_changed = right != world.access[world.principal]
            yield (
                "rights are compared",
                world._replace(
                    holder=None, access_checked=announced, is_woken=world.is_woken or is_changed
                ),
            )
        elif world.access_announced > world.access_checked:
            holder = (world.access_announced, world.access[-1])
            yield "rights are read", world._replace(holder=holder)
        reached = world.pins.reached
        if world.changes is not None:
            since, read = world.changes
            pinned = thawed(world)
            things = frozenset(world.commits[since:read])
            changed = [Changed(HISTORY, TENANT, read, things)]
            woken = pinned.apply(changed, _revisions(since))
            after = world._replace(changes=None, is_woken=world.is_woken or bool(woken))
            yield "changes are applied", after._replace(pins=frozen(pinned, world.pins))
        elif reached is not None and world.is_behind:
            reading = (reached, len(world.commits))
            yield "changes are read", world._replace(changes=reading, is_behind=False)

    def _looks(self, world: SubscriptionWorld) -> Steps:
        look = world.look
        if look is None:
            if world.is_woken:
                begun = Look(len(world.access) - 1, len(world.commits))
                cleared = world._replace(is_woken=not self._rules.clears_before_reading)
                yield "rights and revision are read", cleared._replace(look=begun)
        elif not look.is_confirmed:
            is_outdated = look.access < world.access_checked and self._rules.checks_rights_again
            pinned = thawed(world)
            pinned.attach(WATCHER, str(world.access[look.access]))
            key = world.access[look.access]
            yield (
                "the rights are the watcher's",
                world._replace(
                    principal=look.access,
                    look=look._replace(is_confirmed=True),
                    is_woken=world.is_woken or is_outdated,
                    pins=frozen(pinned, world.pins._replace(key=key)),
                ),
            )
        elif look.as_of is None:
            pinned = thawed(world)
            valid = pinned.get(str(world.pins.key), _revisions(look.revision))
            if valid is not None:
                yield self._told(world, look, valid.valid_until.by_partition[TENANT])
            else:
                yield "rows are read", world._replace(look=look._replace(as_of=len(world.commits)))
        else:
            pinned = thawed(world)
            woken = self._rules.keep(pinned, str(world.pins.key), _computed(look.as_of))
            after = world._replace(is_woken=world.is_woken or bool(woken))
            after = after._replace(pins=frozen(pinned, world.pins))
            if self._rules.follows_after_keeping:
                after = _noticed(after)
            yield self._told(after, look, look.as_of)

    def _told(
        self, world: SubscriptionWorld, look: Look, revision: int
    ) -> tuple[str, SubscriptionWorld | None]:
        cleared = world if self._rules.clears_before_reading else world._replace(is_woken=False)
        after = cleared._replace(look=None)
        answer = world.answer(revision, look.access)
        if answer == world.seen:
            return "an equal answer is not told", after
        if revision < world.told:
            return "an earlier revision is told", None
        return "an answer is told", after._replace(seen=answer, told=revision)


def thawed(world: SubscriptionWorld) -> Pinned:
    pins = world.pins
    pinned: Pinned = PinnedAnswers(FakeDependencyIndex)
    pinned.attach(WATCHER, None if pins.key is None else str(pins.key))
    if pins.reached is not None:
        # What is pinned, and how far the registry has come, whether or not it still pins anything.
        start = pins.reached if pins.as_of is None else min(pins.as_of, pins.reached)
        other = "other"
        pinned.attach(other, other)
        pinned.keep(other, _computed(start))
        if pins.as_of is not None:
            pinned.keep(str(pins.key), _computed(pins.as_of))
        if pins.reached > start:
            pinned.apply([Changed(HISTORY, TENANT, pins.reached, frozenset())], _revisions(start))
        pinned.detach(other)
    return pinned


def frozen(pinned: Pinned, pins: Pins) -> Pins:
    """The pins of the watcher's key as they are now."""
    reached = pinned.registry.reached.by_partition.get(TENANT)
    valid = pinned.get(str(pins.key), _revisions(0))
    as_of = None if valid is None else valid.answer.as_of.by_partition[TENANT]
    return Pins(pins.key, as_of, reached)


def _computed(as_of: int) -> ComputedAnswer:
    return ComputedAnswer(b"", _revisions(as_of), lambda: CONCERNING)


def _revisions(revision: int) -> Revisions:
    return Revisions(HISTORY, {TENANT: revision})


def _sent(world: SubscriptionWorld, kind: str, number: int) -> SubscriptionWorld:
    return world._replace(messages=world.messages | {(kind, number)})


def _announced(world: SubscriptionWorld, kind: str, number: int) -> SubscriptionWorld:
    if kind == "access":
        return world._replace(access_announced=max(world.access_announced, number))
    return _noticed(world._replace(announced=max(world.announced, number)))


def _noticed(world: SubscriptionWorld) -> SubscriptionWorld:
    """What is announced is to be followed, if anything was ever pinned that it could concern."""
    reached = world.pins.reached
    is_behind = reached is not None and reached < world.announced
    return world._replace(is_behind=world.is_behind or is_behind)
