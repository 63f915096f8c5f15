"""Which quota a write exceeds, from amounts alone."""

from hypothesis import given
from hypothesis import strategies as st

from index.model.quota import Excess, Quotas, StoredAmounts, excess

NUMBERS = st.integers(0, 20)
AMOUNTS = st.builds(StoredAmounts, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
LIMITS = st.none() | NUMBERS
QUOTAS = st.builds(Quotas, LIMITS, LIMITS, LIMITS, LIMITS)
NAMES = ("documents", "chunks", "bytes", "sources")


@given(AMOUNTS, AMOUNTS, QUOTAS)
def test_a_write_exceeds_the_first_quota_that_has_no_room_for_what_it_adds(
    before: StoredAmounts, growth: StoredAmounts, quotas: Quotas
) -> None:
    exceeded = excess(before + growth, growth, quotas)

    full = [
        name
        for name in NAMES
        if getattr(growth, name)
        and getattr(quotas, name) is not None
        and getattr(before, name) + getattr(growth, name) > getattr(quotas, name)
    ]
    assert (None if exceeded is None else exceeded.quota) == next(iter(full), None)


def test_the_excess_names_what_was_there_before() -> None:
    exceeded = excess(StoredAmounts(bytes=30), StoredAmounts(bytes=10), Quotas(bytes=25))

    assert exceeded == Excess("bytes", used=20, added=10, limit=25)


@given(AMOUNTS, QUOTAS)
def test_what_does_not_grow_exceeds_nothing(total: StoredAmounts, quotas: Quotas) -> None:
    assert excess(total, StoredAmounts(), quotas) is None
    assert excess(total, StoredAmounts(-1, -1, -1, 0), quotas) is None


@given(QUOTAS, QUOTAS)
def test_a_tenants_own_quota_counts_before_the_default(own: Quotas, defaults: Quotas) -> None:
    combined = own.or_defaults(defaults)

    for name in NAMES:
        one, other = getattr(own, name), getattr(defaults, name)
        assert getattr(combined, name) == (other if one is None else one)
