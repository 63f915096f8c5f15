"""Each tenant's quotas, and what it stores."""

from dataclasses import asdict

from index.audit import audit_log
from index.documents import quotas
from index.model.quota import Quotas, StoredAmounts
from index.postgres.database import Database


class QuotaStore:
    """defaults: of tenants without quotas of their own."""

    def __init__(self, database: Database, defaults: Quotas) -> None:
        self._database = database
        self._defaults = defaults

    async def get(self, tenant: str) -> tuple[StoredAmounts, Quotas]:
        """What the tenant stores, and the quotas that apply; nothing if there is no such tenant."""
        row = await self._database.row("quotas.get", tenant)
        if row is None:
            return StoredAmounts(), self._defaults
        stored = quotas.amounts_of(row) + StoredAmounts(sources=row["sources"])
        return stored, quotas.quotas_of(row).or_defaults(self._defaults)

    async def own(self, tenant: str) -> Quotas | None:
        """The tenant's own quotas, without defaults; None if there is no such tenant."""
        row = await self._database.row("quotas.get", tenant)
        return None if row is None else quotas.quotas_of(row)

    async def put(self, tenant: str, own: Quotas) -> bool:
        """Set the tenant's own quotas; False if there is no such tenant."""
        async with self._database.transaction() as session:
            arguments = (own.documents, own.chunks, own.bytes, own.sources)
            row = await session.row("quotas.put", tenant, *arguments)
            if row is not None:
                await audit_log.append(session, tenant, "quotas.put", tenant, **asdict(own))
            return row is not None
