"""Reads committed changes from a standby that has them, else from the primary."""

from collections.abc import Mapping
from typing import Protocol

from cache.invalidation.drain import ChangeFeed
from cache.protocol import Revisions
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeLog, ChangeSet
from index.postgres.database import Database


class ReplayingDatabase(Protocol):
    """`gateway.extensions.regions.standby.Standby`."""

    @property
    def database(self) -> Database: ...
    async def has_replayed(
        self, history: str, revisions: Mapping[str, int], wait_s: float | None = None, /
    ) -> bool: ...
    def failed(self) -> None: ...


class StandbyChangeFeed:
    """As `primary`, a `ChangeFeed`, whose errors it raises."""

    def __init__(self, standby: ReplayingDatabase, primary: ChangeFeed[ChangeSet]) -> None:
        self._standby = standby
        self._primary = primary

    async def changes_after(
        self, tenant: str, partition: str, revision: int, required: Revisions, /
    ) -> ChangeSet | None:
        changes = await self._replayed(tenant, partition, revision, required)
        if changes is not None:
            return changes
        return await self._primary.changes_after(tenant, partition, revision, required)

    async def has_reached(self, revisions: Revisions, /) -> bool:
        replayed = self._standby.has_replayed(revisions.history, revisions.by_partition, 0)
        return await replayed or await self._primary.has_reached(revisions)

    async def _replayed(
        self, tenant: str, partition: str, revision: int, required: Revisions
    ) -> ChangeSet | None:
        """The changes as the standby has replayed them; None if the primary has to be asked."""
        if not await self._standby.has_replayed(required.history, required.by_partition):
            return None
        try:
            changes = await ChangeLog(self._standby.database).changes_after(
                tenant, partition, revision
            )
        except DatabaseUnavailable:
            self._standby.failed()
            return None
        if changes is None:
            return None
        reached = Revisions(changes.history, {partition: changes.revision})
        return changes if reached.reach(required) else None
