"""What the caches are kept true by: the index, as they see it."""

import asyncio
from collections.abc import Callable, Collection, Mapping

import structlog
from cachetools import LRUCache

from cache.errors import ChangeFeedUnavailable
from cache.protocol import Revisions
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeLog, ChangeSet
from index.tenants.tenant_store import TenantRevisions as Counters
from index.tenants.tenant_store import TenantStore

_LATEST_MAX = 10_000  # tenants; about 3 MB
_TIMEOUT_S = 2.0  # a starting value, not measured: it looks up two rows by primary key

log = structlog.get_logger()


class ChangeLogFeed:
    """The changes that PostgreSQL keeps. Raises `TruthUnavailable`."""

    def __init__(self, changes: ChangeLog, tenants: TenantStore) -> None:
        self._changes = changes
        self._tenants = tenants

    async def changes_after(self, home: str, partition: str, revision: int) -> ChangeSet | None:
        try:
            return await self._changes.changes_after(home, partition, revision)
        except DatabaseUnavailable as away:
            raise ChangeFeedUnavailable from away

    async def has_reached(self, revisions: Revisions) -> bool:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                found = await self._tenants.revisions_aside(revisions.by_partition)
                if any(one.history != revisions.history for one in found.values()):
                    return True  # of the history that was meant nothing can be said any more
                now = {name: one.revision for name, one in found.items()}
                if Revisions(revisions.history, now).reach(revisions.of(now)):
                    return True
                await _begin_history(self._tenants, revisions.history)
        except (DatabaseUnavailable, TimeoutError) as away:
            raise ChangeFeedUnavailable from away
        return False


class ObservedRevisions:
    """The tenants' counters as PostgreSQL has them, each reading compared with the one before.

    A counter that is lower than before, in the same history, shows that the database has lost
    changes: the history gets a new name, and `count` receives went_back.
    """

    def __init__(self, tenants: TenantStore, count: Callable[[str], None]) -> None:
        self._tenants = tenants
        self._count = count
        self._latest: LRUCache[str, Counters] = LRUCache(_LATEST_MAX)

    async def revisions(self, tenants: Collection[str]) -> Mapping[str, Counters]:
        found = await self._tenants.revisions(tenants)
        for tenant, counters in found.items():
            latest = self._latest.get(tenant)
            if latest is not None and counters.is_before(latest):
                self._count("went_back")
                await _begin_history(self._tenants, counters.history)
                found = await self._tenants.revisions(tenants)
                break
        self._latest.update(found)
        return found


async def _begin_history(tenants: TenantStore, history: str) -> None:
    log.error(
        "history",
        state="went_back",
        history=history,
        detail="the database lost changes that were known here: nothing cached is believed; "
        "after a restore run `nearhit restore` without a file",
    )
    await tenants.begin_history(instead_of=history)
