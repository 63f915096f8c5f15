"""Drains: drop the entries that a tenant's changes invalidate, and no others.

A drain reads the changes, raises the fence, scans, and marks the changes applied;
`cache/protocol.py` says why in this order.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol

from cachetools import LRUCache

from cache import protocol
from cache.errors import CacheError, ChangeFeedUnavailable
from cache.invalidation.registry_replica import (
    N,
    N_co,
    PartitionChanges,
    RegistryReplica,
    RegistryReplicas,
)
from cache.protocol import Revisions, State
from cache.redis.codec import EntryHeader
from cache.redis.store import CacheSnapshot, FillResult, RedisStore

LOCK_S_MAX = 1.0  # for the tenant's other drains; a starting value, not measured
_REACHED_MAX = 10_000  # tenants; about 3 MB
_ATTEMPTS_MAX = 8  # of one compare-and-swap; giving up costs speed only
DROPS_MAX = 2_000  # entries dropped singly, 2 ms of Redis; beyond it a new nonce drops all of them


class CountEvent(Protocol):
    def __call__(self, event: str, amount: int = 1, /) -> None: ...


class ChangeFeed(Protocol[N_co]):
    """The committed changes in PostgreSQL. Raises `ChangeFeedUnavailable`."""

    async def changes_after(
        self, tenant: str, partition: str, revision: int, required: Revisions, /
    ) -> N_co | None:
        """The partition's changes after the revision that can affect the tenant's entries.

        required: the changes up to this revision of the partition are needed. Later ones come too.
        None if they are no longer stored, or too many to read.
        """

    async def has_reached(self, revisions: Revisions, /) -> bool:
        """Whether the database has reached these revisions, which it issued before.

        If not, the database was restored from an older copy: its history gets a new name.
        """


class Invalidation(Generic[N]):
    """`count` receives drained, dropped (with the number of entries), renewed, contended,
    went_back, and unavailable when Redis or PostgreSQL is.

    observe_s: receives the duration of each drain, including the wait for the drain lock.
    """

    def __init__(
        self,
        store: RedisStore,
        replicas: RegistryReplicas[N],
        change_feed: ChangeFeed[N],
        count: CountEvent,
        observe_s: Callable[[float], None],
        *,
        drops_max: int = DROPS_MAX,
    ) -> None:
        self._store = store
        self._replicas = replicas
        self._change_feed = change_feed
        self._count = count
        self._observe_s = observe_s
        self._drops_max = drops_max
        self._reached: LRUCache[str, bytes] = LRUCache(_REACHED_MAX)

    async def drain(self, tenant: str, revisions: Revisions) -> None:
        """Drop the tenant's entries that the changes up to `revisions` invalidate.

        The next drain does it if Redis or PostgreSQL is unavailable, or other drains take too long.
        """
        started_s = time.perf_counter()
        try:
            await self._drain(tenant, revisions)
        except CacheError:
            self._count("unavailable")
        finally:
            self._observe_s(time.perf_counter() - started_s)

    async def drain_until_current(self, tenant: str, revisions: Revisions) -> bool:
        """Drain; True if Redis then holds no answer that these changes invalidate.

        False while Redis is unavailable. A missing or invalid state is reset, which empties the
        cache.
        """
        await self.drain(tenant, revisions)
        try:
            snapshot = await self._store.lookup(tenant, revisions.history, "")
            if snapshot.state is None:
                new_state = protocol.reset(snapshot.server_id, secrets.token_hex(8), revisions)
                snapshot = (await self._store.compare_and_swap(snapshot, new_state)).snapshot
        except CacheError:
            return False
        return snapshot.state is not None and not protocol.pending_revisions(
            snapshot.state, revisions
        )

    async def is_impossible(self, snapshot: CacheSnapshot, revisions: Revisions) -> bool:
        """Whether the state has applied changes that the database no longer has.

        PostgreSQL is queried once for each state that is ahead of the reader's revisions.
        """
        state = snapshot.state
        ahead = protocol.ahead(state, revisions)
        if not ahead or self._reached.get(snapshot.tenant) == snapshot.encoded_state:
            return False
        try:
            if not await self._change_feed.has_reached(Revisions(revisions.history, ahead)):
                self._count("went_back")
                return True
        except ChangeFeedUnavailable:
            return False  # while PostgreSQL is away, only callers with a max_staleness get here
        self._reached[snapshot.tenant] = snapshot.encoded_state
        return False

    def register_stored(self, tenant: str, key: str, entry: EntryHeader, fill: FillResult) -> None:
        """Add an entry that this worker has stored to its replica, so that no drain reads it."""
        self._replicas.get(tenant).add_stored(key, entry, fill)

    async def _drain(self, tenant: str, revisions: Revisions) -> None:
        replica = self._replicas.get(tenant)
        try:
            async with asyncio.timeout(LOCK_S_MAX):
                await replica.drain_lock.acquire()
        except TimeoutError:  # the next drain does it
            self._count("contended")
            return
        try:
            snapshot = await self._store.lookup(tenant, revisions.history, "")
            if await self.is_impossible(snapshot, revisions):
                return
            for _ in range(_ATTEMPTS_MAX):
                pending = protocol.pending_revisions(snapshot.state, revisions)
                if not pending or snapshot.state is None:
                    return
                snapshot = await self._drain_once(replica, snapshot, snapshot.state, pending)
        finally:
            replica.drain_lock.release()
        self._count("contended")

    async def _drain_once(
        self,
        replica: RegistryReplica[N],
        snapshot: CacheSnapshot,
        state: State,
        pending: Mapping[str, int],
    ) -> CacheSnapshot:
        """One attempt to drain; returns the snapshot after it."""
        change_sets, begun = [], state
        for partition in pending:
            changes = await self._change_feed.changes_after(
                snapshot.tenant,
                partition,
                state.progress[partition].applied,
                Revisions(state.history, {partition: pending[partition]}),
            )
            if changes is None:
                unread = Revisions(state.history, pending)
                return await self._reset_state(snapshot, state, unread)
            drained_to = Revisions(changes.history, {partition: changes.revision})
            fenced = protocol.raise_fence(begun, drained_to)
            if fenced is None:
                raise ChangeFeedUnavailable("the changes belong to another history of the database")
            begun = fenced
            change_sets.append(changes)
        reached = _reached(change_sets)
        cas = await self._store.compare_and_swap(snapshot, begun)
        if not cas.is_done:
            return cas.snapshot
        if not await replica.refresh(cas.snapshot, begun.nonce):
            return await self._reset_state(cas.snapshot, begun, reached)
        invalidated = replica.invalidated(change_sets)
        if len(invalidated) > self._drops_max:
            return await self._reset_state(cas.snapshot, begun, reached)
        return await self._mark_applied(replica, cas.snapshot, begun, reached, invalidated)

    async def _mark_applied(
        self,
        replica: RegistryReplica[N],
        snapshot: CacheSnapshot,
        begun: State,
        reached: Revisions,
        invalidated: Mapping[str, int],
    ) -> CacheSnapshot:
        for _ in range(_ATTEMPTS_MAX):
            new_state = protocol.mark_applied(
                snapshot.state, begun, reached.by_partition, reached.audiences
            )
            if new_state is None:
                break
            cas = await self._store.compare_and_swap(snapshot, new_state, drop=invalidated)
            snapshot = cas.snapshot
            if cas.is_done:
                replica.discard(invalidated)
                self._count("drained")
                self._count("dropped", len(invalidated))
                break
        return snapshot

    async def _reset_state(
        self, snapshot: CacheSnapshot, state: State, reached: Revisions
    ) -> CacheSnapshot:
        """Drop all entries at once, unless the state has changed since."""
        self._count("renewed")
        applied = {name: progress.applied for name, progress in state.progress.items()}
        numbers = {**applied, **reached.by_partition}
        revisions = Revisions(state.history, numbers, reached.audiences)
        new_state = protocol.reset(snapshot.server_id, secrets.token_hex(8), revisions)
        return (await self._store.compare_and_swap(snapshot, new_state)).snapshot


def _reached(change_sets: Sequence[PartitionChanges]) -> Revisions:
    """The revisions up to which these changes were read, of one history; there is one at least."""
    return Revisions(
        change_sets[0].history,
        {changes.partition: changes.revision for changes in change_sets},
        {
            changes.partition: changes.audience_revision
            for changes in change_sets
            if changes.audience_revision is not None
        },
    )
