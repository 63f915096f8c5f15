"""The layers together: an answer from memory, from Redis, of a similar question, or computed."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from cache import protocol
from cache.errors import CacheUnavailable
from cache.invalidation import Count, Invalidation
from cache.local_cache import Known, Memory
from cache.protocol import Mark, Revisions
from cache.redis.codec import Entry
from cache.redis.store import Sight, Store
from cache.semantic.cached_question import Question
from cache.semantic.semantic_tier import Semantic, Similar
from cache.singleflight import Singleflight

Tier: TypeAlias = Literal["memory", "redis", "semantic", "miss"]

_ATTEMPTS_MAX = 8  # at a swap that others keep winning; giving up costs speed only
_WAIT_S_MAX = 0.3  # for another process that computes the same; starting values, not measured
_WAIT_S = 0.004
_BACKGROUND_MAX = 4  # computations at a time that nobody waits for


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the cache of the tenant `home`.

    question: if a similar question's answer will do, and for it to serve similar ones.
    """

    home: str
    key: str
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """A body, the revision of each partition that it was computed as of, and what it depends on.

    record: for the `Watch` that will say which changes doom it.
    whole:  whether all parts took part; an answer that lacks one is served, but never kept.
    lacks:  by part, why it took none; None if all did.
    """

    body: bytes
    as_of: Revisions
    record: bytes = b""
    whole: bool = True
    lacks: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """A body, where it came from, and the revision of each partition up to which it is right.

    similarity: of the question that it answers, if it is a similar one's.
    """

    body: bytes
    good: Revisions
    tier: Tier
    stored: bool = False
    whole: bool = True
    similarity: float = 1.0
    lacks: Mapping[str, str] | None = None


Compute: TypeAlias = Callable[[], Coroutine[Any, Any, Computed]]


