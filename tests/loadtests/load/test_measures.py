import math

import pytest

from loadtests.bench_index import measures
from loadtests.bench_index.measures import Measures


def test_a_ranking_that_begins_with_all_that_is_relevant_is_perfect() -> None:
    assert measures.of(["a", "b", "c"], {"a": 1, "b": 1}) == Measures(1, 1)


def test_what_is_relevant_counts_less_the_later_it_comes() -> None:
    measured = measures.of(["x", "a", "y", "b"], {"a": 1, "b": 1})

    ideal = 1 + 1 / math.log2(3)
    assert measured.ndcg == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert measured.recall == 1


def test_what_comes_after_the_tenth_does_not_count() -> None:
    ranked = [*(f"x{number}" for number in range(10)), "a"]

    assert measures.of(ranked, {"a": 1}) == Measures(0, 0)


def test_a_ranking_of_nothing_is_worth_nothing() -> None:
    assert measures.of([], {"a": 1}) == Measures(0, 0)
