"""How each tenant's searches were answered, by hour."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from index.postgres.database import Database

KEPT_DAYS = 92
Outcome: TypeAlias = Literal["confident", "low_confidence", "empty", "audit_equal", "audit_other"]
Step: TypeAlias = Literal["hour", "day"]


class StatisticsKey(NamedTuple):
    """What answers are counted by. hour: its begin. latency_ms_max: 0 if it was not measured."""

    tenant: str
    hour: datetime
    tier: str
    outcome: Outcome
    latency_ms_max: int


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    start: datetime
    tier: str
    outcome: Outcome
    answers: int


@dataclass(frozen=True, slots=True)
class LatencyCount:
    tier: str
    latency_ms_max: int
    answers: int


@dataclass(frozen=True, slots=True)
class PeriodLatencyCount:
    start: datetime
    tier: str
    latency_ms_max: int
    answers: int


class SearchStatisticsStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, counts: Mapping[StatisticsKey, int]) -> None:
        """Add to the stored counts, and delete the tenants' rows older than `KEPT_DAYS`."""
        keys = sorted(counts)
        async with self._database.transaction() as session:
            await session.rows(
                "search_statistics.add",
                [key.tenant for key in keys],
                [key.hour for key in keys],
                [key.tier for key in keys],
                [key.outcome for key in keys],
                [key.latency_ms_max for key in keys],
                [counts[key] for key in keys],
            )
            tenants = sorted({key.tenant for key in keys})
            await session.rows("search_statistics.prune", tenants, KEPT_DAYS)

    async def outcomes(
        self, tenant: str, begin: datetime, end: datetime, step: Step
    ) -> list[OutcomeCount]:
        """The counts from `begin` to before `end`, by hour or by day in UTC."""
        rows = await self._database.rows("search_statistics.outcomes", tenant, begin, end, step)
        return [OutcomeCount(**row) for row in rows]

    async def latencies(self, tenant: str, begin: datetime, end: datetime) -> list[LatencyCount]:
        rows = await self._database.rows("search_statistics.latencies", tenant, begin, end)
        return [LatencyCount(**row) for row in rows]

    async def latencies_of_all(self, begin: datetime, step: Step) -> list[PeriodLatencyCount]:
        """Of all tenants since `begin`, by hour or by day in UTC."""
        rows = await self._database.rows("search_statistics.latencies_of_all", begin, step)
        return [PeriodLatencyCount(**row) for row in rows]
