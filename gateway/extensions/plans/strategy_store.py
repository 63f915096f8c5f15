"""Tenants' strategies: search plans that are stored under a name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from index.audit import audit_log
from index.errors import TenantMissing
from index.postgres.database import Database

STRATEGIES_MAX = 100  # of a tenant; a starting value, not measured


@dataclass(frozen=True, slots=True)
class StoredStrategy:
    """strategy: the fields of the body that stored it; in a list, without the plan."""

    name: str
    strategy: Mapping[str, Any]
    updated_at: datetime


class StrategyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, tenant: str, name: str) -> StoredStrategy | None:
        """The tenant's strategy; None if it has none of that name."""
        row = await self._database.row("strategies.read", tenant, name)
        return None if row is None else StoredStrategy(**row)

    async def all(self, tenant: str) -> Sequence[StoredStrategy]:
        """The tenant's strategies without their plans, by name."""
        return [
            StoredStrategy(**row) for row in await self._database.rows("strategies.all", tenant)
        ]

    async def put(
        self, tenant: str, name: str, strategy: Mapping[str, Any]
    ) -> StoredStrategy | None:
        """Store the strategy in place of one of that name; None if there are STRATEGIES_MAX others.

        Raises `TenantMissing`.
        """
        async with self._database.transaction() as session:
            others = await session.value("strategies.count", tenant, name)
            if others is None:
                raise TenantMissing(tenant)
            if others >= STRATEGIES_MAX:
                return None
            (row,) = await session.rows("strategies.put", tenant, name, dict(strategy))
            await audit_log.append(session, tenant, "strategy.put", name)
        return StoredStrategy(**row)

    async def remove(self, tenant: str, name: str) -> bool:
        """Whether there was a strategy of that name."""
        async with self._database.transaction() as session:
            is_removed = bool(await session.value("strategies.remove", tenant, name))
            if is_removed:
                await audit_log.append(session, tenant, "strategy.remove", name)
        return is_removed
