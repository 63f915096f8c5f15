"""Each mutant: the rule of read leases that is replaced, by which one, and what shows it.

A mutant lives in a process of its own, which `loadtests.bench_edges.mutants` starts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cache import read_lease
from cache.read_lease import HeldLease
from loadtests.bench_edges.regions import READ_LEASE_S
from loadtests.soak.mutants.replacement import replaced


@dataclass(frozen=True, slots=True)
class LeaseMutant:
    """replace: breaks the rule in this process. faults: that have to happen for it to matter.

    read_lease_s: of the gateways. is_control: it breaks nothing, so that the judge has to find
    nothing in the same time.
    """

    what: str
    replace: Callable[[], None]
    faults: tuple[str, ...] = ()
    read_lease_s: float = READ_LEASE_S
    is_control: bool = False


def _nothing() -> None:
    """No rule is broken."""


def _is_held_for_good(self: HeldLease[Any], _now_s: float) -> bool:
    return self.since is not None


def _acknowledges_at_once(_awaiting: Any, **_: Any) -> bool:
    return True


def _acknowledges_in_a_new_history(awaiting: Any, **_: Any) -> bool:
    return not awaiting


def _hears_nothing(self: HeldLease[Any], _history: str, _counters: Any) -> HeldLease[Any]:
    return self


MUTANTS: Mapping[str, LeaseMutant] = {
    "none": LeaseMutant(
        "no rule is broken", _nothing, faults=("region cut off", "region silent"), is_control=True
    ),
    "lease-for-good": LeaseMutant(
        "a lease that was stored once counts for good",
        replaced(HeldLease, "is_held", _is_held_for_good),
        faults=("region cut off", "region silent"),
    ),
    "writer-waits-for-nobody": LeaseMutant(
        "a write is acknowledged before the holders have heard of it",
        replaced(read_lease, "may_acknowledge", _acknowledges_at_once),
    ),
    "holder-hears-nothing": LeaseMutant(
        "a holder acknowledges what is announced, and answers without it",
        replaced(HeldLease, "heard", _hears_nothing),
    ),
    "new-history-is-settled": LeaseMutant(
        "after a failover a write is acknowledged before the lost leases have run out",
        replaced(read_lease, "may_acknowledge", _acknowledges_in_a_new_history),
        faults=("primary failed over",),
        read_lease_s=6.0,  # a standby needs some seconds to take over
    ),
}
