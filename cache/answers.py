"""Gets an answer from memory, from Redis, from a similar question, or by computing it."""

import asyncio
import itertools
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from cache import protocol
from cache.cached_question import CachedQuestion
from cache.errors import CacheUnavailable
from cache.invalidation.drain import CountEvent, Invalidation
from cache.invalidation.local_registry import LocalInvalidation
from cache.local_cache import LocalCache, LocalEntry
from cache.lookup import CacheLookup, Compute, ComputedAnswer, ServedAnswer
from cache.protocol import EntryVersion, Revisions
from cache.redis.codec import Entry
from cache.redis.store import CacheSnapshot, RedisStore
from cache.semantic.semantic_tier import SemanticTier, SimilarAnswer
from cache.singleflight import Singleflight

_ATTEMPTS_MAX = 8  # of one fill, whose compare-and-swap may fail; giving up costs speed only
# For another process that computes the same, or for a drain; starting values, not measured.
_WAIT_S_MAX = 0.3
_WAIT_S = 0.004
# Of an answer with its record in Redis, a starting value. With the number of entries it bounds what
# a tenant takes of the server's memory, for which Redis else evicts the answers of others.
ENTRY_BYTES_MAX = 65_536
_BACKGROUND_MAX = 4  # concurrent verifications in the background


