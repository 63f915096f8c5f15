"""Which partitions live in the memory of this process.

If they are too large together, those go first that have not been searched for a minute, the least
recently searched before the others; then the largest, so that a large tenant displaces no small
ones. The partition of public documents, which belongs to no tenant, is treated alike. A partition
that had to go as the largest is loaded again once there is room for it.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import structlog
from cachetools import TTLCache

from common import background_tasks
from common.shares.threads import FairThreads
from index.errors import DatabaseUnavailable
from index.model.query import Filter
from index.model.scope import Scope
from index.postgres.database import Database
from index.resident import followed_shard, matching_documents, shard
from index.resident.building.loading import Unsuitable
from index.resident.building.shard_folder import ShardFolder
from index.resident.building.shard_source import ShardSource
from index.resident.matching_documents import MatchingDocumentsReader
from index.resident.resident_partition import Event, OnEvent, ResidentPartition
from index.resident.shard import Shard

# Starting values, not measured.
_SEARCHES_MIN = 3  # before a partition is loaded, each within `_WINDOW_S` of the one before
_WINDOW_S = 60.0
_CROWDED_OUT_S = 600.0  # in which the size of a partition that had to go is known
_REFUSED_S = 30.0  # after a partition could not be loaded, or disagreed with PostgreSQL
_COUNTED_MAX = 10_000  # partitions

log = structlog.get_logger()


class ResidentShards:
    """The shards of this process.

    bytes_max:  what all may take together.
    chunks_max: of a partition that is loaded; a larger one is searched in PostgreSQL.
    on_event:   called at each event, for metrics.
    threads:    in which large shards are searched.
    folder:     where processes of one machine share shards; None if they don't.
    """

    def __init__(
        self,
        database: Database,
        *,
        bytes_max: int,
        chunks_max: int,
        on_event: OnEvent,
        threads: FairThreads,
        folder: ShardFolder | None = None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.threads = threads
        self.database = database
        self._bytes_max = bytes_max if bytes_max and shard.products_are_precise() else 0
        self._searches: TTLCache[str, int] = TTLCache(_COUNTED_MAX, _WINDOW_S)
        self._source = ShardSource(
            database,
            folder,
            chunks_max=chunks_max,
            searches=lambda partition: self._searches.get(partition, 0),
        )
        self._on_event = on_event
        self._residents: dict[str, ResidentPartition] = {}  # the least recently searched first
        self._sizes_bytes: dict[str, int] = {}
        self._searched_s: dict[str, float] = {}  # when each was searched last
        self._searched: set[str] = set()  # of these, since the last commit of this process
        self._clock_s = clock_s
        self._loads: dict[str, asyncio.Task[None]] = {}
        self._discards: set[asyncio.Task[None]] = set()
        self._matching = MatchingDocumentsReader(database)
        self._refused: TTLCache[str, bool] = TTLCache(_COUNTED_MAX, _REFUSED_S)
        self._crowded_out: TTLCache[str, int] = TTLCache(_COUNTED_MAX, _CROWDED_OUT_S)

    @property
    def size_bytes(self) -> int:
        return sum(self._sizes_bytes.values())

    def versions(self) -> Mapping[str, Shard]:
        """The newest version of each shard, by partition."""
        return {partition: resident.shard for partition, resident in self._residents.items()}

    def holds(self, scope: Scope, document_filter: Filter) -> bool:
        """Whether the scope's partitions are in memory, with what the filter needs."""
        if not self._residents.keys() >= {*scope.partitions}:
            return False
        conditions = document_filter.unindexed
        if conditions is None:
            return True
        key = matching_documents.cache_key(scope, conditions)
        return all(key in self._residents[name].shard.filtered for name in scope.partitions)

    def use(self, scope: Scope) -> list[Shard] | None:
        """The shards of the scope's partitions, for a search; None until all are loaded.

        A partition that is searched often begins to load.
        """
        if not self._bytes_max:
            return None
        shards = [*map(self._use, scope.partitions)]
        loaded = [*filter(None, shards)]
        return loaded if len(loaded) == len(shards) else None

    async def filtered(
        self, shards: Sequence[Shard], scope: Scope, document_filter: Filter
    ) -> Sequence[Shard] | None:
        """The shards with the documents alone that meet the conditions on fields that shards lack.

        They are at their revisions or later ones. None if the filter is not listed, because it has
        come too seldom, if a shard has to be loaded again, or if a commit comes while PostgreSQL
        lists the documents.
        Raises `DatabaseUnavailable` and `Saturated`.
        """
        conditions = document_filter.unindexed
        if conditions is None:
            return shards
        key = matching_documents.cache_key(scope, conditions)
        is_listed = self._matching.count(scope.tenant, key)
        known = [each.filtered[key] for each in shards if key in each.filtered]
        if len(known) == len(shards):
            return known
        if not is_listed:
            return None
        matching = await self._matching.read(key, scope, conditions)
        if any(each.revision > matching.revisions[each.partition] for each in shards):
            # It began before this search and a commit. The next reading begins now.
            matching = await self._matching.read(key, scope, conditions)
        followed = await self.follow(shards, matching.history, matching.revisions)
        if followed is None or not followed_shard.is_at(
            followed, matching.history, matching.revisions
        ):
            return None
        for each in followed:
            each.filtered[key] = each.of_documents(matching.keys[each.partition])
        return [each.filtered[key] for each in followed]

    async def follow(
        self, shards: Sequence[Shard], history: str, revisions: Mapping[str, int]
    ) -> Sequence[Shard] | None:
        """The shards at these revisions or later ones; None if one has to be loaded again.

        history: of the database, to which the revisions belong.
        Raises `DatabaseUnavailable`.
        """
        if any(each.revision > revisions[each.partition] for each in shards):
            return None  # the search reads an older snapshot, or another history
        followed: list[Shard] = []
        for each in shards:
            resident = self._residents.get(each.partition)
            current = None
            if resident is not None and resident.shard.history == history:
                current = await resident.follow(revisions[each.partition])
            # A compaction that ends meanwhile may take a base of another history.
            if current is None or current.history != history:
                self._drop(each.partition)
                return None
            followed.append(current)
        return followed

    async def follow_commit(self, history: str, revisions: Mapping[str, int]) -> None:
        """Let shards follow a commit of this process, if they were searched since the last one.

        A search would find them behind, and compute twice. One that can't follow is left to it. Of
        many commits without a search between them the next search follows all at once.
        """
        for partition, revision in revisions.items():
            resident = self._residents.get(partition)
            if resident is None or partition not in self._searched:
                continue
            self._searched.discard(partition)
            if resident.shard.history == history:
                with suppress(DatabaseUnavailable):
                    await resident.follow(revision)

    def have_reached(self, scope: Scope, history: str, revisions: Mapping[str, int]) -> bool:
        """Whether the scope's shards, which are in memory, are at these revisions or later ones."""
        shards = [self._residents[partition].shard for partition in scope.partitions]
        return followed_shard.has_reached(shards, history, revisions)

    async def at_least(
        self, shards: Sequence[Shard], history: str, revisions: Mapping[str, int]
    ) -> Sequence[Shard] | None:
        """The shards at these revisions or later ones; None if one can't get there.

        Raises `DatabaseUnavailable`.
        """
        if followed_shard.has_reached(shards, history, revisions):
            return shards
        newest = {each.partition: max(each.revision, revisions[each.partition]) for each in shards}
        return await self.follow(shards, history, newest)

    def refuse(self, partitions: Sequence[str]) -> None:
        """Drop shards that disagreed with PostgreSQL; they are not loaded again for some time."""
        for partition in partitions:
            self._refused[partition] = True
            self._drop(partition)
            discard = asyncio.create_task(self._source.discard(partition))
            self._discards.add(discard)
            discard.add_done_callback(self._discards.discard)

    async def close(self) -> None:
        """End the work in the background, and drop all shards."""
        loads, residents = [*self._loads.values()], [*self._residents.values()]
        self._residents.clear()
        self._sizes_bytes.clear()
        self._searched_s.clear()
        self._searched.clear()
        await background_tasks.end(*loads)
        await asyncio.gather(*self._discards, return_exceptions=True)
        for resident in residents:
            await resident.close()

    def _use(self, partition: str) -> Shard | None:
        resident = self._residents.pop(partition, None)
        if resident is not None:
            self._residents[partition] = resident  # the most recently searched last
            self._searched_s[partition] = self._clock_s()
            self._searched.add(partition)
            return resident.shard
        self._searches[partition] = searches = self._searches.get(partition, 0) + 1
        if (
            searches >= _SEARCHES_MIN
            and partition not in self._loads
            and partition not in self._refused
            and self._has_room(partition)
        ):
            self._loads[partition] = asyncio.create_task(self._load(partition))
        return None

    async def _load(self, partition: str) -> None:
        loaded = None
        try:
            loaded = await self._source.load(partition)
        except Unsuitable as unsuitable:
            log.info("shard_unsuitable", partition=partition, reason=str(unsuitable))
        except DatabaseUnavailable:
            self._on_event("unavailable")
        finally:
            del self._loads[partition]
            self._refused[partition] = True
        if loaded is None or loaded.shard.size_bytes > self._bytes_max:
            self._on_event("unsuitable")
            return
        self._refused.pop(partition, None)
        self._searched_s[partition] = self._clock_s()
        self._searched.add(partition)
        on_event = partial(self._on_partition_event, partition)
        self._residents[partition] = ResidentPartition(
            loaded, self._source, self.database, on_event
        )
        on_event(loaded.source)

    def _on_partition_event(self, partition: str, event: Event) -> None:
        self._on_event(event)
        resident = self._residents.get(partition)
        if resident is None:
            return
        self._sizes_bytes[partition] = resident.shard.size_bytes
        if self.size_bytes > self._bytes_max:
            self._evict()

    def _has_room(self, partition: str) -> bool:
        """Whether the partition would stay, as far as its size is known."""
        size_bytes = self._crowded_out.get(partition)
        if size_bytes is None:
            return True
        staying = (
            other
            for name, other in self._sizes_bytes.items()
            if other <= size_bytes and not self._is_idle(name)
        )
        return sum(staying) + size_bytes <= self._bytes_max

    def _evict(self) -> None:
        for idle in [name for name in self._residents if self._is_idle(name)]:
            if self.size_bytes > self._bytes_max:
                self._drop(idle, "evicted")
        while self.size_bytes > self._bytes_max:
            # Of equal ones the least recently searched.
            largest = max(self._residents, key=lambda name: self._sizes_bytes.get(name, 0))
            self._crowded_out[largest] = self._sizes_bytes[largest]
            self._drop(largest, "evicted")

    def _is_idle(self, partition: str) -> bool:
        return self._searched_s[partition] + _WINDOW_S < self._clock_s()

    def _drop(self, partition: str, event: Event = "outdated") -> None:
        if self._residents.pop(partition, None) is not None:
            del self._sizes_bytes[partition], self._searched_s[partition]
            self._searched.discard(partition)
            self._on_event(event)
