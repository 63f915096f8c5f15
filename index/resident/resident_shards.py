"""Which partitions live in memory, and how their shards keep in step with PostgreSQL."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import structlog
from cachetools import TTLCache

from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeLog, ChangeSet
from index.model.scope import Scope
from index.postgres.database import Database
from index.resident import loading
from index.resident.loading import Unsuitable
from index.resident.shard import Shard

# Starting values, not measured.
_SEARCHES_MIN = 3  # before a partition is loaded, each within `_WINDOW_S` of the one before
_WINDOW_S = 60.0
_COUNTED_MAX = 10_000  # partitions
_RETRY_S = 30.0  # after a partition could not be loaded
_COMPACTED_ROWS = 1_024  # changed rows that a shard holds beside its oldest segment, at least
_COMPACTED_SHARE = 4  # and at least one row in this many

Event: TypeAlias = Literal["loaded", "followed", "compacted", "evicted", "outdated", "unsuitable"]
OnEvent: TypeAlias = Callable[[Event], None]

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class _Resident:
    """A partition's shard; None while it loads.

    task: loads or compacts it. following: applies the changes that a search waits for.
    uncompacted: the changes since the last compaction began.
    """

    shard: Shard | None = None
    task: asyncio.Task[None] | None = None
    following: asyncio.Task[Shard | None] | None = None
    uncompacted: list[ChangeSet] = field(default_factory=list)


class ResidentShards:
    """The shards of this process.

    bytes_max: what all may take together; the least recently searched are evicted.
    chunks_max: of a partition that is loaded; a larger one is searched in PostgreSQL.
    on_event: called at each event, for metrics.
    """

    def __init__(
        self, database: Database, *, bytes_max: int, chunks_max: int, on_event: OnEvent
    ) -> None:
        self._database = database
        self._changes = ChangeLog(database)
        self._bytes_max = bytes_max
        self._chunks_max = chunks_max
        self._on_event = on_event
        self._residents: dict[str, _Resident] = {}  # the least recently searched first
        self._searches: TTLCache[str, int] = TTLCache(_COUNTED_MAX, _WINDOW_S)
        self._refused: TTLCache[str, None] = TTLCache(_COUNTED_MAX, _RETRY_S)
        self._loading = asyncio.Lock()

    @property
    def size_bytes(self) -> int:
        return sum(
            resident.shard.size_bytes for resident in self._residents.values() if resident.shard
        )

    def of(self, scope: Scope) -> list[Shard] | None:
        """The shards of all partitions of the scope; None until they are loaded.

        A partition that is searched often begins to load.
        """
        shards = [self._touch(partition) for partition in scope.partitions]
        resident = [shard for shard in shards if shard is not None]
        return resident if len(resident) == len(shards) else None

    async def follow(
        self, shards: Sequence[Shard], history: str, revisions: Mapping[str, int]
    ) -> Sequence[Shard] | None:
        """The shards at these revisions or later ones; None if one has to be loaded again.

        history: of the database, to which the revisions belong.
        Raises `DatabaseUnavailable`.
        """
        replaced = [shard for shard in shards if shard.history != history]
        if replaced:
            self.drop(replaced)
            return None
        if any(shard.revision > revisions[shard.partition] for shard in shards):
            return None  # the search reads an older snapshot
        followed = [
            shard if shard.revision == revisions[shard.partition] else await self._follow(shard)
            for shard in shards
        ]
        current = [shard for shard in followed if shard is not None]
        return current if len(current) == len(shards) else None

    def drop(self, shards: Sequence[Shard]) -> None:
        """Forget shards that did not agree with PostgreSQL; they are loaded again."""
        for shard in shards:
            self._drop(shard.partition, "outdated")

    async def close(self) -> None:
        """End all loading."""
        tasks = [
            task
            for resident in self._residents.values()
            for task in (resident.task, resident.following)
            if task is not None
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._residents.clear()

    def _touch(self, partition: str) -> Shard | None:
        resident = self._residents.pop(partition, None)
        if resident is None:
            self._count(partition)
            return None
        self._residents[partition] = resident  # the most recently searched last
        return resident.shard

    def _count(self, partition: str) -> None:
        """Count a search; load the partition if it is searched often."""
        self._searches[partition] = searches = self._searches.get(partition, 0) + 1
        if searches >= _SEARCHES_MIN and partition not in self._refused:
            resident = self._residents[partition] = _Resident()
            self._start(resident, self._load(partition, resident))

    def _start(self, resident: _Resident, work: Coroutine[Any, Any, None]) -> None:
        resident.task = asyncio.create_task(work)

    async def _load(self, partition: str, resident: _Resident) -> None:
        shard = None
        try:
            async with self._loading:  # one at a time, so that loading slows searches little
                shard = await loading.load(self._database, partition, self._chunks_max)
        except Unsuitable as unsuitable:
            log.info("shard_unsuitable", partition=partition, reason=str(unsuitable))
        except DatabaseUnavailable:
            log.info("shard_unavailable", partition=partition)
        finally:
            resident.task = None
        if shard is None or shard.size_bytes > self._bytes_max:
            del self._residents[partition]
            self._refused[partition] = None
            self._on_event("unsuitable")
            return
        resident.shard = shard
        self._on_event("loaded")
        self._evict()

    def _evict(self) -> None:
        size_bytes = self.size_bytes
        for partition, resident in list(self._residents.items()):
            if size_bytes <= self._bytes_max:
                break
            if resident.shard is not None:
                size_bytes -= resident.shard.size_bytes
                self._drop(partition, "evicted")

    def _drop(self, partition: str, event: Event) -> None:
        resident = self._residents.get(partition)
        if resident is not None and resident.shard is not None:
            del self._residents[partition]
            self._on_event(event)

    async def _follow(self, shard: Shard) -> Shard | None:
        """The partition's shard as it is now; searches that wait for it share one reading."""
        resident = self._residents.get(shard.partition)
        if resident is None or resident.shard is None:
            return None
        if resident.shard is not shard:  # another search has followed meanwhile
            return resident.shard
        if resident.following is None:
            resident.following = asyncio.create_task(self._read_changes(shard, resident))
        return await asyncio.shield(resident.following)

    async def _read_changes(self, shard: Shard, resident: _Resident) -> Shard | None:
        try:
            changes = await self._changes.changes_after("", shard.partition, shard.revision)
            if resident.shard is not shard:  # evicted or compacted meanwhile
                return resident.shard
            try:
                followed = None if changes is None else _applied(shard, changes)
            except Unsuitable:
                followed = None
            if followed is None or changes is None:
                self._drop(shard.partition, "outdated")
                return None
            resident.shard = followed
            resident.uncompacted.append(changes)
            self._on_event("followed")
            if _is_scattered(followed) and resident.task is None:
                resident.uncompacted = []
                self._start(resident, self._compact(followed, resident))
            return followed
        finally:
            resident.following = None

    async def _compact(self, shard: Shard, resident: _Resident) -> None:
        try:
            compacted = await asyncio.to_thread(shard.compacted)
        finally:
            resident.task = None
        for changes in resident.uncompacted:
            compacted = _applied(compacted, changes) or compacted
        resident.shard = compacted
        self._on_event("compacted")
        self._evict()


def _applied(shard: Shard, changes: ChangeSet) -> Shard | None:
    """The shard after the changes; None if they make it another one. Raises `Unsuitable`."""
    spaces = {chunk.space for chunk in changes.changed_chunks} | {shard.space} - {None}
    if changes.history != shard.history or len(spaces) > 1:
        return None
    changed = [chunk.chunk_id for chunk in changes.changed_chunks]
    followed = shard.without(np.array([*changes.removed, *changed], np.int64))
    if changed:
        segment = loading.from_changed(shard.labels, changes.changed_chunks)
        followed = followed.with_segment(segment)
    return followed.at(changes.revision, next(iter(spaces), None))


def _is_scattered(shard: Shard) -> bool:
    """Whether so many rows have changed that one segment would be searched faster."""
    if not shard.segments:
        return False
    changed = shard.rows - int(np.count_nonzero(shard.live[0]))
    return changed > max(_COMPACTED_ROWS, shard.rows // _COMPACTED_SHARE)
