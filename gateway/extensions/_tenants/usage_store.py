"""Each tenant's usage of models by day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from index.postgres.database import Database


@dataclass(frozen=True, slots=True, order=True)
class UsageKey:
    """What usage is counted by. source: of the documents; '' if for none."""

    tenant: str
    day: date
    operation: str
    source: str = ""


@dataclass(slots=True)
class UsageAmounts:
    """tokens: as the service reports; embedded: texts sent to it; reused: chunks not sent."""

    tokens: int = 0
    cost: float = 0.0
    embedded: int = 0
    reused: int = 0

    def add(self, other: "UsageAmounts") -> None:
        self.tokens += other.tokens
        self.cost += other.cost
        self.embedded += other.embedded
        self.reused += other.reused


@dataclass(slots=True)
class MonthlyUsage:
    """Cost so far, and the tenant's own limit; None if it has none."""

    cost: float
    budget: float | None


class UsageStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, used: Mapping[UsageKey, UsageAmounts]) -> None:
        keys = sorted(used)
        amounts = [used[key] for key in keys]
        await self._database.rows(
            "usage.add",
            [key.tenant for key in keys],
            [key.day for key in keys],
            [key.operation for key in keys],
            [key.source for key in keys],
            [amount.tokens for amount in amounts],
            [amount.cost for amount in amounts],
            [amount.embedded for amount in amounts],
            [amount.reused for amount in amounts],
        )

    async def month(self, tenant: str, first: date) -> MonthlyUsage:
        """Usage since the month's first day; zero and no limit if there is no such tenant."""
        row = await self._database.row("usage.month", tenant, first)
        return (
            MonthlyUsage(0.0, None)
            if row is None
            else MonthlyUsage(row["cost"], row["budget_month"])
        )
