"""No interleaving lets an answer under a lease miss a write, and no rule is to spare.

Every world within the bounds of a scene is visited, counted scene by scene below.
`make thorough` adds scenes that take minutes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.extensions.regions import read_lease
from gateway.extensions.regions.read_lease import Renewal, SeenLease, SeenLeases, StoredLease
from tests.gateway.extensions.regions.read_lease_model import (
    DURATION_S,
    Held,
    ModelCounters,
    Rules,
    Scene,
    name_of,
    search,
)
from tests.sampling import is_thorough

pytestmark = pytest.mark.slow

ONE_WRITE = Scene(writes=1, ticks=2)
TWO_WRITES = Scene(ticks=2, renewals=1)
SLOW_CLOCK = Scene(writes=1, ticks=2, renewals=1, lags=True)
FAILOVER = Scene(writes=1, ticks=1, renewals=1, fails_over=True)
FORGETTING = Scene(writes=1, ticks=1, renewals=1, forgets=3)
RENEWING = Scene(ticks=2, renewals=1, learns=False, knows=True)
RENEWING_TWICE = replace(RENEWING, renewals=2)
RENEWING_FORGETTING = replace(RENEWING, writes=3, ticks=0, forgets=1)
RENEWING_FAILOVER = replace(RENEWING, fails_over=True)
LOOKING = replace(ONE_WRITE, renewals=1, looks=1)
SEEN_BEFORE = Scene(writes=1, ticks=0, renewals=1, seen=(name_of(0), 0))
SEEN_ELSEWHERE = replace(SEEN_BEFORE, seen=("an earlier history", 1))

SCENES = {
    "two writes": (replace(TWO_WRITES, ticks=1), 13_891),
    "a lease begins again, and a holder forgets": (RENEWING_FORGETTING, 9_764),
    "one write": (ONE_WRITE, 16_881),
    "a slow clock": (SLOW_CLOCK, 6_827),
    "a failover": (FAILOVER, 6_905),
    "a holder forgets": (FORGETTING, 12_152),
    "a lease begins again": (RENEWING, 4_265),
    "renewals are looked for": (LOOKING, 11_729),
    "an earlier renewal was seen": (SEEN_BEFORE, 267),
    "the same number was seen in an earlier history": (SEEN_ELSEWHERE, 267),
}
LARGE_SCENES = {
    "a slow clock, three ticks": (replace(SLOW_CLOCK, ticks=3), 13_836),
    "a failover, three ticks": (replace(FAILOVER, ticks=3), 34_800),
    "a lease begins again after a failover": (RENEWING_FAILOVER, 41_287),
    "two writes, two renewals": (Scene(ticks=2), 507_060),
    "a lease begins again twice": (RENEWING_TWICE, 33_373),
    "two writes, a lease runs out": (TWO_WRITES, 46_297),
    "two writes, a failover": (replace(FAILOVER, writes=2, ticks=3), 1_185_716),
    "a failover, two renewals": (replace(FAILOVER, renewals=2, ticks=3), 394_520),
    "two holders": (Scene(holders=2, writes=1, ticks=2), 960_354),
    "two writes, a holder forgets": (replace(FORGETTING, writes=2), 158_824),
}
if is_thorough():
    SCENES |= LARGE_SCENES


@pytest.mark.parametrize(("scene", "states"), SCENES.values(), ids=SCENES)
def test_no_interleaving_misses_an_acknowledged_write(scene: Scene, states: int) -> None:
    outcome = search(scene, Rules())

    assert outcome.trace is None
    assert outcome.states == states
    assert outcome.labels >= {"acknowledge", "an answer", "a holder hears"}


def from_the_reply(
    lease: Held, renewal: Renewal[ModelCounters], epoch: int, _begun_at_s: float, now_s: float
) -> Held:
    return lease.renewed(renewal, epoch, now_s, DURATION_S)


def without_margin(
    lease: Held, renewal: Renewal[ModelCounters], epoch: int, begun_at_s: float, _now_s: float
) -> Held:
    renewed = lease.renewed(renewal, epoch, begun_at_s, DURATION_S)
    return replace(renewed, until_s=begun_at_s + DURATION_S)


def without_what_moved(
    lease: Held, renewal: Renewal[ModelCounters], epoch: int, begun_at_s: float, _now_s: float
) -> Held:
    return lease.renewed(replace(renewal, moved={}), epoch, begun_at_s, DURATION_S)


def of_any_epoch(
    lease: Held, renewal: Renewal[ModelCounters], _epoch: int, begun_at_s: float, _now_s: float
) -> Held:
    return lease.renewed(renewal, lease.epoch, begun_at_s, DURATION_S)


def of_any_history(
    lease: Held, renewal: Renewal[ModelCounters], epoch: int, begun_at_s: float, _now_s: float
) -> Held:
    same = replace(renewal, history=lease.history or renewal.history)
    return lease.renewed(same, epoch, begun_at_s, DURATION_S)


def know_what_is_announced(
    lease: Held, history: str, counters: Mapping[str, ModelCounters]
) -> Held:
    heard = lease.heard(history, counters)
    return replace(heard, known={**heard.announced, **heard.known}, announced={})


def hear_known_tenants(lease: Held, history: str, counters: Mapping[str, ModelCounters]) -> Held:
    return replace(lease.heard(history, counters), announced={})


def keep_all_that_is_learned(
    lease: Held, _epoch: int, counters: Mapping[str, ModelCounters]
) -> Held:
    return lease.learned(lease.epoch, counters)


def await_nobody(
    _leases: Sequence[SeenLease], _acknowledged: frozenset[str], _now_s: float
) -> Sequence[SeenLease]:
    return ()


def await_half_as_long(
    leases: Sequence[SeenLease], acknowledged: frozenset[str], now_s: float
) -> Sequence[SeenLease]:
    return read_lease.awaited(leases, acknowledged, now_s + DURATION_S / 2)


def see_holders(
    seen: SeenLeases, history: str, stored: Sequence[StoredLease], now_s: float
) -> SeenLeases:
    """A renewal counts from the first one of its holder."""
    first = {lease.holder: lease for lease in seen.leases}
    after = seen.read(history, stored, now_s)
    leases = (first.get(lease.holder) or lease for lease in after.leases)
    numbered = zip(leases, after.leases, strict=True)
    return replace(after, leases=tuple(replace(old, number=new.number) for old, new in numbered))


def see_in_any_history(
    seen: SeenLeases, history: str, stored: Sequence[StoredLease], now_s: float
) -> SeenLeases:
    return replace(seen, history=history).read(history, stored, now_s)


def acknowledge_in_any_history(awaiting: Sequence[StoredLease], **_: Any) -> bool:
    return not awaiting


MUTANTS = {
    "what moved is read before the lease is stored": (
        Rules(reads_after_storing=False),
        RENEWING,
    ),
    "leases are read before the commit": (Rules(reads_leases_after_commit=False), ONE_WRITE),
    "the lease counts from the reply": (Rules(renewed=from_the_reply), ONE_WRITE),
    "no margin": (Rules(renewed=without_margin), SLOW_CLOCK),
    "what moved is not read": (Rules(renewed=without_what_moved), RENEWING),
    "a renewal of an earlier epoch": (Rules(renewed=of_any_epoch), RENEWING_FORGETTING),
    "no wait after a failover": (Rules(may_acknowledge=acknowledge_in_any_history), FAILOVER),
    "heard before the check": (Rules(reads_heard_after_check=False), ONE_WRITE),
    "checked before the request": (Rules(checks_after_arrival=False), ONE_WRITE),
    "an announcement makes a tenant known": (Rules(heard=know_what_is_announced), TWO_WRITES),
    "only known tenants are heard of": (Rules(heard=hear_known_tenants), ONE_WRITE),
    "all that is learned is kept": (Rules(learned=keep_all_that_is_learned), FORGETTING),
    "nobody is waited for": (Rules(awaited=await_nobody), ONE_WRITE),
    "half as long": (Rules(awaited=await_half_as_long), ONE_WRITE),
    "a holder is seen, not a renewal": (Rules(seen=see_holders), SEEN_BEFORE),
    "seen before the reply": (Rules(sees_at_the_reply=False), LOOKING),
    "seen in any history": (Rules(seen=see_in_any_history), SEEN_ELSEWHERE),
    "a renewed lease is removed": (Rules(removes_what_was_read=False), RENEWING_TWICE),
}
if is_thorough():  # 100,000 worlds each
    MUTANTS |= {
        "a renewal of another history": (Rules(renewed=of_any_history), RENEWING_FAILOVER),
        "any history is settled": (Rules(settles_what_was_read=False), RENEWING_FAILOVER),
    }


@pytest.mark.sampled("a renewal of an earlier epoch")
@pytest.mark.parametrize(("rules", "scene"), MUTANTS.values(), ids=MUTANTS)
def test_each_rule_is_needed(rules: Rules, scene: Scene) -> None:
    assert search(scene, rules, deepest_first=True).trace is not None
