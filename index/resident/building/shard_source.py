"""Where shards come from: PostgreSQL, or a file that another process of the machine has written."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import structlog

from index.postgres.database import Database
from index.resident import followed_shard
from index.resident.building import loading
from index.resident.building.load_slots import LoadSlots
from index.resident.building.shard_file import Unusable
from index.resident.building.shard_folder import ShardFolder
from index.resident.shard import Shard

LOADS_MAX = 2  # at once in a worker; a starting value, not measured

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, eq=False)
class SourcedShard:
    """base_revision: of its oldest segment. source: where that comes from."""

    shard: Shard
    base_revision: int
    source: Literal["loaded", "mapped", "compacted"]


class ShardSource:
    """folder: None if no process shares shards.

    chunks_max: of a partition that is loaded.
    searches:  how often a partition was searched lately, which decides what is loaded next.
    """

    def __init__(
        self,
        database: Database,
        folder: ShardFolder | None,
        *,
        chunks_max: int,
        searches: Callable[[str], int],
    ) -> None:
        self._database = database
        self._folder = folder
        self._chunks_max = chunks_max
        self._slots = LoadSlots(LOADS_MAX, searches)

    async def load(self, partition: str) -> SourcedShard | None:
        """The partition as it is now; None if it has more chunks or is gone.

        Raises `DatabaseUnavailable` and `Unsuitable`.
        """
        async with self._locked(partition) as folder:
            mapped = await self._map(partition, folder)
            if mapped is not None:
                return mapped
            async with self._slots.slot(partition):  # few at once: loading slows searches
                shard = await loading.load(self._database, partition, chunks_max=self._chunks_max)
            if shard is None:
                return None
            return SourcedShard(await _share(shard, folder), shard.revision, "loaded")

    async def compact(self, shard: Shard, base_revision: int) -> SourcedShard | None:
        """The shard with a newer base, and with the changes up to now; None if it can't follow.

        base_revision: of the shard's oldest segment. If another process has stored a newer base,
        the shard gets that one; otherwise its segments are merged, and stored for the others.

        Raises `DatabaseUnavailable`.
        """
        async with self._locked(shard.partition) as folder:
            mapped = await self._map(shard.partition, folder, after=base_revision)
            if mapped is not None:
                return mapped
            compacted = await asyncio.to_thread(shard.compacted)
            base = await _share(compacted, folder)
        followed = await follow(self._database, base)
        if followed is None:
            return None
        return SourcedShard(followed, base.revision, "compacted")

    async def discard(self, partition: str) -> None:
        """Remove the partition's file, whose content may be wrong."""
        if self._folder is not None:
            await _remove(self._folder, partition)

    @asynccontextmanager
    async def _locked(self, partition: str) -> AsyncIterator[ShardFolder | None]:
        """The folder while the partition's lock is held; None without a folder or its lock."""
        if self._folder is None:
            yield None
            return
        async with self._folder.locked(partition) as is_locked:
            yield self._folder if is_locked else None

    async def _map(
        self, partition: str, folder: ShardFolder | None, *, after: int = -1
    ) -> SourcedShard | None:
        """The shard of the partition's file with the changes up to now; None if there is none.

        after: the revision beyond which a file is of use. One that can't be used is removed.
        """
        if folder is None:
            return None
        try:
            base = await asyncio.to_thread(folder.map, partition)
        except FileNotFoundError:
            return None
        except (OSError, Unusable) as error:
            await _remove(folder, partition, str(error))
            return None
        if base.revision <= after:
            return None
        if base.sums != await loading.read_sums(self._database):
            await _remove(folder, partition, "PostgreSQL adds scores in another order now")
            return None
        # Reads the database's history and revision too: a file of another database, or of a
        # revision that this one does not have or no longer reaches back to, can't follow.
        followed = await follow(self._database, base)
        if followed is None:
            await _remove(folder, partition, "the change log does not reach back to it")
            return None
        if followed.rows > self._chunks_max:
            return None
        return SourcedShard(followed, base.revision, "mapped")


async def follow(database: Database, shard: Shard) -> Shard | None:
    """The shard with the changes up to now; None if it has to be loaded again.

    Raises `DatabaseUnavailable`.
    """
    changes = await loading.read_changes(database, shard)
    return None if changes is None else followed_shard.apply(shard, changes)


async def _share(base: Shard, folder: ShardFolder | None) -> Shard:
    """The shard as other processes can map it; itself if they can't.

    Its labels have other codes then, so nothing that was read for the shard fits it.
    """
    if folder is None or not base.segments:
        return base
    try:
        return await asyncio.to_thread(folder.store, base)
    except (OSError, Unusable) as error:
        log.warning("shard_file", partition=base.partition, state="not_stored", reason=str(error))
        return base


async def _remove(folder: ShardFolder, partition: str, reason: str = "it may be wrong") -> None:
    log.warning("shard_file", partition=partition, state="removed", reason=reason)
    try:
        await asyncio.to_thread(folder.remove, partition)
    except OSError as error:
        log.warning("shard_file", partition=partition, state="not_removed", reason=str(error))
