"""Recall, reciprocal rank and nDCG of answers, and their intervals."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions.evaluation import measures
from gateway.extensions.evaluation.judged_questions import JudgedQuestion

DOCUMENTS = ("a", "b", "c")


def question(*documents: str, passage: str | None = None) -> JudgedQuestion:
    return JudgedQuestion(question="Who lights the lamp?", documents=documents, passage=passage)


def hits(*documents: str) -> list[dict[str, str]]:
    return [{"document_id": each, "text": f"The text of {each}."} for each in documents]


@pytest.mark.parametrize(
    ("right", "found", "expected"),
    [
        (("a",), "ab", (1.0, 1.0, 1.0)),
        (("b",), "ab", (1.0, 0.5, 1 / log2(3))),
        (("c",), "ab", (0.0, 0.0, 0.0)),
        (("a", "c"), "abc", (1.0, 1.0, (1 + 1 / 2) / (1 + 1 / log2(3)))),
        (("a", "c"), "aab", (0.5, 1.0, 1 / (1 + 1 / log2(3)))),
        (("a",), "", (0.0, 0.0, 0.0)),
    ],
)
def test_an_answer_is_measured_by_the_ranks_of_its_right_documents(
    right: tuple[str, ...], found: str, expected: tuple[float, float, float]
) -> None:
    assert measures.of_hits(question(*right), hits(*found), 10) == pytest.approx(expected)


def test_a_passage_tells_the_right_hit_of_a_document_from_others() -> None:
    asked = question("a", passage="the  TEXT\nof a")
    other = [{"document_id": "a", "text": "Something else."}]

    assert measures.of_hits(asked, other, 10) == (0.0, 0.0, 0.0)
    assert measures.of_hits(asked, [*other, *hits("a")], 10)[:2] == (1.0, 0.5)


def test_a_passage_alone_is_right_in_any_document_once() -> None:
    asked = question(passage="the text")

    assert measures.of_hits(asked, hits("b", "c"), 10) == (1.0, 1.0, 1.0)


@given(st.sets(st.sampled_from(DOCUMENTS), min_size=1), st.lists(st.sampled_from(DOCUMENTS)))
def test_each_measure_is_from_0_to_1_and_full_marks_need_the_best_order(
    right: set[str], found: list[str]
) -> None:
    recall, mrr, ndcg = measures.of_hits(question(*right), hits(*found), 10)

    assert min(recall, mrr, ndcg) >= 0
    assert max(recall, mrr, ndcg) <= 1 + 1e-12
    is_ideal = set(found[: len(right)]) == right
    assert (ndcg == pytest.approx(1)) == is_ideal


def test_an_interval_is_around_the_mean_and_narrows_with_more_questions() -> None:
    few, many = np.array([0.0, 1.0] * 10), np.array([0.0, 1.0] * 1_000)

    wide, narrow = measures.interval(few), measures.interval(many)

    assert wide.mean == 0.5
    assert wide.low < 0.4
    assert wide.high > 0.6
    assert narrow.high - narrow.low == pytest.approx(4 * 0.5 / np.sqrt(2_000), rel=0.2)
    assert measures.interval(few) == wide


def test_a_document_of_another_tenant_is_not_the_one_that_was_meant() -> None:
    """It is public, and has the identifier of one of the tenant's own."""
    found = [{**hits("a")[0], "tenant": "beta"}, *hits("a")]

    assert measures.of_hits(question("a"), found, 10) == pytest.approx((1.0, 0.5, 1 / log2(3)))
    assert measures.of_hits(question("a"), found[:1], 10) == (0.0, 0.0, 0.0)
