"""Tenants' query gates: which messages are questions for their documents."""

from collections.abc import Mapping
from typing import Any

from index.audit import audit_log
from index.errors import TenantMissing
from index.postgres.database import Database

GATES_MAX = 20  # of a tenant


class QueryGateStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, tenant: str, name: str) -> Mapping[str, Any] | None:
        """The tenant's gate; None if it has none of that name."""
        row = await self._database.row("query_gates.read", tenant, name)
        return None if row is None else row["words"]

    async def put(self, tenant: str, name: str, words: Mapping[str, Any] | None) -> bool:
        """Store the tenant's gate; None removes it. False if it has GATES_MAX others."""
        async with self._database.transaction() as session:
            others = await session.value("query_gates.count", tenant, name)
            if others is None:
                raise TenantMissing(tenant)
            if words is None:
                await session.rows("query_gates.remove", tenant, name)
            elif others >= GATES_MAX:
                return False
            else:
                await session.rows("query_gates.put", tenant, name, dict(words))
            await audit_log.append(session, tenant, "gate.put", name, custom=words is not None)
        return True
