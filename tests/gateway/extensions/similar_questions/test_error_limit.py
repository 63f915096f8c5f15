"""The limit of wrong answers: when they may be served, and when one was wrong to give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions.similar_questions import error_limit
from gateway.extensions.similar_questions.error_limit import EVIDENCE_MAX, PairCounts

LIMIT = 0.01
PAIRS, WRONG_MAX = 20_000, 500


def missing(verified: int, wrong: int, limit: float = LIMIT) -> int:
    return error_limit.missing_right(PairCounts(verified=verified, wrong=wrong), limit)


def test_answers_are_served_after_397_right_ones_and_184_more_for_each_wrong_one() -> None:
    assert missing(0, 0) == 397
    assert missing(396, 0) == 1
    assert missing(397, 0) == missing(5_000, 0) == 0
    assert missing(397 + 1, 1) == missing(397 + 2, 2) - 184 == 184


@given(st.floats(1e-4, 0.2), st.integers(0, 50))
def test_so_many_right_ones_as_are_missing_do_suffice(limit: float, wrong: int) -> None:
    needed = missing(wrong, wrong, limit)

    assert missing(wrong + needed, wrong, limit) == 0
    assert missing(wrong + needed - 1, wrong, limit) == 1
    assert missing(wrong + needed + 1, wrong + 1, limit) > 0


def test_of_tenants_at_the_limit_one_in_twenty_is_ever_served_though_looked_at_each_time() -> None:
    assert 0.03 < chance_to_be_served_ever(error=LIMIT) <= 0.05
    assert chance_to_be_served_ever(error=1.5 * LIMIT) < 0.005


def chance_to_be_served_ever(error: float) -> float:
    """Of a tenant with so many wrong pairs, exactly: by the number of wrong ones so far."""
    chances = np.zeros(WRONG_MAX)
    chances[0] = 1.0
    needed = np.array([missing(wrong, wrong) + wrong for wrong in range(WRONG_MAX)])
    served = 0.0
    for verified in range(1, PAIRS + 1):
        one_more = np.concatenate(([0.0], chances[:-1]))
        chances = chances * (1 - error) + one_more * error
        served += chances[needed <= verified].sum()
        chances[needed <= verified] = 0.0
    return float(served)


@pytest.mark.parametrize("limit", [5e-324, 1e-17, 1e-9])
def test_a_tiny_limit_is_never_reached(limit: float) -> None:
    assert 10**9 < missing(10**6, 3, limit) < 2**53


@pytest.mark.parametrize("limit", [0.001, 0.01, 0.2])
def test_halved_counts_still_allow_to_serve(limit: float) -> None:
    assert missing(round(EVIDENCE_MAX / limit / 2), 2, limit) == 0


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
    assert not error_limit.is_wrong(served, real)


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
    assert error_limit.is_wrong(served, real)
