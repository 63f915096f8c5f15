"""What one worker knows of a tenant's registry: only what others have stored is fetched.

A registry's numbers only rise, and all that it lists after a number comes in atomic looks, so a
mirror that is refreshed after a drain's `begin` lacks nothing that the drain has to meet. It may
know entries that have gone since: to drop them once more does no harm.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from cachetools import LRUCache

from cache.protocol import Revisions
from cache.question_index import QuestionIndex
from cache.redis.codec import EntryHeader
from cache.redis.store import CacheSnapshot, FillResult, RedisStore

ENTRIES_MAX = 100_000  # of all mirrors together; measured 3 to 5 kB each, so up to 500 MB
_TURN_ENTRIES = 20  # learned or forgotten in one turn of the loop; about a millisecond
_GONE_MIN = 100  # entries that have gone: as many as are left, and this, and the mirror starts anew


class ChangeSet(Protocol):
    """What the changes of a partition up to a revision did, as of it."""

    @property
    def history(self) -> str: ...
    @property
    def partition(self) -> str: ...
    @property
    def revision(self) -> int: ...


N = TypeVar("N", bound=ChangeSet)
N_co = TypeVar("N_co", bound=ChangeSet, covariant=True)
N_contra = TypeVar("N_contra", bound=ChangeSet, contravariant=True)


class DependencyIndex(Protocol[N_contra]):
    """All entries of one tenant, by what each depends on; what is no record is always doomed."""

    def add(self, key: str, record: bytes, /) -> None: ...
    def discard(self, key: str, /) -> None: ...
    def invalidated(self, news: N_contra, /) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class _ReplicaRecord:
    """as_of: None of what can't be read."""

    sequence: int
    as_of: Revisions | None


class RegistryReplica(Generic[N]):
    """Of one tenant, under one nonce at a time.

    turn:     of those who drain; whoever has waited for it mostly finds its change drained.
    families: the questions that the entries answer.
    """

    def __init__(self, store: RedisStore, new_watch: Callable[[], DependencyIndex[N]]) -> None:
        self.drain_lock = asyncio.Lock()
        self._reading = asyncio.Lock()
        self._store = store
        self._new_watch = new_watch
        self._nonce = ""
        self._after = 0
        self._known: dict[str, _ReplicaRecord] = {}
        self._dropped: dict[str, int] = {}
        self._watch = new_watch()
        self.questions = QuestionIndex()

    def __len__(self) -> int:
        return len(self._known)

    async def refresh(self, sight: CacheSnapshot, nonce: str) -> bool:
        """Learn what was registered since; False if the registry is lost, or too large to be read.

        sight: of the server that has to say so. Raises `CacheUnavailable`.
        """
        async with self._reading:
            return await self._read(sight, nonce)

    async def _read(self, sight: CacheSnapshot, nonce: str) -> bool:
        if nonce != self._nonce:
            self._restart(nonce)
        elif sight.sequence == self._after:
            return True
        while True:
            page = await self._store.scan(sight, nonce, after=self._after)
            if page is None or page.count > 2 * self._store.entries_max:
                self._restart("")
                return False
            new = (one for one in page.records if self._is_newer(one.key, one.sequence))
            for place, listed in enumerate(new):
                if place % _TURN_ENTRIES == 0:  # whoever asks meanwhile does not wait for the page
                    await asyncio.sleep(0)
                self._add(listed.key, listed.sequence, listed.header)
            if page.records:
                self._after = page.records[-1].sequence
            if page.is_last and not self._has_too_much(page.count):
                self._after = page.sequence_last
                return True
            if page.is_last:
                self._restart(nonce)

    def add_stored(self, key: str, head: EntryHeader, filled: FillResult) -> None:
        """Learn what this worker has stored, as it does and without reading it again.

        Else what came in a minute would be learned at the next change, by whoever waits for it.
        """
        if self._reading.locked():  # by whom it is met now, or the next time
            return
        if head.version.nonce != self._nonce:
            if filled.sequence > 1:  # nobody has needed the others so far
                return
            self._restart(head.version.nonce)
        if self._is_newer(key, filled.sequence):
            self._add(key, filled.sequence, head)
        if filled.sequence == self._after + 1:  # none of another worker lies between
            self._after = filled.sequence
        for name in filled.removed:
            known = self._known.get(name)
            if known is not None and known.sequence < filled.sequence:
                self._forget(name)
        if self._has_too_much(filled.count):
            self._restart("")

    def invalidated(self, news: Collection[N]) -> dict[str, int]:
        """The keys of all entries that the news dooms, but for those that were computed with it,
        and the number that each is registered by.
        """
        doomed = {}
        for one in news:
            for key in self._watch.invalidated(one):
                known = self._known[key]
                if _is_older(known.as_of, one) and self._dropped.get(key) != known.sequence:
                    doomed[key] = known.sequence
        return doomed

    def discard(self, doomed: Mapping[str, int]) -> None:
        """Forget what was dropped, some in each turn of the loop.

        What was registered again since is another entry, and stays.
        """
        if not self._dropped:
            asyncio.get_running_loop().call_soon(self._discard_some)
        self._dropped.update(doomed)

    def _discard_some(self) -> None:
        for _ in range(min(_TURN_ENTRIES, len(self._dropped))):
            key, number = self._dropped.popitem()
            known = self._known.get(key)
            if known is not None and known.sequence == number:
                self._forget(key)
        if self._dropped:
            asyncio.get_running_loop().call_soon(self._discard_some)

    def _is_newer(self, key: str, number: int) -> bool:
        """Whether nothing newer is known of the key, which another worker may have stored anew."""
        known = self._known.get(key)
        return known is None or known.sequence < number

    def _add(self, key: str, number: int, head: EntryHeader | None) -> None:
        """head: None of what can't be read."""
        self._known[key] = _ReplicaRecord(number, None if head is None else head.version.as_of)
        self._watch.add(key, b"" if head is None else head.dependencies)
        self.questions.add(key, b"" if head is None else head.question)

    def _forget(self, key: str) -> None:
        del self._known[key]
        self._watch.discard(key)
        self.questions.discard(key)

    def _has_too_much(self, count: int) -> bool:
        """Of what has gone, if the registry holds so many."""
        return len(self) > 2 * count + _GONE_MIN

    def _restart(self, nonce: str) -> None:
        self._nonce = nonce
        self._after = 0
        self._known = {}
        self._dropped.clear()
        self._watch = self._new_watch()
        self.questions = QuestionIndex()


class RegistryReplicas(Generic[N]):
    """Of the tenants that this worker looked after most recently."""

    def __init__(self, store: RedisStore, new_watch: Callable[[], DependencyIndex[N]]) -> None:
        self._store = store
        self._new_watch = new_watch
        size_max = max(ENTRIES_MAX, 3 * store.entries_max)
        self._mirrors: LRUCache[str, RegistryReplica[N]] = LRUCache(size_max, getsizeof=_weight)

    def get(self, home: str) -> RegistryReplica[N]:
        """The tenant's, weighed as it is now: the others make room for it."""
        mirror = self._mirrors.pop(home, None) or RegistryReplica(self._store, self._new_watch)
        self._mirrors[home] = mirror
        return mirror


def _is_older(as_of: Revisions | None, news: ChangeSet) -> bool:
    if as_of is None:
        return True
    return as_of.by_partition.get(news.partition, news.revision) < news.revision


def _weight(mirror: RegistryReplica[N]) -> int:
    return len(mirror) + 1
