"""What a tenant lets its callers choose, receive and share."""

from index.audit import audit_log
from index.errors import TenantMissing
from index.postgres.database import Database


class TenantChoices:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_max_staleness(self, tenant: str, max_staleness_ms: int | None) -> None:
        """Limit what callers of the tenant may choose; None: as much as the deployment allows.

        Raises `TenantMissing`.
        """
        async with self._database.transaction() as session:
            if await session.row("tenants.put_max_staleness", tenant, max_staleness_ms) is None:
                raise TenantMissing(tenant)
            await audit_log.append(
                session, tenant, "max_staleness.put", tenant, max_staleness_ms=max_staleness_ms
            )

    async def put_receives_public(self, tenant: str, *, receives: bool) -> None:
        """Admit other tenants' public documents to its searches, or not.

        Raises `TenantMissing`.
        """
        async with self._database.transaction() as session:
            if await session.row("tenants.put_receives_public", tenant, receives) is None:
                raise TenantMissing(tenant)
            await audit_log.append(
                session, tenant, "receives_public.put", tenant, receives_public=receives
            )

    async def shares_answers(self, tenant: str) -> bool:
        """Whether callers with other grants who see the same share cached answers.

        Raises `TenantMissing`.
        """
        row = await self._database.row("tenants.shares_answers", tenant)
        if row is None:
            raise TenantMissing(tenant)
        shares: bool = row["shares_answers"]
        return shares

    async def put_shares_answers(self, tenant: str, *, shares: bool) -> None:
        """Let callers who see the same share cached answers, or those with equal grants alone.

        Raises `TenantMissing`.
        """
        async with self._database.transaction() as session:
            if await session.row("tenants.put_shares_answers", tenant, shares) is None:
                raise TenantMissing(tenant)
            await audit_log.append(
                session, tenant, "shares_answers.put", tenant, shares_answers=shares
            )
