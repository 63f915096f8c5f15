"""Nearhit's own rules of read leases, broken, which the judge of the regions has to find."""

from collections.abc import Mapping
from typing import Any

from cache import read_lease
from cache.read_lease import HeldLease
from loadtests.mutants.mutant import Mutant


def _is_held_for_good(self: HeldLease[Any], _now_s: float) -> bool:
    return self.since is not None


def _acknowledges_at_once(_awaiting: Any, **_: Any) -> bool:
    return True


def _acknowledges_in_a_new_history(awaiting: Any, **_: Any) -> bool:
    return not awaiting


def _hears_nothing(self: HeldLease[Any], _history: str, _counters: Any) -> HeldLease[Any]:
    return self


MUTANTS: Mapping[str, Mutant] = {
    "none": Mutant(
        "no rule is broken", faults=("region cut off", "region silent"), is_control=True
    ),
    "lease-for-good": Mutant(
        "a lease that was stored once counts for good",
        [(HeldLease, "is_held", _is_held_for_good)],
        faults=("region cut off", "region silent"),
    ),
    "writer-waits-for-nobody": Mutant(
        "a write is acknowledged before the holders have heard of it",
        [(read_lease, "may_acknowledge", _acknowledges_at_once)],
    ),
    "holder-hears-nothing": Mutant(
        "a holder acknowledges what is announced, and answers without it",
        [(HeldLease, "heard", _hears_nothing)],
    ),
    "new-history-is-settled": Mutant(
        "after a failover a write is acknowledged before the lost leases have run out",
        [(read_lease, "may_acknowledge", _acknowledges_in_a_new_history)],
        faults=("primary failed over",),
        read_lease_s=6.0,  # a standby needs some seconds to take over
    ),
}
