"""A worker's replica of a tenant's registry; it fetches only what other workers have stored.

The sequence numbers of a registry only rise, and each page of records is read atomically, so a
replica that is refreshed after a drain's `raise_fence` lacks no entry that the drain must find. It
may hold entries that are gone already: dropping them again does no harm.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeAlias, TypeVar

from cache.protocol import Revisions
from cache.redis.codec import EntryHeader
from cache.redis.store import CacheSnapshot, FillResult, RedisStore
from common.shares.cache import FairCache

ENTRIES_MAX = 100_000  # of all replicas together; measured 3 to 5 kB each, so up to 500 MB
_TURN_ENTRIES = 20  # added or discarded in one turn of the event loop; about a millisecond
_GONE_MIN = 100  # a replica restarts if its gone entries exceed the remaining ones by this many


class PartitionChanges(Protocol):
    """The effects of a partition's changes up to a revision, read at that revision.

    audience_revision: of the partition at that revision; None if it is not known.
    """

    @property
    def history(self) -> str: ...
    @property
    def partition(self) -> str: ...
    @property
    def revision(self) -> int: ...
    @property
    def audience_revision(self) -> int | None: ...


N = TypeVar("N", bound=PartitionChanges)
N_co = TypeVar("N_co", bound=PartitionChanges, covariant=True)
N_contra = TypeVar("N_contra", bound=PartitionChanges, contravariant=True)


class DependencyIndex(Protocol[N_contra]):
    """All entries of one tenant, by their dependencies; an unreadable one is always invalidated."""

    def add(self, key: str, record: bytes, /) -> None: ...
    def discard(self, key: str, /) -> None: ...
    def invalidated(self, changes: N_contra, /) -> Collection[str]: ...


class QuestionIndex(Protocol):
    """The questions of all entries of one tenant; an entry without one has an empty record."""

    def add(self, key: str, record: bytes, /) -> None: ...
    def discard(self, key: str, /) -> None: ...


NewQuestions: TypeAlias = Callable[[], QuestionIndex]


@dataclass(frozen=True, slots=True)
class _ReplicaRecord:
    """as_of: None if the entry's header is unreadable."""

    sequence: int
    as_of: Revisions | None


