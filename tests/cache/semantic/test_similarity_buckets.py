"""Buckets: what opens them, what shuts them, and when an answer was wrong to give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.semantic import similarity_buckets
from cache.semantic.similarity_buckets import EDGES, VERIFIED_MAX, BucketCounts


def counts(verified: int, wrong: int) -> BucketCounts:
    return BucketCounts(seen=verified, served=0, verified=verified, wrong=wrong)


@pytest.mark.parametrize(
    ("verified", "wrong", "expected"),
    [
        # With none wrong it is 1 - 0.05 ** (1 / n).
        (1, 0, 0.95),
        (10, 0, 0.25886555),
        (298, 0, 0.01000243),
        (299, 0, 0.00996915),
        # With all but one wrong it is 0.95 ** (1 / n).
        (5, 4, 0.98979378),
        # From tables of the exact interval, three digits.
        (10, 1, 0.394),
        (20, 2, 0.283),
        (100, 5, 0.102),
    ],
)
def test_the_bound_is_that_of_clopper_and_pearson(
    verified: int, wrong: int, expected: float
) -> None:
    assert similarity_buckets.error_upper_bound(counts(verified, wrong)) == pytest.approx(
        expected, abs=5e-4
    )


@pytest.mark.parametrize(("verified", "wrong"), [(1, 0), (7, 3), (30, 1), (60, 59), (400, 12)])
def test_so_few_wrong_ones_have_one_chance_in_twenty_at_the_bound(
    verified: int, wrong: int
) -> None:
    chance = similarity_buckets.error_upper_bound(counts(verified, wrong))

    # The binomial distribution, term by term.
    term, total = (1 - chance) ** verified, 0.0
    for number in range(wrong + 1):
        total += term
        term *= (verified - number) / (number + 1) * chance / (1 - chance)
    assert total == pytest.approx(0.05, rel=1e-6)


def test_nothing_verified_and_nothing_right_bound_nothing() -> None:
    assert similarity_buckets.error_upper_bound(counts(0, 0)) == 1.0
    assert similarity_buckets.error_upper_bound(counts(7, 7)) == 1.0


@given(st.integers(1, 9_000), st.data())
def test_more_wrong_ones_raise_the_bound_and_more_right_ones_lower_it(
    verified: int, data: st.DataObject
) -> None:
    wrong = data.draw(st.integers(0, verified - 1))
    bound = similarity_buckets.error_upper_bound(counts(verified, wrong))

    assert wrong / verified < bound <= 1
    assert similarity_buckets.error_upper_bound(counts(verified, wrong + 1)) > bound
    assert similarity_buckets.error_upper_bound(counts(verified + 1, wrong)) < bound


def test_a_bucket_opens_at_299_right_answers_in_a_row_and_not_before() -> None:
    assert not similarity_buckets.is_open(counts(298, 0), 0.01)
    assert similarity_buckets.is_open(counts(299, 0), 0.01)
    assert not similarity_buckets.is_open(counts(299, 1), 0.01)


def test_every_similarity_from_the_first_edge_on_lies_in_one_bucket() -> None:
    assert similarity_buckets.bucket_of(EDGES[0] - 1e-6) is None
    assert similarity_buckets.bucket_of(EDGES[0]) == 0
    assert (
        similarity_buckets.bucket_of(1.0) == similarity_buckets.bucket_of(1.0001) == len(EDGES) - 1
    )
    for number in range(len(EDGES)):
        first, last = similarity_buckets.bucket_bounds(number)
        assert (
            similarity_buckets.bucket_of(first)
            == number
            == similarity_buckets.bucket_of((first + last) / 2)
        )
    assert similarity_buckets.bucket_bounds(len(EDGES) - 1)[1] == 1.0


def test_a_shut_bucket_verifies_all_that_it_sees_and_an_open_one_some() -> None:
    shut, surely_open, barely_open = counts(50, 0), counts(2_000, 0), counts(300, 0)

    assert similarity_buckets.sample_share(shut, 0.01) == 1.0
    assert (
        0
        < similarity_buckets.sample_share(surely_open, 0.01)
        < similarity_buckets.sample_share(barely_open, 0.01)
        < 1.0
    )


def test_a_bucket_stays_open_when_its_counts_are_halved() -> None:
    assert similarity_buckets.is_open(counts(VERIFIED_MAX // 2, 0), 0.002)


@pytest.mark.parametrize(
    ("served", "real"),
    [
        ([], []),
        ([1], [1]),
        ([1, 2, 3, 4, 5], [5, 4, 1, 2, 3]),
        ([3, 2, 1, 7, 8], [1, 2, 3, 4, 5]),
        ([1, 2, 8, 9], [1, 2, 3, 4]),
        ([1, 2, 3], [1]),
    ],
)
def test_an_answer_close_to_the_real_one_is_right(served: list[int], real: list[int]) -> None:
    assert not similarity_buckets.is_wrong(served, real)


@pytest.mark.parametrize(
    ("served", "real"),
    [
        ([1], []),
        ([], [1]),
        ([4, 1, 2, 3, 5], [1, 2, 3, 4, 5]),  # its top hit is only the fourth
        ([1, 2, 8, 9, 7], [1, 2, 3, 4, 5]),  # two of five
        ([9, 1, 2, 3, 4], [1, 2, 3, 4, 5]),
    ],
)
def test_an_answer_that_leads_elsewhere_is_wrong(served: list[int], real: list[int]) -> None:
    assert similarity_buckets.is_wrong(served, real)
