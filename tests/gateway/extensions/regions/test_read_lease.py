"""The rules of read leases, one at a time; `test_read_lease_model` shows that they suffice."""

from gateway.extensions.regions import read_lease
from gateway.extensions.regions.read_lease import (
    HeldLease,
    Renewal,
    SeenLease,
    SeenLeases,
    StoredLease,
)
from tests.gateway.extensions.regions.read_lease_model import Held, ModelCounters

HISTORY = "history 0"


def at(revision: int, history: str = HISTORY) -> ModelCounters:
    return ModelCounters(history, revision)


def held() -> Held:
    first: Held = HeldLease()
    return first.renewed(Renewal(HISTORY, 7, {}), first.epoch, 100.0, 2.0)


def test_a_lease_counts_for_nine_tenths_of_its_duration_from_before_it_was_stored() -> None:
    lease = held()
    assert lease.is_held(101.79)
    assert not lease.is_held(101.81)
    first: Held = HeldLease()
    assert not first.is_held(0.0)


def test_a_tenant_is_known_once_it_was_read() -> None:
    lease = held().heard(HISTORY, {"acme": at(3)})
    assert lease.counters_of(["acme"]) is None

    lease = lease.learned(lease.epoch, {"acme": at(2)})
    assert lease.counters_of(["acme"]) == {"acme": at(3)}
    assert lease.counters_of(["acme", "public"]) is None


def test_counters_only_rise() -> None:
    lease = held().learned(held().epoch, {"acme": at(5)})
    assert lease.heard(HISTORY, {"acme": at(4)}).known == {"acme": at(5)}
    assert lease.heard(HISTORY, {"acme": at(6)}).known == {"acme": at(6)}


def test_another_history_is_not_heard_of() -> None:
    lease = held().learned(held().epoch, {"acme": at(5)})
    assert lease.heard("history 1", {"acme": at(9, "history 1")}) == lease
    assert lease.learned(lease.epoch, {"acme": at(9, "history 1")}) == lease


def test_a_renewal_in_another_history_forgets_everything() -> None:
    lease = held().learned(held().epoch, {"acme": at(5)})
    renewal = Renewal("history 1", 9, {"acme": at(1, "history 1")})

    renewed = lease.renewed(renewal, lease.epoch, 101.0, 2.0)

    assert (renewed.history, renewed.since, renewed.known) == ("history 1", 9, {})
    assert renewed.epoch > lease.epoch
    assert renewed.is_held(101.0)


def test_too_many_tenants_are_forgotten() -> None:
    lease = held()
    many = {f"tenant {n}": at(1) for n in range(read_lease.TENANTS_MAX)}
    full = lease.heard(HISTORY, many)
    assert len(full.announced) == read_lease.TENANTS_MAX

    emptied = full.heard(HISTORY, {"one more": at(1)})

    assert not emptied.known
    assert not emptied.announced
    assert emptied.epoch > lease.epoch
    assert emptied.is_held(100.0)
    assert emptied.learned(lease.epoch, {"acme": at(1)}).known == {}


def test_a_holder_is_awaited_until_it_acknowledges_or_its_lease_runs_out() -> None:
    leases = [SeenLease("near", 1, 101.0), SeenLease("far", 4, 102.0)]

    assert read_lease.awaited(leases, {"near"}, 100.5) == leases[1:]
    assert read_lease.awaited(leases, set(), 101.0) == leases[1:]
    assert read_lease.awaited(leases, set(), 102.0) == []
    assert read_lease.ended(leases, {"near"}, 102.0) == leases[1:]
    assert read_lease.ended(leases, {"near"}, 101.9) == []


def test_a_renewal_runs_out_its_duration_after_it_was_first_seen() -> None:
    stored = [StoredLease("far", 4, 2.0)]
    seen = SeenLeases().read(HISTORY, stored, 100.0).read(HISTORY, stored, 101.0)
    assert seen.leases == (SeenLease("far", 4, 102.0),)

    renewed = seen.read(HISTORY, [StoredLease("far", 5, 2.0)], 101.0)
    assert renewed.leases == (SeenLease("far", 5, 103.0),)

    elsewhere = seen.read("history 1", stored, 101.0)
    assert elsewhere.leases == (SeenLease("far", 4, 103.0),)
    assert elsewhere.read("history 1", [], 102.0).leases == ()


def test_nothing_is_acknowledged_in_a_new_history_until_lost_leases_have_run_out() -> None:
    def may(*, settled: bool, waited_s: float) -> bool:
        return read_lease.may_acknowledge(
            [], is_history_settled=settled, waited_s=waited_s, longest_s=2.0
        )

    assert may(settled=True, waited_s=0.0)
    assert not may(settled=False, waited_s=1.9)
    assert may(settled=False, waited_s=2.0)
