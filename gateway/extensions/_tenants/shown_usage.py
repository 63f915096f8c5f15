"""What a tenant has used by day, and the lag of its index."""

from dataclasses import dataclass
from datetime import date

from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class DailyUsage:
    day: date
    operation: str
    tokens: int
    cost: float
    embedded: int
    reused: int


@dataclass(frozen=True, slots=True)
class IngestStatus:
    """The lag of a source's part of the index.

    without_vector: chunks whose text the embedder could not embed.
    oldest_waiting_s: age of the oldest waiting job; None if none waits.
    lag_s: time since the oldest unfinished work was requested, or due by its schedule.
    """

    source: str
    waiting: int
    running: int
    failed: int
    embedded: int
    reused: int
    without_vector: int
    oldest_waiting_s: float | None
    lag_s: float


class ShownUsage:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def days(self, tenant: str, first: date, last: date) -> list[DailyUsage]:
        rows = await self._database.rows("usage.days", tenant, first, last)
        return [DailyUsage(**row) for row in rows]

    async def status(self, tenant: str) -> list[IngestStatus]:
        rows = await self._database.rows("usage.status", tenant)
        return [IngestStatus(**row) for row in rows]
