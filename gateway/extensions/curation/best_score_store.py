"""How many answers of each tenant had which best score, by day."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

from index.postgres.database import Database

KEPT_DAYS = 30


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
