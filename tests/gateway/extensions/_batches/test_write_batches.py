"""Batches: everything once, in its order, as much at a time as the limits allow."""

from itertools import chain, pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions._batches.write_batches import CHARACTERS_MAX, DOCUMENTS_MAX, batches

sizes = st.lists(st.integers(0, 2_000) | st.integers(0, 2 * CHARACTERS_MAX), max_size=300)


def size(number: int) -> int:
    return number


@given(sizes)
def test_batches_hold_everything_in_its_order(numbers: list[int]) -> None:
    assert list(chain.from_iterable(batches(numbers, size))) == numbers


@given(sizes)
def test_no_batch_is_empty_or_above_a_limit_but_for_one_long_thing(numbers: list[int]) -> None:
    for batch in batches(numbers, size):
        assert 1 <= len(batch) <= DOCUMENTS_MAX
        assert len(batch) == 1 or sum(batch) <= CHARACTERS_MAX


@given(sizes)
def test_a_batch_ends_only_where_the_next_thing_does_not_fit(numbers: list[int]) -> None:
    for batch, following in pairwise(batches(numbers, size)):
        assert len(batch) == DOCUMENTS_MAX or sum(batch) + following[0] > CHARACTERS_MAX
