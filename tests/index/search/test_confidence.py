"""Whether an answer is sure, by what its hits score."""

from typing import Any

import pytest

from index.search.confidence import is_low
from index.search.hits import Hit
from index.search.ranking.fusion import FusedChunk


def hit(score: float, source: str = "api", tenant: str = "acme") -> Hit:
    return Hit(
        chunk_id=1,
        document_id="a",
        title="",
        text="",
        score=score,
        source=source,
        uri="",
        language="en",
        tags=(),
        start=0,
        end=0,
        ranking=FusedChunk(1, score, None, None),
        tenant=tenant,
        scope_name="tenant",
        kind="text",
        summaries=(),
        metadata={},
    )


@pytest.mark.parametrize(
    ("hits", "confidence", "default", "expected"),
    [
        ([hit(0.1)], None, None, False),
        ([], None, None, False),
        ([hit(0.1)], {}, 0.2, True),
        ([hit(0.2)], None, 0.2, False),
        ([hit(0.1)], {"score_min": 0.05}, 0.2, False),
        ([hit(0.1)], {"score_min": 0.2}, None, True),
        ([], {"score_min": 0.2}, None, True),
        ([], {"sources": {"wiki": 0.2}}, None, False),
        ([hit(0.1), hit(0.1, "wiki")], {"score_min": 0.2, "sources": {"wiki": 0.05}}, None, False),
        ([hit(0.1, "wiki")], {"sources": {"wiki": 0.2}}, None, True),
        ([hit(0.1, "wiki"), hit(0.01)], {"sources": {"wiki": 0.2}}, None, False),
        ([hit(0.1, "wiki", "beta")], {"sources": {"wiki": 0.05}}, 0.2, True),
    ],
)
def test_an_answer_is_low_if_no_hit_scores_what_its_source_has_to(
    hits: list[Hit], confidence: dict[str, Any] | None, default: float | None, *, expected: bool
) -> None:
    assert is_low(hits, confidence, tenant="acme", default=default) is expected


@pytest.mark.parametrize(
    ("hits", "confidence", "default", "expected"),
    [
        ([hit(0.1)], None, None, True),
        ([hit(0.1), hit(0.3)], None, None, False),
        ([], None, None, False),
        ([hit(0.1)], None, 0.0, False),
        ([hit(0.1)], {"score_min": 0.0}, None, False),
        ([hit(0.1)], {"score_min": 0.1}, 0.2, False),
        ([hit(0.1, "wiki")], {"sources": {"wiki": 0.05}}, None, False),
        ([hit(0.1)], {"sources": {"wiki": 0.05}}, None, True),
        ([], {"score_min": 0.0}, 0.2, False),
    ],
)
def test_the_measured_score_judges_hits_where_nobody_has_set_one(
    hits: list[Hit], confidence: dict[str, Any] | None, default: float | None, *, expected: bool
) -> None:
    low = is_low(hits, confidence, tenant="acme", default=default, measured=0.25)

    assert low is expected
