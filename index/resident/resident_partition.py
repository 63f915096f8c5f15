"""One partition in memory: its shard, and how the shard keeps in step with PostgreSQL."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from common import background_tasks
from index.errors import DatabaseUnavailable
from index.postgres.database import Database
from index.resident.building import shard_source
from index.resident.building.shard_source import ShardSource, SourcedShard
from index.resident.shard import Shard

# loaded: from PostgreSQL. mapped: from a file that another worker has stored.
# unsuitable: too large, or with vectors that a shard can't hold. outdated: it disagreed with
# PostgreSQL, or the change log no longer reaches back to it.
Event: TypeAlias = Literal[
    "loaded",
    "mapped",
    "followed",
    "compacted",
    "evicted",
    "outdated",
    "unsuitable",
    "unavailable",
]
OnEvent: TypeAlias = Callable[[Event], None]

# Starting values, not measured.
_READINGS_MAX = 3  # of the change log, for one search
_CHANGED_ROWS_MAX = 1_024  # beside the oldest segment, before all segments are merged
_CHANGED_SHARE = 32  # or one row in this many, if that is more


class ResidentPartition:
    """A shard, and the changes that are applied to it.

    Each version of the shard is immutable, so a search keeps the version that it began with.
    """

    def __init__(
        self, sourced: SourcedShard, source: ShardSource, database: Database, on_event: OnEvent
    ) -> None:
        self.shard = sourced.shard
        self._base_revision = sourced.base_revision
        self._source = source
        self._database = database
        self._on_event = on_event
        self._reading: asyncio.Task[bool] | None = None
        self._compaction: asyncio.Task[None] | None = None

    async def follow(self, revision: int) -> Shard | None:
        """The shard at the revision or a later one; None if it can't get there.

        Searches share a reading of the change log, which may have begun before the revision.
        Raises `DatabaseUnavailable`.
        """
        for _ in range(_READINGS_MAX):
            if self.shard.revision >= revision:
                return self.shard
            if self._reading is None:
                self._reading = asyncio.create_task(self._read_changes())
            if not await asyncio.shield(self._reading):
                return None
        return self.shard if self.shard.revision >= revision else None

    async def close(self) -> None:
        """End the work in the background."""
        tasks = (self._reading, self._compaction)
        await background_tasks.end(*(task for task in tasks if task is not None))

    async def _read_changes(self) -> bool:
        """Apply the changes up to now; False if they can't be applied."""
        try:
            before = self.shard
            followed = await shard_source.follow(self._database, before)
            if self.shard is not before:
                return True  # compacted meanwhile: the next reading applies the changes
            if followed is None:
                return False
            self.shard = followed
            self._on_event("followed")
            if self._compaction is None and _needs_compaction(followed):
                self._compaction = asyncio.create_task(self._compact())
            return True
        finally:
            self._reading = None

    async def _compact(self) -> None:
        """Take a new base, with the changes that were committed meanwhile.

        A search may have followed further while these were read; then the next one reads again.
        Rule 2 of `followed_shard`.
        """
        try:
            compacted = await self._source.compact(self.shard, self._base_revision)
            if compacted is not None:
                self.shard, self._base_revision = compacted.shard, compacted.base_revision
                self._on_event(compacted.source)
        except DatabaseUnavailable:
            self._on_event("unavailable")
        finally:
            self._compaction = None


def _needs_compaction(shard: Shard) -> bool:
    """Whether so many rows have changed that one segment would be searched faster."""
    if not shard.segments:
        return False
    changed = shard.rows - int(np.count_nonzero(shard.live[0]))
    return changed > max(_CHANGED_ROWS_MAX, shard.rows // _CHANGED_SHARE)