class RegistryReplica(Generic[N]):
    """The replica of one tenant's registry, under one nonce at a time.

    drain_lock: serialises drains; a drain that has waited for it mostly finds its change drained.
    questions:  that the entries answer; None if no tier compares them.
    """

    def __init__(
        self,
        store: RedisStore,
        new_index: Callable[[], DependencyIndex[N]],
        new_questions: NewQuestions | None = None,
    ) -> None:
        self.drain_lock = asyncio.Lock()
        self._reading = asyncio.Lock()
        self._store = store
        self._new_index = new_index
        self._new_questions = new_questions
        self._nonce = ""
        self._after = 0
        self._records: dict[str, _ReplicaRecord] = {}
        self._dropped: dict[str, int] = {}
        self._index = new_index()
        self.questions = new_questions and new_questions()

    def __len__(self) -> int:
        return len(self._records)

    async def refresh(self, snapshot: CacheSnapshot, nonce: str) -> bool:
        """Add the entries registered since; False if the registry is lost or too large.

        snapshot: of the server that must answer. Raises `CacheUnavailable`.
        """
        async with self._reading:
            return await self._read(snapshot, nonce)

    async def _read(self, snapshot: CacheSnapshot, nonce: str) -> bool:
        if nonce != self._nonce:
            self._restart(nonce)
        elif snapshot.sequence == self._after:
            return True
        while True:
            page = await self._store.scan(snapshot, nonce, after=self._after)
            if page is None or page.count > 2 * self._store.entries_max:
                self._restart("")
                return False
            new = (record for record in page.records if self._is_newer(record.key, record.sequence))
            for index, record in enumerate(new):
                if index % _TURN_ENTRIES == 0:  # requests run meanwhile
                    await asyncio.sleep(0)
                self._add(record.key, record.sequence, record.header)
            if page.records:
                self._after = page.records[-1].sequence
            if page.is_last and not self._has_too_much(page.count):
                self._after = page.sequence_last
                return True
            if page.is_last:
                self._restart(nonce)

    def add_stored(self, key: str, header: EntryHeader, fill: FillResult) -> None:
        """Add an entry that this worker has just stored, without reading it from Redis.

        Otherwise the next drain would have to read all entries stored since the last one.
        """
        if self._reading.locked():  # this refresh or the next one reads the entry
            return
        if header.version.nonce != self._nonce:
            if fill.sequence > 1:  # the next drain reads the entries before it
                return
            self._restart(header.version.nonce)
        if self._is_newer(key, fill.sequence):
            self._add(key, fill.sequence, header)
        if fill.sequence == self._after + 1:  # no other worker has stored an entry in between
            self._after = fill.sequence
        for name in fill.removed:
            record = self._records.get(name)
            if record is not None and record.sequence < fill.sequence:
                self._forget(name)
        if self._has_too_much(fill.count):
            self._restart("")

    def invalidated(self, change_sets: Collection[N]) -> dict[str, int]:
        """The keys of the entries that the changes invalidate, with their sequence numbers.

        An entry that was computed after a change is not invalidated by it.
        """
        invalidated = {}
        for changes in change_sets:
            for key in self._index.invalidated(changes):
                record = self._records[key]
                if _is_older(record.as_of, changes) and self._dropped.get(key) != record.sequence:
                    invalidated[key] = record.sequence
        return invalidated

    def discard(self, dropped: Mapping[str, int]) -> None:
        """Discard dropped entries, a few in each turn of the event loop.

        A key that was registered again since is a new entry, and stays.
        """
        if not self._dropped:
            asyncio.get_running_loop().call_soon(self._discard_some)
        self._dropped.update(dropped)

    def _discard_some(self) -> None:
        for _ in range(min(_TURN_ENTRIES, len(self._dropped))):
            key, sequence = self._dropped.popitem()
            record = self._records.get(key)
            if record is not None and record.sequence == sequence:
                self._forget(key)
        if self._dropped:
            asyncio.get_running_loop().call_soon(self._discard_some)

    def _is_newer(self, key: str, sequence: int) -> bool:
        """Whether the replica has no record of the key, or an older one."""
        record = self._records.get(key)
        return record is None or record.sequence < sequence

    def _add(self, key: str, sequence: int, header: EntryHeader | None) -> None:
        """header: None if it is unreadable."""
        self._records[key] = _ReplicaRecord(
            sequence, None if header is None else header.version.as_of
        )
        self._index.add(key, b"" if header is None else header.dependencies)
        if self.questions is not None:
            self.questions.add(key, b"" if header is None else header.question)

    def _forget(self, key: str) -> None:
        del self._records[key]
        self._index.discard(key)
        if self.questions is not None:
            self.questions.discard(key)

    def _has_too_much(self, count: int) -> bool:
        """Whether too many of the replica's entries are gone, if the registry holds `count`."""
        return len(self) > 2 * count + _GONE_MIN

    def _restart(self, nonce: str) -> None:
        self._nonce = nonce
        self._after = 0
        self._records = {}
        self._dropped.clear()
        self._index = self._new_index()
        self.questions = self._new_questions and self._new_questions()


class RegistryReplicas(Generic[N]):
    """The replicas of this worker's tenants; for lack of room the largest is dropped."""

    def __init__(
        self,
        store: RedisStore,
        new_index: Callable[[], DependencyIndex[N]],
        new_questions: NewQuestions | None = None,
    ) -> None:
        self._new_replica = partial(RegistryReplica, store, new_index, new_questions)
        size_max = max(ENTRIES_MAX, 3 * store.entries_max)
        self._replicas: FairCache[str, RegistryReplica[N]] = FairCache(size_max, _weight)

    def get(self, tenant: str) -> RegistryReplica[N]:
        """The tenant's replica; putting it back weighs it anew, and may evict others."""
        replica = self._replicas.pop(tenant) or self._new_replica()
        self._replicas.put(tenant, tenant, replica)
        return replica


def _is_older(as_of: Revisions | None, changes: PartitionChanges) -> bool:
    if as_of is None:
        return True
    return as_of.by_partition.get(changes.partition, changes.revision) < changes.revision


def _weight(replica: RegistryReplica[N]) -> int:
    return len(replica) + 1
