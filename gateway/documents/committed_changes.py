"""What a commit changes in this process before it is acknowledged."""

import asyncio
from dataclasses import dataclass

from cache.invalidation.drain import Invalidation
from cache.protocol import Revisions
from index.invalidation.changes import ChangeSet
from index.resident.resident_shards import ResidentShards


@dataclass(frozen=True, slots=True)
class CommittedChanges:
    """Cached answers end, and shards that were searched since the last commit follow.

    A search on a shard that is behind computes in vain, reads the changes, and computes again.
    """

    invalidation: Invalidation[ChangeSet]
    shards: ResidentShards

    async def drain(self, tenant: str, revisions: Revisions) -> None:
        await asyncio.gather(
            self.invalidation.drain(tenant, revisions),
            self.shards.follow_commit(revisions.history, revisions.by_partition),
        )
