import math

import pytest

from loadtests.bench_index import measures


def means(ranked: list[str], *answers: str) -> dict[str, float]:
    """The measures of one question."""
    return {name: one.mean for name, one in measures.of([ranked], [answers]).items()}


def test_a_ranking_that_begins_with_all_that_is_right_is_perfect() -> None:
    assert means(["a", "b", "c"], "a", "b") == {"recall": 1, "mrr": 1, "ndcg": 1}


def test_what_is_right_counts_less_the_later_it_comes() -> None:
    measured = means(["x", "a", "y", "b"], "a", "b")

    ideal = 1 + 1 / math.log2(3)
    assert measured["ndcg"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert (measured["recall"], measured["mrr"]) == (1, 0.5)


def test_what_comes_after_the_tenth_does_not_count() -> None:
    assert means([*(f"x{number}" for number in range(10)), "a"], "a")["recall"] == 0


def test_the_mean_is_of_all_questions() -> None:
    measured = measures.of([["a"], []], [["a"], ["b"]])["ndcg"]

    assert (measured.low, measured.mean, measured.high) == (0, 0.5, 1)
