"""Counts the questions of tenants that have them recorded, and stores the counts every few seconds.

The asker is not recorded. A process that is killed loses the counts of its last FLUSH_S seconds.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime

from gateway.extension import FlushBuffer, Outcome
from gateway.extensions.curation.asked_questions.asked_question_store import (
    AskedQuestionStore,
    QuestionCount,
    QuestionKey,
    comparable_question,
)

FLUSH_S = 5.0
QUESTIONS_MAX = 10_000  # pending questions; further ones are dropped
CHARACTERS_MAX = 300  # of a question; longer texts are messages, not questions that others ask
_PENDING_CHARACTERS_MAX = 1_000_000
_DAY_S = 86_400


class AskedQuestionLog:
    """now_s: seconds since 1970. every_s: time between flushes. collect: as in `FlushBuffer`."""

    def __init__(
        self,
        store: AskedQuestionStore,
        now_s: Callable[[], float],
        *,
        every_s: float = FLUSH_S,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        self._now_s = now_s
        self._day_no = -1
        self._day = date.min
        self.pending: FlushBuffer[QuestionKey, QuestionCount] = FlushBuffer(
            "asked_questions",
            store.add,
            _merge,
            every_s=every_s,
            items_max=QUESTIONS_MAX,
            size_of=lambda count: len(count.question),
            size_max=_PENDING_CHARACTERS_MAX,
            collect=collect,
        )

    def add(self, tenant: str, question: str, outcome: Outcome, asked: int = 1) -> None:
        """Count the question, asked so often, if it is short."""
        if len(question) > CHARACTERS_MAX:
            return
        if comparable := comparable_question(question):
            unsure = asked if outcome != "confident" else 0
            key = QuestionKey(tenant, self._today(), comparable)
            self.pending.add(tenant, key, QuestionCount(question.strip(), asked, unsure))

    def _today(self) -> date:
        day_no = int(self._now_s()) // _DAY_S
        if day_no != self._day_no:
            self._day_no, self._day = day_no, datetime.fromtimestamp(day_no * _DAY_S, UTC).date()
        return self._day


def _merge(earlier: QuestionCount, later: QuestionCount) -> QuestionCount:
    earlier.asked += later.asked
    earlier.unsure += later.unsure
    return earlier