class Answers:
    """`count` is told the tier of each answer given, and each event: computed, waited, stored,
    refused, reset, verified, wrong, and away when Redis is.
    """

    def __init__(
        self,
        memory: Memory,
        store: Store,
        invalidation: Invalidation[Any],
        semantic: Semantic,
        count: Count,
    ) -> None:
        self._memory = memory
        self._store = store
        self._invalidation = invalidation
        self._semantic = semantic
        self._count = count
        self._flights: Singleflight[Served] = Singleflight()
        self._background: set[asyncio.Task[None]] = set()

    def known(self, key: str, revisions: Revisions) -> Served | None:
        """The answer that `get` would give at once, from memory."""
        known = self._memory.get(key, revisions)
        return None if known is None else self._counted(Served(known.body, known.good, "memory"))

    def is_known(self, key: str, revisions: Revisions) -> bool:
        """Whether `known` would give one; nothing is counted."""
        return self._memory.get(key, revisions) is not None

    async def get(self, asked: Asked, revisions: Revisions, compute: Compute) -> Served:
        """An answer that is right at `revisions`, which name all that it depends on."""
        served = self.known(asked.key, revisions)
        if served is not None:
            return served
        # Revisions are part of the key: who knows of a newer change must not join an older flight,
        # nor who wants its own answer one that may end in another's.
        numbers = revisions.by_partition.values()
        flight = (asked.key, asked.question is None, revisions.history, *numbers)
        served = await self._flights.do(flight, lambda: self._load(asked, revisions, compute))
        return self._counted(served)

    async def drop(self, home: str, key: str) -> None:
        """Forget an answer: here, and in Redis."""
        self._memory.drop(key)
        try:
            await self._store.drop(home, key)
        except CacheUnavailable:
            self._count("away")

    async def settled(self) -> None:
        """Once nothing is at work that nobody waits for, and all counts are written down."""
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._semantic.settled()

    def _counted(self, served: Served) -> Served:
        self._count(served.tier)
        return served

    async def _load(self, asked: Asked, revisions: Revisions, compute: Compute) -> Served:
        """From Redis, of a similar question, or computed.

        Who may get a similar question's answer claims nothing until there is none to be had.
        """
        similar = None
        if asked.question is not None:
            sight = await self._look(asked, revisions, "")
            served = self._served(asked, revisions, sight)
            if served is not None:
                return served
            similar = await self._similar(asked.question, revisions, sight)
            if similar is not None and similar.is_open:
                return self._shared(asked, revisions, similar, compute)
        served = await self._own(asked, revisions, compute)
        if similar is not None:
            self._verify(asked, similar, served)
        return served

    async def _own(self, asked: Asked, revisions: Revisions, compute: Compute) -> Served:
        claim = secrets.token_hex(8)
        sight = await self._look_for(asked, revisions, claim)
        served = self._served(asked, revisions, sight)
        if served is not None:
            return served
        try:
            served = await self._computed(asked, revisions, sight, compute, claim)
        finally:
            if sight is not None and sight.claimant == claim and not (served and served.stored):
                self._later(self._release(asked))
        return served

    async def _look_for(self, asked: Asked, revisions: Revisions, claim: str) -> Sight | None:
        """The cache, once no other process is computing the answer, or after a while."""
        sight = await self._look(asked, revisions, claim)
        if not _is_claimed(sight, claim):
            return sight
        self._count("waited")
        clock_s = asyncio.get_running_loop().time
        ends_s = clock_s() + _WAIT_S_MAX
        while _is_claimed(sight, claim) and clock_s() < ends_s:
            await asyncio.sleep(_WAIT_S)
            sight = await self._look(asked, revisions, claim)
        return sight

    async def _look(self, asked: Asked, revisions: Revisions, claim: str) -> Sight | None:
        """The cache as Redis has it, with a state that knows all these partitions; None if away."""
        try:
            sight = await self._store.look(asked.home, revisions.history, asked.key, claim=claim)
            if await self._invalidation.is_impossible(sight, revisions):
                return None  # nor will what is computed be of the history that was read
            return await self._ready(sight, revisions)
        except CacheUnavailable:
            self._count("away")
            return None

    async def _ready(self, sight: Sight, revisions: Revisions) -> Sight:
        """With a state for these partitions, unless somebody else has just made another one."""
        state = sight.state
        if state is None:
            self._count("reset")
            ready = protocol.reset(sight.run, secrets.token_hex(8), revisions)
        else:
            ready = protocol.joined(state, revisions)
        if ready is state:
            return sight
        swap = await self._store.swap(sight, ready)
        return replace(swap.sight, claimant=sight.claimant)

    def _served(self, asked: Asked, revisions: Revisions, sight: Sight | None) -> Served | None:
        """The entry in Redis, if the state vouches for it, kept in memory from now on."""
        if sight is None or sight.entry is None:
            return None
        state, entry = sight.state, sight.entry
        if state is None or not protocol.may_serve(state, entry.mark, revisions):
            return None
        good = protocol.known_good(state, entry.mark, revisions)
        self._memory.put(asked.key, Known(entry.body, good))
        return Served(entry.body, good, "redis")

    async def _similar(
        self, question: Question, revisions: Revisions, sight: Sight | None
    ) -> Similar | None:
        if sight is None:
            return None
        try:
            return await self._semantic.similar(sight, question, revisions)
        except CacheUnavailable:
            self._count("away")
            return None

    def _shared(
        self, asked: Asked, revisions: Revisions, similar: Similar, compute: Compute
    ) -> Served:
        """The similar question's answer; of a sample, the real one is computed behind it."""
        self._semantic.served(asked.home, similar)
        if similar.is_sampled and len(self._background) < _BACKGROUND_MAX:
            self._later(self._check(asked, revisions, similar, compute))
        return Served(similar.body, similar.good, "semantic", similarity=similar.similarity)

    async def _check(
        self, asked: Asked, revisions: Revisions, similar: Similar, compute: Compute
    ) -> None:
        sight = await self._look(asked, revisions, "")
        self._verify(asked, similar, await self._computed(asked, revisions, sight, compute, ""))

    def _verify(self, asked: Asked, similar: Similar, real: Served) -> None:
        """Whether the similar question's answer was right, if both are of the same revisions."""
        if real.whole and real.good == similar.good:
            right = self._semantic.verify(asked.home, similar, real.body)
            self._count("verified" if right else "wrong")

    async def _computed(
        self, asked: Asked, revisions: Revisions, sight: Sight | None, compute: Compute, claim: str
    ) -> Served:
        self._count("computed")
        if sight is not None and protocol.behind(sight.state, revisions):
            drain = self._invalidation.drain(sight.home, revisions)  # as its writer could not
            computed, _ = await asyncio.gather(compute(), drain)
        else:
            computed = await compute()
        if not computed.whole:
            return Served(computed.body, computed.as_of, "miss", whole=False, lacks=computed.lacks)
        self._memory.put(asked.key, Known(computed.body, computed.as_of))
        stored = sight is not None and await self._fill(asked, sight, computed, claim)
        return Served(computed.body, computed.as_of, "miss", stored)

    async def _fill(self, asked: Asked, sight: Sight, computed: Computed, claim: str) -> bool:
        """Whether the answer is in Redis; it is not if the state has moved on meanwhile."""
        if sight.state is None:
            return False
        mark = Mark(sight.state.nonce, computed.as_of)
        question = b"" if asked.question is None else asked.question.encode()
        entry = Entry(mark, computed.record, question, computed.body)
        try:
            for _ in range(_ATTEMPTS_MAX):
                if not protocol.may_fill(sight.state, mark):
                    break
                filled = await self._store.fill(sight, asked.key, entry, claim=claim)
                if filled.done:
                    self._count("stored")
                    self._invalidation.stored(asked.home, asked.key, entry, filled)
                    return True
                sight = filled.sight
        except CacheUnavailable:
            self._count("away")
        self._count("refused")
        return False

    async def _release(self, asked: Asked) -> None:
        try:
            await self._store.release(asked.home, asked.key)
        except CacheUnavailable:
            self._count("away")

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._count("unverified")


def _is_claimed(sight: Sight | None, claim: str) -> bool:
    """Whether somebody else is computing the answer."""
    return sight is not None and sight.claimant not in ("", claim)
