"""Sums as PostgreSQL makes them: the order is found, and a fused sum is rounded once."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.postgres.database import Database
from index.postgres.session import Session
from index.resident import exact_scores
from index.resident.exact_scores import SumOrder

SINGLES = st.floats(-1, 1, width=32)


def rounded(exact: Fraction) -> np.float32:
    """The nearest single, ties to even; `float` would round twice."""
    near = np.float32(float(exact))
    candidates = (np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(9)))
    return min(
        candidates,
        key=lambda single: (abs(Fraction(float(single)) - exact), int(single.view(np.int32)) & 1),
    )


def fused_sums(*products: Sequence[float]) -> list[float]:
    """Of the products of each term, for rows that all hold it."""
    rows = np.arange(len(products[0]))
    terms = [(rows, np.array(of_term)) for of_term in products]
    sums: list[float] = SumOrder(folds_lanes=True, is_fused=True).lexical(terms, len(rows)).tolist()
    return sums


@given(st.lists(st.tuples(SINGLES, SINGLES), min_size=1, max_size=8))
def test_a_fused_sum_is_that_of_exact_numbers_rounded_after_each_term(
    terms: list[tuple[float, float]],
) -> None:
    expected = np.float32(0)
    for value, weight in terms:
        expected = rounded(Fraction(float(expected)) + Fraction(value) * Fraction(weight))
    assert fused_sums(*([value * weight] for value, weight in terms)) == [expected]


def test_a_sum_halfway_between_two_singles_is_rounded_by_what_a_double_has_lost() -> None:
    single, halfway = np.float32(1), 2.0**-24
    above, below = halfway * (1 + 2.0**-40), halfway * (1 - 2.0**-40)
    assert 1.0 + above == 1.0 + halfway == 1.0 + below  # a double can't tell them apart
    sums = fused_sums([1.0, 1.0, 1.0], [above, halfway, below])
    assert sums == [np.nextafter(single, np.float32(2)), single, single]


@pytest.mark.parametrize("is_fused", [True, False])
def test_a_row_has_the_sum_of_the_terms_that_it_holds(*, is_fused: bool) -> None:
    terms = [(np.array([0, 2]), np.array([0.5, 0.25])), (np.array([2]), np.array([0.5]))]
    sums = SumOrder(folds_lanes=True, is_fused=is_fused)
    assert sums.lexical(terms, 4).tolist() == [0.5, 0.0, 0.75, 0.0]
    assert sums.lexical((), 2).tolist() == [0.0, 0.0]


@pytest.mark.anyio
async def test_the_order_of_the_servers_sums_is_found(database: Database) -> None:
    async with database.shard_snapshot() as session:
        assert await exact_scores.probe(session) is not None


@pytest.mark.anyio
@pytest.mark.parametrize("score", ["dense", "lexical"])
async def test_a_server_that_adds_in_an_order_unknown_here_is_noticed(
    database: Database, monkeypatch: pytest.MonkeyPatch, score: str
) -> None:
    row_of = Session.row

    async def other_order(session: Session, name: str, *arguments: object) -> object:
        row = await row_of(session, name, *arguments)
        assert row is not None
        scores = [*row[score]]
        scores[40] = float(np.nextafter(np.float32(scores[40]), np.float32(9)))
        return {**row, score: scores}

    monkeypatch.setattr(Session, "row", other_order)
    async with database.shard_snapshot() as session:
        assert await exact_scores.probe(session) is None
