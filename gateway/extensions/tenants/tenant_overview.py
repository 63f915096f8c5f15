"""What tenants store and cost, for people."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias

from gateway.extensions._tenants.usage_store import MonthlyUsage
from index.documents import quotas
from index.model.quota import StoredAmounts
from index.postgres.database import Database
from index.postgres.session import Row

TenantOrder: TypeAlias = Literal["cost", "id"]


@dataclass(frozen=True, slots=True)
class TenantSummary:
    """stored: without sources, which are not counted. month: what the current one costs so far."""

    tenant: str
    name: str
    created_at: datetime
    is_being_deleted: bool
    stored: StoredAmounts
    month: MonthlyUsage


@dataclass(frozen=True, slots=True)
class TenantInventory:
    """groups: those that were given members. keys: those that work, without tokens."""

    summary: TenantSummary
    revision: int
    access_revision: int
    languages: tuple[str, ...]
    groups: int
    keys: int


class TenantOverview:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, *, after: str, limit: int, month: date, contains: str = "", order: TenantOrder = "id"
    ) -> list[TenantSummary]:
        """Tenants by identifier or by cost, also those that are being deleted.

        month: its first day. contains: a part of the identifier or the name, in any case.
        """
        statement = "tenants.page_by_cost" if order == "cost" else "tenants.page"
        rows = await self._database.rows(statement, after, month, limit, contains)
        return [_summary(row) for row in rows]

    async def inventory(self, tenant: str, month: date) -> TenantInventory | None:
        """month: its first day."""
        row = await self._database.row("tenants.inventory", tenant, month)
        if row is None:
            return None
        return TenantInventory(
            _summary(row, sources=row["sources"]),
            row["revision"],
            row["access_revision"],
            tuple(row["languages"]),
            row["groups"],
            row["keys"],
        )


def _summary(row: Row, sources: int = 0) -> TenantSummary:
    return TenantSummary(
        row["tenant"],
        row["name"],
        row["created_at"],
        row["is_being_deleted"],
        quotas.amounts_of(row) + StoredAmounts(sources=sources),
        MonthlyUsage(row["cost_month"], row["budget_month"]),
    )
