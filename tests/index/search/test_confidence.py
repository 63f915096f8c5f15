"""Whether an answer is sure, by what its hits score."""

from typing import Any

import pytest

from index.search.confidence import RequiredScores
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
    assert RequiredScores("acme", confidence, default=default).are_missed_by(hits) is expected


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
    required = RequiredScores("acme", confidence, default=default, measured=0.25)

    assert required.are_missed_by(hits) is expected


def test_an_explanation_names_the_score_that_each_hit_has_to_reach() -> None:
    stored = {"score_min": 0.3, "sources": {"wiki": 0.1}}
    required = RequiredScores("acme", stored, default=0.2)

    hits = (hit(0.5), hit(0.5, "wiki"), hit(0.5, "wiki", "beta"))

    assert [required.of(each) for each in hits] == [0.3, 0.1, 0.3]
    assert RequiredScores("acme", None, default=None).of(hit(0.5)) is None
