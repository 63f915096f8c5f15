"""Counts the best scores of all answers, and stores the counts every few seconds.

Neither the question nor the asker is recorded. A process that is killed loses the counts of its
last FLUSH_S seconds.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from operator import add

from gateway.extension import FlushBuffer
from gateway.extensions.curation.best_score_store import BestScoreStore, ScoreKey

FLUSH_S = 5.0
KEYS_MAX = 100_000  # pending counts; 20 MB
_FIRST_HIT = b'{"hits":[{'  # which is the best one
# What stands before its score is numbers and texts, and a text has no quote that is not escaped.
# Metadata, which may have any name, stands behind it.
_SCORE = b'","score":'
_ROUNDING = 1e-9  # 0.29 times 100 is less than 29
_DAY_S = 86_400


class BestScoreLog:
    """now_s: seconds since 1970. every_s: time between flushes. collect: as in `FlushBuffer`."""

    def __init__(
        self,
        store: BestScoreStore,
        now_s: Callable[[], float],
        *,
        every_s: float = FLUSH_S,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        self._now_s = now_s
        self._day_no = -1
        self._day = date.min
        self.pending: FlushBuffer[ScoreKey, int] = FlushBuffer(
            "best_scores",
            store.add,
            add,
            every_s=every_s,
            items_max=KEYS_MAX,
            collect=collect,
        )

    def add(self, tenant: str, body: bytes, answers: int = 1) -> None:
        """Count an answer, given so often, whose scores are from 0 to 1."""
        best = 0.0
        if body.startswith(_FIRST_HIT):
            begin = body.index(_SCORE) + len(_SCORE)
            best = float(body[begin : body.index(b",", begin)])
        day_no = int(self._now_s()) // _DAY_S
        if day_no != self._day_no:
            self._day_no, self._day = day_no, datetime.fromtimestamp(day_no * _DAY_S, UTC).date()
        key = ScoreKey(tenant, self._day, min(int(best * 100 + _ROUNDING), 100))
        self.pending.add(tenant, key, answers)
