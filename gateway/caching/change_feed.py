"""Connects the caches to PostgreSQL's change log."""

import asyncio

from cache.errors import ChangeFeedUnavailable
from cache.protocol import Revisions
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeLog, ChangeSet
from index.tenants.tenant_store import TenantStore

_TIMEOUT_S = 2.0  # a starting value, not measured; the query reads two rows by primary key


class ChangeLogFeed:
    """The committed changes in PostgreSQL. Raises `ChangeFeedUnavailable`."""

    def __init__(self, changes: ChangeLog, tenants: TenantStore) -> None:
        self._changes = changes
        self._tenants = tenants

    async def changes_after(
        self, tenant: str, partition: str, revision: int, _required: Revisions, /
    ) -> ChangeSet | None:
        try:
            return await self._changes.changes_after(tenant, partition, revision)
        except DatabaseUnavailable as error:
            raise ChangeFeedUnavailable from error

    async def has_reached(self, revisions: Revisions) -> bool:
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
