"""What of agents' writing a tenant holds until somebody ratifies it."""

from dataclasses import asdict

from index.audit import audit_log
from index.errors import TenantMissing
from index.model.provenance import Quarantine
from index.postgres.database import Database


class QuarantineStore:
    """Raises `TenantMissing`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant: str) -> Quarantine | None:
        row = await self._database.row("provenance.quarantine", tenant)
        if row is None:
            raise TenantMissing(tenant)
        held = row["quarantine"]
        return None if held is None else Quarantine(held["of"], tuple(held["readers"]))

    async def put(self, tenant: str, quarantine: Quarantine | None) -> None:
        """Principals hold it: the next request of each has it."""
        held = None if quarantine is None else asdict(quarantine)
        async with self._database.transaction() as session:
            if await session.row("provenance.put_quarantine", tenant, held) is None:
                raise TenantMissing(tenant)
            await audit_log.append(session, tenant, "quarantine.put", tenant, quarantine=held)
