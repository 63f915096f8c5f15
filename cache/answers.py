"""The layers together: an answer from memory, from Redis, of a similar question, or computed."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from cache import protocol
from cache.errors import CacheUnavailable
from cache.invalidation import CountEvent, Invalidation
from cache.local_cache import LocalCache, LocalEntry
from cache.protocol import EntryVersion, Revisions
from cache.redis.codec import Entry
from cache.redis.store import CacheSnapshot, RedisStore
from cache.semantic.cached_question import CachedQuestion
from cache.semantic.semantic_tier import SemanticTier, SimilarAnswer
from cache.singleflight import Singleflight

Tier: TypeAlias = Literal["memory", "redis", "semantic", "miss"]

_ATTEMPTS_MAX = 8  # at a swap that others keep winning; giving up costs speed only
_WAIT_S_MAX = 0.3  # for another process that computes the same; starting values, not measured
_WAIT_S = 0.004
_BACKGROUND_MAX = 4  # computations at a time that nobody waits for


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """What is asked of the cache of the tenant `home`.

    question: if a similar question's answer will do, and for it to serve similar ones.
    """

    home: str
    key: str
    question: CachedQuestion | None = None


@dataclass(frozen=True, slots=True)
class ComputedAnswer:
    """A body, the revision of each partition that it was computed as of, and what it depends on.

    record: for the `Watch` that will say which changes doom it.
    whole:  whether all parts took part; an answer that lacks one is served, but never kept.
    lacks:  by part, why it took none; None if all did.
    """

    body: bytes
    as_of: Revisions
    record: bytes = b""
    is_complete: bool = True
    missing_parts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ServedAnswer:
    """A body, where it came from, and the revision of each partition up to which it is right.

    similarity: of the question that it answers, if it is a similar one's.
    """

    body: bytes
    valid_until: Revisions
    tier: Tier
    stored: bool = False
    is_complete: bool = True
    similarity: float = 1.0
    missing_parts: Mapping[str, str] | None = None


Compute: TypeAlias = Callable[[], Coroutine[Any, Any, ComputedAnswer]]


class Answers:
    """`count` is told the tier of each answer given, and each event: computed, waited, stored,
    refused, reset, verified, wrong, and away when Redis is.
    """

    def __init__(
        self,
        memory: LocalCache,
        store: RedisStore,
        invalidation: Invalidation[Any],
        semantic: SemanticTier,
        count: CountEvent,
    ) -> None:
        self._memory = memory
        self._store = store
        self._invalidation = invalidation
        self._semantic = semantic
        self._count = count
        self._flights: Singleflight[ServedAnswer] = Singleflight()
        self._background: set[asyncio.Task[None]] = set()

    def get_local(self, key: str, revisions: Revisions) -> ServedAnswer | None:
        """The answer that `get` would give at once, from memory."""
        known = self._memory.get(key, revisions)
        return (
            None
            if known is None
            else self._count_tier(ServedAnswer(known.body, known.valid_until, "memory"))
        )

    def has_local(self, key: str, revisions: Revisions) -> bool:
        """Whether `known` would give one; nothing is counted."""
        return self._memory.get(key, revisions) is not None

    async def get_or_compute(
        self, asked: CacheLookup, revisions: Revisions, compute: Compute
    ) -> ServedAnswer:
        """An answer that is right at `revisions`, which name all that it depends on."""
        served = self.get_local(asked.key, revisions)
        if served is not None:
            return served
        # Revisions are part of the key: who knows of a newer change must not join an older flight,
        # nor who wants its own answer one that may end in another's.
        numbers = revisions.by_partition.values()
        flight = (asked.key, asked.question is None, revisions.history, *numbers)
        served = await self._flights.do(flight, lambda: self._load(asked, revisions, compute))
        return self._count_tier(served)

    async def drop(self, home: str, key: str) -> None:
        """Forget an answer: here, and in Redis."""
        self._memory.drop(key)
        try:
            await self._store.drop(home, key)
        except CacheUnavailable:
            self._count("away")

    async def drain_background(self) -> None:
        """Once nothing is at work that nobody waits for, and all counts are written down."""
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._semantic.drain_background()

    def _count_tier(self, served: ServedAnswer) -> ServedAnswer:
        self._count(served.tier)
        return served

    async def _load(
        self, asked: CacheLookup, revisions: Revisions, compute: Compute
    ) -> ServedAnswer:
        """From Redis, of a similar question, or computed.

        Who may get a similar question's answer claims nothing until there is none to be had.
        """
        similar = None
        if asked.question is not None:
            sight = await self._snapshot(asked, revisions, "")
            served = self._served_from_redis(asked, revisions, sight)
            if served is not None:
                return served
            similar = await self._find_similar(asked.question, revisions, sight)
            if similar is not None and similar.is_open:
                return self._serve_similar(asked, revisions, similar, compute)
        served = await self._load_own(asked, revisions, compute)
        if similar is not None:
            self._verify(asked, similar, served)
        return served

    async def _load_own(
        self, asked: CacheLookup, revisions: Revisions, compute: Compute
    ) -> ServedAnswer:
        claim = secrets.token_hex(8)
        sight = await self._wait_for_fill(asked, revisions, claim)
        served = self._served_from_redis(asked, revisions, sight)
        if served is not None:
            return served
        try:
            served = await self._compute_and_fill(asked, revisions, sight, compute, claim)
        finally:
            if (
                sight is not None
                and sight.fill_lock_owner == claim
                and not (served and served.stored)
            ):
                self._run_in_background(self._release(asked))
        return served

    async def _wait_for_fill(
        self, asked: CacheLookup, revisions: Revisions, claim: str
    ) -> CacheSnapshot | None:
        """The cache, once no other process is computing the answer, or after a while."""
        sight = await self._snapshot(asked, revisions, claim)
        if not _is_being_filled(sight, claim):
            return sight
        self._count("waited")
        clock_s = asyncio.get_running_loop().time
        ends_s = clock_s() + _WAIT_S_MAX
        while _is_being_filled(sight, claim) and clock_s() < ends_s:
            await asyncio.sleep(_WAIT_S)
            sight = await self._snapshot(asked, revisions, claim)
        return sight

    async def _snapshot(
        self, asked: CacheLookup, revisions: Revisions, claim: str
    ) -> CacheSnapshot | None:
        """The cache as Redis has it, with a state that knows all these partitions; None if away."""
        try:
            sight = await self._store.lookup(asked.home, revisions.history, asked.key, claim=claim)
            if await self._invalidation.is_impossible(sight, revisions):
                return None  # nor will what is computed be of the history that was read
            return await self._with_partitions(sight, revisions)
        except CacheUnavailable:
            self._count("away")
            return None

    async def _with_partitions(self, sight: CacheSnapshot, revisions: Revisions) -> CacheSnapshot:
        """With a state for these partitions, unless somebody else has just made another one."""
        state = sight.state
        if state is None:
            self._count("reset")
            ready = protocol.reset(sight.server_id, secrets.token_hex(8), revisions)
        else:
            ready = protocol.with_partitions(state, revisions)
        if ready is state:
            return sight
        swap = await self._store.compare_and_swap(sight, ready)
        return replace(swap.snapshot, fill_lock_owner=sight.fill_lock_owner)

    def _served_from_redis(
        self, asked: CacheLookup, revisions: Revisions, sight: CacheSnapshot | None
    ) -> ServedAnswer | None:
        """The entry in Redis, if the state vouches for it, kept in memory from now on."""
        if sight is None or sight.entry is None:
            return None
        state, entry = sight.state, sight.entry
        if state is None or not protocol.may_serve(state, entry.version, revisions):
            return None
        good = protocol.valid_until(state, entry.version, revisions)
        self._memory.put(asked.key, LocalEntry(entry.body, good))
        return ServedAnswer(entry.body, good, "redis")

    async def _find_similar(
        self, question: CachedQuestion, revisions: Revisions, sight: CacheSnapshot | None
    ) -> SimilarAnswer | None:
        if sight is None:
            return None
        try:
            return await self._semantic.find_similar(sight, question, revisions)
        except CacheUnavailable:
            self._count("away")
            return None

    def _serve_similar(
        self, asked: CacheLookup, revisions: Revisions, similar: SimilarAnswer, compute: Compute
    ) -> ServedAnswer:
        """The similar question's answer; of a sample, the real one is computed behind it."""
        self._semantic.record_served(asked.home, similar)
        if similar.is_sampled and len(self._background) < _BACKGROUND_MAX:
            self._run_in_background(self._verify_in_background(asked, revisions, similar, compute))
        return ServedAnswer(
            similar.body, similar.valid_until, "semantic", similarity=similar.similarity
        )

    async def _verify_in_background(
        self, asked: CacheLookup, revisions: Revisions, similar: SimilarAnswer, compute: Compute
    ) -> None:
        sight = await self._snapshot(asked, revisions, "")
        self._verify(
            asked, similar, await self._compute_and_fill(asked, revisions, sight, compute, "")
        )

    def _verify(self, asked: CacheLookup, similar: SimilarAnswer, real: ServedAnswer) -> None:
        """Whether the similar question's answer was right, if both are of the same revisions."""
        if real.is_complete and real.valid_until == similar.valid_until:
            right = self._semantic.verify(asked.home, similar, real.body)
            self._count("verified" if right else "wrong")

    async def _compute_and_fill(
        self,
        asked: CacheLookup,
        revisions: Revisions,
        sight: CacheSnapshot | None,
        compute: Compute,
        claim: str,
    ) -> ServedAnswer:
        self._count("computed")
        if sight is not None and protocol.pending_revisions(sight.state, revisions):
            drain = self._invalidation.drain(sight.home, revisions)  # as its writer could not
            computed, _ = await asyncio.gather(compute(), drain)
        else:
            computed = await compute()
        if not computed.is_complete:
            return ServedAnswer(
                computed.body,
                computed.as_of,
                "miss",
                is_complete=False,
                missing_parts=computed.missing_parts,
            )
        self._memory.put(asked.key, LocalEntry(computed.body, computed.as_of))
        stored = sight is not None and await self._fill(asked, sight, computed, claim)
        return ServedAnswer(computed.body, computed.as_of, "miss", stored)

    async def _fill(
        self, asked: CacheLookup, sight: CacheSnapshot, computed: ComputedAnswer, claim: str
    ) -> bool:
        """Whether the answer is in Redis; it is not if the state has moved on meanwhile."""
        if sight.state is None:
            return False
        mark = EntryVersion(sight.state.nonce, computed.as_of)
        question = b"" if asked.question is None else asked.question.encode()
        entry = Entry(mark, computed.record, question, computed.body)
        try:
            for _ in range(_ATTEMPTS_MAX):
                if not protocol.may_fill(sight.state, mark):
                    break
                filled = await self._store.fill(sight, asked.key, entry, claim=claim)
                if filled.is_done:
                    self._count("stored")
                    self._invalidation.register_stored(asked.home, asked.key, entry, filled)
                    return True
                sight = filled.snapshot
        except CacheUnavailable:
            self._count("away")
        self._count("refused")
        return False

    async def _release(self, asked: CacheLookup) -> None:
        try:
            await self._store.release_fill_lock(asked.home, asked.key)
        except CacheUnavailable:
            self._count("away")

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._on_background_done)

    def _on_background_done(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._count("unverified")


def _is_being_filled(sight: CacheSnapshot | None, claim: str) -> bool:
    """Whether somebody else is computing the answer."""
    return sight is not None and sight.fill_lock_owner not in ("", claim)
