"""Hits that callers who see the same share, counted by keys that Nearhit's own functions make.

A hit is a key that was used before, so the figures do not depend on the machine. Beside them stand
the hits of callers with equal grants.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random

from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.model.sight import sight_digest
from loadtests.bench.section import Bar, Section, figure_table
from loadtests.bench_cache import questions
from loadtests.bench_cache.options import CacheRun
from loadtests.workload import history

_USERS = (10, 100, 1_000, 10_000)
_JUDGED = 1_000
_RATIO_MIN = 3.0
_GROUP_USERS = 50  # of a tenant, for each group
_QUESTIONS = 1_000
_SEARCHES = 10_000  # as in `hit_rate`
_SEARCHES_A_CHANGE = (100, 20)
# The shares are a choice, none is measured.
_SECOND_GROUP_SHARE = 0.2  # of the users
_OWNER_SHARE = 0.05  # of the users: who own a document that their group reads
_PRIVATE_SHARE = 0.05  # of the users: who have a document of their own alone
_FIRST_PRIVATE_SHARE = 0.05  # of the changes: a user's first private document
_COLUMNS = {
    "by_grants": ("hits by grants", ".3f"),
    "by_sight": ("hits by sight", ".3f"),
    "ratio": ("ratio", ".1f"),
    "sights_read": ("sights read", ".3f"),
}
_TENANT = "acme"
_SEED = 22


@dataclass(frozen=True, slots=True)
class MembershipEvent:
    """user, group: any numbers, of which the remainders count."""

    joins: bool
    user: int
    group: int


@dataclass(slots=True)
class RightsWorld:
    """The groups of each user, and the audiences of the tenant's documents."""

    groups: list[set[int]]
    audiences: set[frozenset[str]] = field(default_factory=set)
    audience_revision: int = 0

    def add_audience(self, *tokens: str) -> None:
        if frozenset(tokens) not in self.audiences:
            self.audiences.add(frozenset(tokens))
            self.audience_revision += 1

    def scope(self, user: int) -> Scope:
        return resolve(_TENANT, f"u{user}", [f"g{each}" for each in self.groups[user]], SCOPE_NAMES)

    def sight(self, scope: Scope) -> bytes:
        tokens = {*scope.grants, *scope.shared}
        admitted = [each for each in self.audiences if not tokens.isdisjoint(each)]
        return sight_digest(scope, admitted, ())  # each of the groups reads a document


@dataclass(frozen=True, slots=True)
class SharingRates:
    """Shares of the searches. sights_read: statements that read what a caller sees."""

    users: int
    groups: int
    searches_a_change: int
    by_grants: float
    by_sight: float
    sights_read: float

    @property
    def ratio(self) -> float:
        return self.by_sight / self.by_grants


def measure(run: CacheRun) -> Section:
    changes = _generated() if run.data_folder is None else _recorded(run.data)
    rates = [count(users, changes, each) for each in _SEARCHES_A_CHANGE for users in _USERS]
    judged = [each for each in rates if each.users == _JUDGED]
    return Section(
        title="Sharing",
        text=_text(rates),
        figures={
            f"users_{each.users}_change_each_{each.searches_a_change}": asdict(each)
            for each in rates
        },
        bars=[
            Bar(
                f"hits of {each.users:,} users in {each.groups} groups with a change each "
                f"{each.searches_a_change} searches, to those by grants",
                each.ratio,
                at_least=_RATIO_MIN,
            )
            for each in judged
        ],
    )


