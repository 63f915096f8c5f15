"""Questions without a sure answer, as they wait to be kept: no more than there is room for."""

from collections.abc import Sequence
from typing import cast

import pytest

from gateway.extension import LOW_CONFIDENCE_SUFFIX
from gateway.extensions.curation.low_confidence_log import BYTES_MAX, LowConfidenceLog
from gateway.extensions.curation.low_confidence_store import LowConfidenceItem, LowConfidenceStore

pytestmark = pytest.mark.anyio


class StoredQuestions:
    def __init__(self) -> None:
        self.doubts: list[LowConfidenceItem] = []

    async def add(self, doubts: Sequence[LowConfidenceItem], *, items_max: int) -> None:
        assert items_max == 10
        self.doubts += doubts


async def test_answers_that_wait_take_no_more_memory_than_they_may() -> None:
    kept = StoredQuestions()
    doubts = LowConfidenceLog(cast("LowConfidenceStore", kept), items_max=10, every_s=60)
    large = b'{"hits":[],"text":"' + b"x" * (BYTES_MAX // 8) + b'",' + LOW_CONFIDENCE_SUFFIX
    for number in range(6):
        doubts.add("acme", f"question {number}", large)
    doubts.add("acme", "Question 0", large)
    await doubts.pending.flush()
    first = [(each.question, each.count) for each in kept.doubts]
    doubts.add("acme", "question 9", large)
    await doubts.pending.flush()

    assert first == [("question 0", 2), ("question 1", 1), ("question 2", 1)]
    assert kept.doubts[-1].question == "question 9"


async def test_where_none_are_to_be_kept_none_wait() -> None:
    kept = StoredQuestions()
    doubts = LowConfidenceLog(cast("LowConfidenceStore", kept), items_max=0, every_s=60)

    doubts.add("acme", "question", b'{"hits":[],' + LOW_CONFIDENCE_SUFFIX)
    await doubts.pending.flush()

    assert kept.doubts == []