class Answers:
    """`count` receives the tier of each answer, and the events computed, waited, stored, refused,
    oversized, reset, revalidated, audiences_changed, unverified, and unavailable when Redis does
    not answer.
    """

    def __init__(
        self,
        memory: LocalCache,
        store: RedisStore,
        invalidation: Invalidation[Any],
        local_invalidation: LocalInvalidation[Any],
        semantic: SemanticTier,
        count: CountEvent,
    ) -> None:
        self._memory = memory
        self._store = store
        self._invalidation = invalidation
        self._local_invalidation = local_invalidation
        self._semantic = semantic
        self._count = count
        self._flights: Singleflight[ServedAnswer] = Singleflight()
        self._computations = itertools.count(1)
        self._at_once: set[str] = set()  # keys of answers that are being computed
        self._background: set[asyncio.Task[None]] = set()

    def get_local(self, key: str, revisions: Revisions) -> ServedAnswer | None:
        """The answer from memory, or None."""
        entry = self._memory.get(key, revisions)
        return (
            None
            if entry is None
            else self._count_tier(ServedAnswer(entry.body, entry.valid_until, "memory", key))
        )

    def has_local(self, key: str, revisions: Revisions) -> bool:
        """Whether memory has the answer; nothing is counted."""
        return self._memory.get(key, revisions) is not None

    def is_repeated(self, key: str) -> bool:
        """Whether memory has the answer, correct at whatever revisions."""
        return key in self._memory

    async def compute_at_once(
        self,
        lookup: CacheLookup,
        key_revisions: Revisions,
        compute: Callable[[], Coroutine[Any, Any, ComputedAnswer | None]],
    ) -> ServedAnswer | None:
        """An answer that is not looked up in Redis, nor at any revision: `compute` proves its own.

        key_revisions: with the audience revisions that the key was made at, if it depends on them.
        None if memory has one, at whatever revisions, if another caller computes it, or if
        `compute` returns none.
        """
        key = lookup.key
        if key in self._memory or key in self._at_once:
            return None
        self._at_once.add(key)
        try:
            answer = await compute()
        finally:
            self._at_once.discard(key)
        if answer is None:
            return None
        self._count("computed")
        return self._count_tier(self._keep(lookup, key_revisions, answer))

    async def get_or_compute(
        self, lookup: CacheLookup, revisions: Revisions, compute: Compute
    ) -> ServedAnswer:
        """An answer that is correct at `revisions`, which name all that it depends on.

        Callers who see the same share a computation. If the audiences have changed meanwhile, they
        may no longer see the same, and its answer is for callers with the computing one's grants:
          1. A and B see the same at revision 5, and wait for one computation with the grants of A.
          2. A commit gives A a document that B may not see, at revision 6.
          3. The computation reads its rows at revision 6. It returns the answer of A alone, which
             is stored nowhere, and B computes its own.
        """
        served = self.get_local(lookup.key, revisions)
        if served is not None:
            return served
        # A caller with newer revisions must not join an older flight, and a caller without a
        # question must not join a flight that may return a similar question's answer.
        numbers = (*revisions.by_partition.values(), *revisions.audiences.values())
        flight = (lookup.key, lookup.question is None, revisions.history, *numbers)
        served = await self._flights.do(flight, lambda: self._load(lookup, revisions, compute))
        if served.key not in (lookup.key, lookup.own_key):
            return await self.get_or_compute(lookup.alone, revisions.without_audiences(), compute)
        return self._count_tier(served)

    async def drop(self, tenant: str, key: str) -> None:
        """Drop an answer from memory and from Redis."""
        self._memory.drop(key)
        self._local_invalidation.discard(tenant, key)
        try:
            await self._store.drop(tenant, key)
        except CacheUnavailable:
            self._count("unavailable")

    def drop_local(self) -> None:
        """Drop all answers from memory."""
        self._memory.clear()
        self._local_invalidation.clear()

    async def drain_background(self) -> None:
        """Wait until all background work has ended and all counts are written."""
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._semantic.drain_background()

    def _count_tier(self, served: ServedAnswer) -> ServedAnswer:
        self._count(served.tier)
        return served

    async def _load(
        self, lookup: CacheLookup, revisions: Revisions, compute: Compute
    ) -> ServedAnswer:
        """The answer from Redis, from a similar question, or computed.

        The fill lock is acquired only after no similar question's answer can be served.
        """
        if not lookup.is_shared:
            return await self._revalidated(lookup, revisions) or await self._compute_and_fill(
                lookup, revisions, None, compute, ""
            )
        similar = None
        if lookup.question is not None:
            snapshot = await self._snapshot(lookup, revisions, "")
            served = self._served_from_redis(lookup, revisions, snapshot)
            if served is not None:
                return served
            similar = await self._find_similar(lookup.question, revisions, snapshot)
            if similar is not None and similar.is_open:
                return self._serve_similar(lookup, revisions, similar, compute)
        served = await self._load_own(lookup, revisions, compute)
        if similar is not None:
            self._verify(lookup, similar, served)
        return served

    async def _revalidated(self, lookup: CacheLookup, revisions: Revisions) -> ServedAnswer | None:
        """The answer from memory, if no change since it was computed invalidates it."""
        entry = self._memory.entry(lookup.key)
        if entry is None:
            return None
        valid_until = await self._local_invalidation.valid_until(
            lookup.tenant, lookup.key, entry.computation, revisions
        )
        if valid_until is None:
            return None
        self._count("revalidated")
        self._memory.put(lookup.tenant, lookup.key, replace(entry, valid_until=valid_until))
        return ServedAnswer(entry.body, valid_until, "memory", lookup.key)

    async def _load_own(
        self, lookup: CacheLookup, revisions: Revisions, compute: Compute
    ) -> ServedAnswer:
        lock_token = secrets.token_hex(8)
        snapshot = await self._wait_for_fill(lookup, revisions, lock_token)
        served = self._served_from_redis(lookup, revisions, snapshot)
        if served is not None:
            return served
        try:
            served = await self._compute_and_fill(lookup, revisions, snapshot, compute, lock_token)
        finally:
            if (
                snapshot is not None
                and snapshot.fill_lock_owner == lock_token
                and not (served and served.stored)
            ):
                self._run_in_background(self._release(lookup))
        return served

    async def _wait_for_fill(
        self, lookup: CacheLookup, revisions: Revisions, lock_token: str
    ) -> CacheSnapshot | None:
        """A snapshot taken once no other process computes the answer, or after `_WAIT_S_MAX`."""
        snapshot = await self._snapshot(lookup, revisions, lock_token)
        if not _is_being_filled(snapshot, lock_token):
            return snapshot
        self._count("waited")
        clock_s = asyncio.get_running_loop().time
        ends_s = clock_s() + _WAIT_S_MAX
        while _is_being_filled(snapshot, lock_token) and clock_s() < ends_s:
            await asyncio.sleep(_WAIT_S)
            snapshot = await self._snapshot(lookup, revisions, lock_token)
        return snapshot

    async def _snapshot(
        self, lookup: CacheLookup, revisions: Revisions, lock_token: str
    ) -> CacheSnapshot | None:
        """A snapshot whose state has all these partitions; None if Redis is unavailable."""
        try:
            snapshot = await self._store.lookup(
                lookup.tenant, revisions.history, lookup.key, lock_token=lock_token
            )
            if await self._invalidation.is_impossible(snapshot, revisions):
                return None  # and the computed answer will belong to another history too
            return await self._with_partitions(snapshot, revisions)
        except CacheUnavailable:
            self._count("unavailable")
            return None

    async def _with_partitions(
        self, snapshot: CacheSnapshot, revisions: Revisions
    ) -> CacheSnapshot:
        """The snapshot with these partitions in its state.

        If another worker has changed the state meanwhile, the snapshot holds that state instead.
        """
        state = snapshot.state
        if state is None:
            self._count("reset")
            new_state = protocol.reset(snapshot.server_id, secrets.token_hex(8), revisions)
        else:
            new_state = protocol.with_partitions(state, revisions)
        if new_state is state:
            return snapshot
        cas = await self._store.compare_and_swap(snapshot, new_state)
        return replace(cas.snapshot, fill_lock_owner=snapshot.fill_lock_owner)

    def _served_from_redis(
        self, lookup: CacheLookup, revisions: Revisions, snapshot: CacheSnapshot | None
    ) -> ServedAnswer | None:
        """The entry in Redis, if the state allows it; it is also put into memory."""
        if snapshot is None or snapshot.entry is None:
            return None
        state, entry = snapshot.state, snapshot.entry
        if state is None or not protocol.may_serve(state, entry.version, revisions):
            return None
        valid_until = protocol.valid_until(state, entry.version, revisions)
        self._memory.put(lookup.tenant, lookup.key, LocalEntry(entry.body, valid_until))
        return ServedAnswer(entry.body, valid_until, "redis", lookup.key)

    async def _find_similar(
        self, question: CachedQuestion, revisions: Revisions, snapshot: CacheSnapshot | None
    ) -> SimilarAnswer | None:
        if snapshot is None:
            return None
        try:
            return await self._semantic.find_similar(snapshot, question, revisions)
        except CacheUnavailable:
            self._count("unavailable")
            return None

    def _serve_similar(
        self, lookup: CacheLookup, revisions: Revisions, similar: SimilarAnswer, compute: Compute
    ) -> ServedAnswer:
        """The similar question's answer; a sample is verified in the background."""
        self._semantic.record_served(lookup.tenant)
        if similar.is_sampled and len(self._background) < _BACKGROUND_MAX:
            self._run_in_background(self._verify_in_background(lookup, revisions, similar, compute))
        return ServedAnswer(
            similar.body, similar.valid_until, "semantic", lookup.key, similarity=similar.similarity
        )

    async def _verify_in_background(
        self, lookup: CacheLookup, revisions: Revisions, similar: SimilarAnswer, compute: Compute
    ) -> None:
        snapshot = await self._snapshot(lookup, revisions, "")
        self._verify(
            lookup, similar, await self._compute_and_fill(lookup, revisions, snapshot, compute, "")
        )

    def _verify(self, lookup: CacheLookup, similar: SimilarAnswer, real: ServedAnswer) -> None:
        """Count whether the similar question's answer was right, if both have equal revisions."""
        if real.is_complete and real.valid_until == similar.valid_until:
            self._semantic.verify(lookup.tenant, similar, real.body)

    async def _compute_and_fill(
        self,
        lookup: CacheLookup,
        revisions: Revisions,
        snapshot: CacheSnapshot | None,
        compute: Compute,
        lock_token: str,
    ) -> ServedAnswer:
        self._count("computed")
        if snapshot is not None and protocol.pending_revisions(snapshot.state, revisions):
            # The writer has not done it. The answer needs no drain, only its fill does.
            drain = self._run_in_background(self._invalidation.drain(snapshot.tenant, revisions))
            answer = await compute()
            await asyncio.wait([drain], timeout=_WAIT_S_MAX)
        else:
            answer = await compute()
        served = self._keep(lookup, revisions, answer)
        if snapshot is None or not answer.is_complete or served.key != lookup.key:
            return served
        return replace(served, stored=await self._fill(lookup, snapshot, answer, lock_token))

    def _keep(
        self, lookup: CacheLookup, revisions: Revisions, answer: ComputedAnswer
    ) -> ServedAnswer:
        """Put the answer into memory; with what invalidates it, unless Redis holds it too.

        It is kept nowhere, and is for callers with equal grants alone, if it belongs to other
        audience revisions than the key.
        """
        is_of_key = answer.as_of.fit(revisions)
        key = lookup.key if is_of_key else lookup.alone.key
        if not is_of_key:
            self._count("audiences_changed")
        elif answer.is_complete:
            computation = next(self._computations)
            self._memory.put(lookup.tenant, key, LocalEntry(answer.body, answer.as_of, computation))
            if not lookup.is_shared and answer.record:
                self._local_invalidation.add(
                    lookup.tenant, key, computation, answer.as_of, answer.record
                )
        return ServedAnswer.of_computed(key, answer)

    async def _fill(
        self, lookup: CacheLookup, snapshot: CacheSnapshot, answer: ComputedAnswer, lock_token: str
    ) -> bool:
        """Store the answer in Redis; False if it is too large or the state has changed."""
        if len(answer.body) + len(answer.record) > ENTRY_BYTES_MAX:
            self._count("oversized")
            return False
        if snapshot.state is None:
            return False
        version = EntryVersion(snapshot.state.nonce, answer.as_of)
        question = b"" if lookup.question is None else lookup.question.encode()
        entry = Entry(version, answer.record, question, answer.body)
        try:
            for _ in range(_ATTEMPTS_MAX):
                if not protocol.may_fill(snapshot.state, version):
                    break
                fill = await self._store.fill(snapshot, lookup.key, entry, lock_token=lock_token)
                if fill.is_done:
                    self._count("stored")
                    self._invalidation.register_stored(lookup.tenant, lookup.key, entry, fill)
                    return True
                snapshot = fill.snapshot
        except CacheUnavailable:
            self._count("unavailable")
        self._count("refused")
        return False

    async def _release(self, lookup: CacheLookup) -> None:
        try:
            await self._store.release_fill_lock(lookup.tenant, lookup.key)
        except CacheUnavailable:
            self._count("unavailable")

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._on_background_done)
        return task

    def _on_background_done(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._count("unverified")


def _is_being_filled(snapshot: CacheSnapshot | None, lock_token: str) -> bool:
    """Whether another process is computing the answer."""
    return snapshot is not None and snapshot.fill_lock_owner not in ("", lock_token)