def count(
    users: int,
    changes: Sequence[MembershipEvent],
    searches_a_change: int,
    searches: int = _SEARCHES,
) -> SharingRates:
    """The hits of so many users' searches, while the changes happen one after the other."""
    random = Random(_SEED)  # noqa: S311  no secret
    world = _world(users, random)
    happening = cycle(changes)
    by_grants, by_sight = set[tuple[bytes, int]](), set[tuple[bytes, int]]()
    sights: dict[tuple[bytes, int], bytes] = {}
    for number, question in enumerate(questions.by_zipf(_QUESTIONS, searches, _SEED)):
        if number % searches_a_change == 0:
            _change(world, next(happening), random)
        scope = world.scope(random.randrange(users))
        at = (scope.fingerprint, world.audience_revision)
        if at not in sights:
            sights[at] = world.sight(scope)
        by_grants.add((scope.fingerprint, question))
        by_sight.add((sights[at], question))
    return SharingRates(
        users,
        _groups(users),
        searches_a_change,
        1 - len(by_grants) / searches,
        1 - len(by_sight) / searches,
        len(sights) / searches,
    )


def _groups(users: int) -> int:
    return max(2, users // _GROUP_USERS)


def _world(users: int, random: Random) -> RightsWorld:
    groups = _groups(users)
    world = RightsWorld([{random.randrange(groups)} for _ in range(users)])
    for group in range(groups):
        world.add_audience(f"group:g{group}")
    world.add_audience("tenant")
    for user, own in enumerate(world.groups):
        if random.random() < _OWNER_SHARE:
            world.add_audience(f"owner:u{user}", f"group:g{min(own)}")
        if random.random() < _PRIVATE_SHARE:
            world.add_audience(f"owner:u{user}")
        if random.random() < _SECOND_GROUP_SHARE:
            own.add(random.randrange(groups))
    return world


def _change(world: RightsWorld, change: MembershipEvent, random: Random) -> None:
    user = change.user % len(world.groups)
    if random.random() < _FIRST_PRIVATE_SHARE:
        world.add_audience(f"owner:u{user}")
        return
    group = change.group % _groups(len(world.groups))
    if change.joins:
        world.groups[user].add(group)
    else:
        world.groups[user].discard(group)


def _recorded(data: Path) -> list[MembershipEvent]:
    """The joining and leaving of a real organisation, in its order."""
    events = [event for event in history.read(data).grants if event["op"] in ("grant", "revoke")]
    users = {name: number for number, name in enumerate({each["user"]: 0 for each in events})}
    groups = {name: number for number, name in enumerate({each["group"]: 0 for each in events})}
    return [
        MembershipEvent(event["op"] == "grant", users[event["user"]], groups[event["group"]])
        for event in events
    ]


def _generated(changes: int = 1_000) -> list[MembershipEvent]:
    random = Random(_SEED)  # noqa: S311  no secret
    return [
        MembershipEvent(random.random() < 0.5, random.randrange(10_000), random.randrange(1_000))
        for _ in range(changes)
    ]


def _text(rates: Sequence[SharingRates]) -> str:
    notes = (
        f"One tenant, a group for each {_GROUP_USERS} users; {_SECOND_GROUP_SHARE:.0%} of the "
        "users are in a second one. Each group reads documents of its own, all read those of the "
        f"tenant. {_OWNER_SHARE:.0%} of the users own a document that their group reads, "
        f"{_PRIVATE_SHARE:.0%} one that nobody else reads.\n"
        f"{_SEARCHES:,} searches, each of a random user, of {_QUESTIONS:,} questions by Zipf's "
        "law. After each so many searches one thing changes: a user joins or leaves a "
        "group, in the order of a real organisation's history (DATA), or, in "
        f"{_FIRST_PRIVATE_SHARE:.0%} of the changes, writes a first private document.\n"
        "A hit is counted if the key was used before; no document is edited, and no server runs.\n"
        "By grants: callers with equal grants share an answer. By sight: callers who see the same "
        "do. A sight is read by a statement of its own if a caller's grants or the audiences have "
        "changed."
    )
    rows = {
        f"{each.users:,} in {each.groups} groups, one in {each.searches_a_change} searches": {
            **asdict(each),
            "ratio": each.ratio if each.by_grants else None,
        }
        for each in rates
    }
    return f"{notes}\n\n{figure_table('users, changes', rows, _COLUMNS)}"
