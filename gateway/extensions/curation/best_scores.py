"""Counts the best scores of all answers, by tenant and day, and stores the counts.

Neither the question nor the asker is recorded. A process that is killed loses the counts of its
last FLUSH_S seconds.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from operator import add
from typing import NamedTuple

from gateway.extension import FlushBuffer
from index.postgres.database import Database

KEPT_DAYS = 30
FLUSH_S = 5.0
KEYS_MAX = 100_000  # pending counts; 20 MB
_FIRST_HIT = b'{"hits":[{'  # which is the best one
# What stands before its score is numbers and texts, and a text has no quote that is not escaped.
# Metadata, which may have any name, stands behind it.
_SCORE = b'","score":'
_ROUNDING = 1e-9  # 0.29 times 100 is less than 29
_DAY_S = 86_400


class ScoreKey(NamedTuple):
    """What answers are counted by; score_percent: in hundredths, rounded down."""

    tenant: str
    day: date
    score_percent: int


class BestScoreStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, counts: Mapping[ScoreKey, int]) -> None:
        """Add to the stored counts, and delete those of these tenants that are old."""
        keys = sorted(counts)
        tenants = [key.tenant for key in keys]
        async with self._database.transaction() as session:
            await session.rows(
                "best_scores.add",
                tenants,
                [key.day for key in keys],
                [key.score_percent for key in keys],
                [counts[key] for key in keys],
            )
            first = max(key.day for key in keys) - timedelta(days=KEPT_DAYS - 1)
            await session.rows("best_scores.prune", sorted(set(tenants)), first)

    async def counts(self, tenant: str, today: date) -> dict[int, int]:
        """The answers of the last `KEPT_DAYS` days, by score in hundredths."""
        first = today - timedelta(days=KEPT_DAYS - 1)
        rows = await self._database.rows("best_scores.counts", tenant, first)
        return {row["score_percent"]: row["answers"] for row in rows}


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
