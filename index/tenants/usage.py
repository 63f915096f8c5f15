"""What each tenant used of embedders, by day; and how far behind its index is."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from index.audit import audit_log
from index.postgres.database import Database


@dataclass(frozen=True, slots=True, order=True)
class UsageKey:
    """What it was for. source: of the documents, '' if it was for none."""

    tenant: str
    day: date
    operation: str
    source: str = ""


@dataclass(slots=True)
class UsageAmounts:
    """tokens: as the service says; embedded: texts that went to it; reused: chunks that did not."""

    tokens: int = 0
    money: float = 0.0
    embedded: int = 0
    reused: int = 0

    def add(self, other: "UsageAmounts") -> None:
        self.tokens += other.tokens
        self.money += other.money
        self.embedded += other.embedded
        self.reused += other.reused


@dataclass(frozen=True, slots=True)
class DailyUsage:
    day: date
    operation: str
    tokens: int
    money: float
    embedded: int
    reused: int


@dataclass(slots=True)
class MonthlyUsage:
    """What was spent so far, and the tenant's own limit; None if it has none of its own."""

    money: float
    budget: float | None


@dataclass(frozen=True, slots=True)
class IngestStatus:
    """How far behind a source's part of the index is.

    oldest_waiting_s: since the job that has waited longest was asked for; None if none waits.
    lag_s: since the oldest thing that is not yet done was asked for, or due by its schedule.
    """

    source: str
    waiting: int
    running: int
    failed: int
    embedded: int
    reused: int
    oldest_waiting_s: float | None
    lag_s: float


class UsageStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, used: Mapping[UsageKey, UsageAmounts]) -> None:
        uses = sorted(used)
        amounts = [used[use] for use in uses]
        await self._database.rows(
            "usage.add",
            [use.tenant for use in uses],
            [use.day for use in uses],
            [use.operation for use in uses],
            [use.source for use in uses],
            [each.tokens for each in amounts],
            [each.money for each in amounts],
            [each.embedded for each in amounts],
            [each.reused for each in amounts],
        )

    async def days(self, tenant: str, first: date, last: date) -> list[DailyUsage]:
        rows = await self._database.rows("usage.days", tenant, first, last)
        return [DailyUsage(**row) for row in rows]

    async def month(self, tenant: str, first: date) -> MonthlyUsage:
        """Since the month's first day; nothing and no limit if there is no such tenant."""
        row = await self._database.row("usage.month", tenant, first)
        return (
            MonthlyUsage(0.0, None)
            if row is None
            else MonthlyUsage(row["money"], row["budget_month"])
        )

    async def put_budget(self, tenant: str, budget: float | None) -> bool:
        """False if there is no such tenant."""
        async with self._database.transaction() as session:
            put = await session.row("usage.put_budget", tenant, budget)
            if put is not None:
                await audit_log.append(session, tenant, "budget.put", tenant, budget_month=budget)
            return put is not None

    async def status(self, tenant: str) -> list[IngestStatus]:
        rows = await self._database.rows("usage.status", tenant)
        return [IngestStatus(**row) for row in rows]
