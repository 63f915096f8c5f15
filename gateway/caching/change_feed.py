"""Connects the caches to PostgreSQL's change log."""

import asyncio

from cache.errors import ChangeFeedUnavailable
from cache.protocol import Revisions
from gateway.regions.standby import Standby
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeLog, ChangeSet
from index.tenants.tenant_store import TenantStore

_TIMEOUT_S = 2.0  # a starting value, not measured; the query reads two rows by primary key


class ChangeLogFeed:
    """The committed changes in PostgreSQL. Raises `ChangeFeedUnavailable`.

    standby: read instead of the primary once it has what is required; None without one.
    """

    def __init__(
        self, changes: ChangeLog, tenants: TenantStore, standby: Standby | None = None
    ) -> None:
        self._changes = changes
        self._tenants = tenants
        self._standby = standby

    async def changes_after(
        self, tenant: str, partition: str, revision: int, required: Revisions
    ) -> ChangeSet | None:
        if self._standby is not None:
            changes = await self._changes_on(self._standby, tenant, partition, revision, required)
            if changes is not None:
                return changes
        try:
            return await self._changes.changes_after(tenant, partition, revision)
        except DatabaseUnavailable as error:
            raise ChangeFeedUnavailable from error

    async def has_reached(self, revisions: Revisions) -> bool:
        if self._standby is not None and await self._standby.has_replayed(
            revisions.history, revisions.by_partition, wait_s=0
        ):
            return True
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                counters = await self._tenants.revisions_aside(revisions.by_partition)
                if any(counter.history != revisions.history for counter in counters.values()):
                    return True  # the history has ended, so its revisions can't be compared
                now = {partition: counter.revision for partition, counter in counters.items()}
                if Revisions(revisions.history, now).reach(revisions.of(now)):
                    return True
                await self._tenants.end_history(revisions.history)
        except (DatabaseUnavailable, TimeoutError) as error:
            raise ChangeFeedUnavailable from error
        return False

    async def _changes_on(
        self, standby: Standby, tenant: str, partition: str, revision: int, required: Revisions
    ) -> ChangeSet | None:
        """The changes as the standby has replayed them; None if the primary has to be asked."""
        if not await standby.has_replayed(required.history, required.by_partition):
            return None
        try:
            changes = await ChangeLog(standby.database).changes_after(tenant, partition, revision)
        except DatabaseUnavailable:
            standby.failed()
            return None
        if changes is None:
            return None
        reached = Revisions(changes.history, {partition: changes.revision})
        return changes if reached.reach(required) else None
