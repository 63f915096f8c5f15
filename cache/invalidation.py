"""Drains: after a change, the tenant's entries that it dooms are dropped, and no other one.

Read what changed, begin, scan, finish: `cache/protocol.py` says why in this order.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Generic, Protocol

from cachetools import LRUCache

from cache import protocol
from cache.errors import CacheError, ChangeFeedUnavailable
from cache.protocol import Revisions, State
from cache.redis.codec import Entry, EntryHeader
from cache.redis.store import CacheSnapshot, FillResult, RedisStore
from cache.registry_replica import N, N_co, RegistryReplica, RegistryReplicas

_REACHED_MAX = 10_000  # tenants; about 3 MB
_ATTEMPTS_MAX = 8  # at a swap that others keep winning; giving up costs speed only
DROPS_MAX = 2_000  # entries dropped one by one, 2 ms of Redis; past it a new nonce drops them all


class CountEvent(Protocol):
    def __call__(self, event: str, amount: int = 1, /) -> None: ...


class ChangeFeed(Protocol[N_co]):
    """What PostgreSQL knows of changes. Raises `TruthUnavailable`."""

    async def changes_after(self, home: str, partition: str, revision: int, /) -> N_co | None:
        """What the partition's changes after the revision did, as far as it matters to the
        tenant's entries. None if that is forgotten, or more than is worth looking at.
        """

    async def has_reached(self, revisions: Revisions, /) -> bool:
        """Whether the database knows these revisions, which Redis has learned from it.

        If not, it has gone back and calls its history the same: then it gets another name.
        """


class Invalidation(Generic[N]):
    """`count` is told drained, dropped (how many entries), renewed, contended, went_back, and away.

    observe_s: is told how long each drain took, waiting for its turn included.
    """

    def __init__(
        self,
        store: RedisStore,
        mirrors: RegistryReplicas[N],
        truth: ChangeFeed[N],
        count: CountEvent,
        observe_s: Callable[[float], None],
        *,
        drops_max: int = DROPS_MAX,
    ) -> None:
        self._store = store
        self._mirrors = mirrors
        self._truth = truth
        self._count = count
        self._observe_s = observe_s
        self._drops_max = drops_max
        self._reached: LRUCache[str, bytes] = LRUCache(_REACHED_MAX)

    async def drain(self, home: str, revisions: Revisions) -> None:
        """Drop the tenant's entries that the changes up to `revisions` doom.

        If Redis or PostgreSQL can't be asked, it is left to whoever drains next.
        """
        started_s = time.perf_counter()
        try:
            await self._drain(home, revisions)
        except CacheError:
            self._count("away")
        finally:
            self._observe_s(time.perf_counter() - started_s)

    async def drain_until_current(self, home: str, revisions: Revisions) -> bool:
        """Drain, and say whether Redis holds no answer any more that these changes doom.

        False also while it is away. A state that nobody believes vouches for nothing that is there,
        so it is made anew with nothing in it.
        """
        await self.drain(home, revisions)
        try:
            sight = await self._store.lookup(home, revisions.history, "")
            if sight.state is None:
                renewed = protocol.reset(sight.server_id, secrets.token_hex(8), revisions)
                sight = (await self._store.compare_and_swap(sight, renewed)).snapshot
        except CacheError:
            return False
        return sight.state is not None and not protocol.pending_revisions(sight.state, revisions)

    async def is_impossible(self, sight: CacheSnapshot, revisions: Revisions) -> bool:
        """Whether the state has applied changes that the database no longer knows.

        PostgreSQL is asked once for each state that is ahead of the revisions of its reader.
        """
        state = sight.state
        ahead = protocol.ahead(state, revisions)
        if not ahead or self._reached.get(sight.home) == sight.encoded_state:
            return False
        try:
            if not await self._truth.has_reached(Revisions(revisions.history, ahead)):
                self._count("went_back")
                return True
        except ChangeFeedUnavailable:
            return False  # who may be served while PostgreSQL is away has said how old it may be
        self._reached[sight.home] = sight.encoded_state
        return False

    def register_stored(self, home: str, key: str, entry: Entry, filled: FillResult) -> None:
        """Told of each entry that this worker has stored, so that no drain has to read it."""
        head = EntryHeader(entry.version, entry.dependencies, entry.question)
        self._mirrors.get(home).add_stored(key, head, filled)

    async def _drain(self, home: str, revisions: Revisions) -> None:
        mirror = self._mirrors.get(home)
        async with mirror.drain_lock:
            sight = await self._store.lookup(home, revisions.history, "")
            if await self.is_impossible(sight, revisions):
                return
            for _ in range(_ATTEMPTS_MAX):
                behind = protocol.pending_revisions(sight.state, revisions)
                if not behind or sight.state is None:
                    return
                sight = await self._drain_once(mirror, sight, sight.state, behind)
        self._count("contended")

    async def _drain_once(
        self,
        mirror: RegistryReplica[N],
        sight: CacheSnapshot,
        state: State,
        behind: Mapping[str, int],
    ) -> CacheSnapshot:
        """Returns the tenant's cache as found at the end, to be judged again."""
        news, begun = [], state
        for partition in behind:
            one = await self._truth.changes_after(
                sight.home, partition, state.progress[partition].applied
            )
            if one is None:
                return await self._reset_state(sight, state, behind)
            raised = protocol.raise_fence(begun, Revisions(one.history, {partition: one.revision}))
            if raised is None:
                raise ChangeFeedUnavailable("the changes are of another history of the database")
            begun = raised
            news.append(one)
        reached = {one.partition: one.revision for one in news}
        swap = await self._store.compare_and_swap(sight, begun)
        if not swap.is_done:
            return swap.snapshot
        if not await mirror.refresh(swap.snapshot, begun.nonce):
            return await self._reset_state(swap.snapshot, begun, reached)
        doomed = mirror.invalidated(news)
        if len(doomed) > self._drops_max:
            return await self._reset_state(swap.snapshot, begun, reached)
        return await self._mark_applied(mirror, swap.snapshot, begun, reached, doomed)

    async def _mark_applied(
        self,
        mirror: RegistryReplica[N],
        sight: CacheSnapshot,
        begun: State,
        reached: Mapping[str, int],
        doomed: Mapping[str, int],
    ) -> CacheSnapshot:
        for _ in range(_ATTEMPTS_MAX):
            finished = protocol.mark_applied(sight.state, begun, reached)
            if finished is None:
                break
            swap = await self._store.compare_and_swap(sight, finished, drop=doomed)
            sight = swap.snapshot
            if swap.is_done:
                mirror.discard(doomed)
                self._count("drained")
                self._count("dropped", len(doomed))
                break
        return sight

    async def _reset_state(
        self, sight: CacheSnapshot, state: State, reached: Mapping[str, int]
    ) -> CacheSnapshot:
        """All entries dropped at once, unless the state has moved on since."""
        self._count("renewed")
        applied = {name: one.applied for name, one in state.progress.items()}
        revisions = Revisions(state.history, {**applied, **reached})
        renewed = protocol.reset(sight.server_id, secrets.token_hex(8), revisions)
        return (await self._store.compare_and_swap(sight, renewed)).snapshot
