"""The layers together: an answer from memory, from Redis, or computed and filled into both."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from cache import protocol
from cache.codec import Entry
from cache.errors import CacheUnavailable
from cache.invalidation import Count, Invalidation
from cache.memory import Known, Memory
from cache.protocol import Mark, Revisions
from cache.singleflight import Singleflight
from cache.store import Sight, Store

Tier: TypeAlias = Literal["memory", "redis", "miss"]

_ATTEMPTS_MAX = 8  # at a swap that others keep winning; giving up costs speed only
_WAITS_MAX = 75  # for another process that computes the same, 0.3 s; starting values, not measured
_WAIT_S = 0.004


@dataclass(frozen=True, slots=True)
class Computed:
    """A body, the revision of each partition that it was computed as of, and what it depends on.

    record: for the `Watch` that will say which changes doom it.
    whole:  whether all parts took part; an answer that lacks one is served, but never kept.
    """

    body: bytes
    as_of: Revisions
    record: bytes = b""
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Served:
    """A body, where it came from, and the revision of each partition up to which it is right."""

    body: bytes
    good: Revisions
    tier: Tier
    stored: bool = False
    whole: bool = True


Compute: TypeAlias = Callable[[], Coroutine[Any, Any, Computed]]


class Answers:
    """`count` is told the tier of each answer given, and each event: computed, waited, stored,
    refused, reset, and away when Redis is.
    """

    def __init__(
        self, memory: Memory, store: Store, invalidation: Invalidation[Any], count: Count
    ) -> None:
        self._memory = memory
        self._store = store
        self._invalidation = invalidation
        self._count = count
        self._flights: Singleflight[Served] = Singleflight()

    def known(self, key: str, revisions: Revisions) -> Served | None:
        """The answer that `get` would give at once, from memory."""
        known = self._memory.get(key, revisions)
        return None if known is None else self._counted(Served(known.body, known.good, "memory"))

    async def get(self, home: str, key: str, revisions: Revisions, compute: Compute) -> Served:
        """An answer of the tenant `home`, right at `revisions`: of all that it depends on."""
        served = self.known(key, revisions)
        if served is not None:
            return served
        # Revisions are part of the key: who knows of a newer change must not join an older flight.
        flight = (key, *revisions.values())
        served = await self._flights.do(flight, lambda: self._load(home, key, revisions, compute))
        return self._counted(served)

    async def drop(self, home: str, key: str) -> None:
        """Forget an answer: here, and in Redis."""
        self._memory.drop(key)
        try:
            await self._store.drop(home, key)
        except CacheUnavailable:
            self._count("away")

    def _counted(self, served: Served) -> Served:
        self._count(served.tier)
        return served

    async def _load(self, home: str, key: str, revisions: Revisions, compute: Compute) -> Served:
        claim = secrets.token_hex(8)
        sight = await self._look_for(home, key, revisions, claim)
        served = self._served(key, revisions, sight)
        if served is not None:
            return served
        try:
            served = await self._computed(key, revisions, sight, compute, claim)
        finally:
            if sight is not None and sight.claimant == claim and not (served and served.stored):
                await self._release(sight, key)
        return served

    async def _look_for(
        self, home: str, key: str, revisions: Revisions, claim: str
    ) -> Sight | None:
        """The cache, once no other process is computing the answer, or after a while."""
        sight = await self._look(home, key, revisions, claim)
        for waited in range(_WAITS_MAX):
            if sight is None or sight.claimant in ("", claim):
                break
            if not waited:
                self._count("waited")
            await asyncio.sleep(_WAIT_S)
            sight = await self._look(home, key, revisions, claim)
        return sight

    async def _look(self, home: str, key: str, revisions: Revisions, claim: str) -> Sight | None:
        """The cache as Redis has it, with a state that knows all these partitions; None if away."""
        try:
            return await self._ready(await self._store.look(home, key, claim=claim), revisions)
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

    def _served(self, key: str, revisions: Revisions, sight: Sight | None) -> Served | None:
        """The entry in Redis, if the state vouches for it, kept in memory from now on."""
        if sight is None or sight.entry is None:
            return None
        state, entry = sight.state, sight.entry
        if state is None or not protocol.may_serve(state, entry.mark, revisions):
            return None
        good = {name: state.progress[name].applied for name in revisions}
        self._memory.put(key, Known(entry.body, good))
        return Served(entry.body, good, "redis")

    async def _computed(
        self, key: str, revisions: Revisions, sight: Sight | None, compute: Compute, claim: str
    ) -> Served:
        self._count("computed")
        computed, _ = await asyncio.gather(compute(), self._catch_up(sight, revisions))
        if not computed.whole:
            return Served(computed.body, computed.as_of, "miss", whole=False)
        self._memory.put(key, Known(computed.body, computed.as_of))
        stored = sight is not None and await self._fill(sight, key, computed, claim)
        return Served(computed.body, computed.as_of, "miss", stored)

    async def _catch_up(self, sight: Sight | None, revisions: Revisions) -> None:
        """What a writer should have drained, and could not."""
        if sight is not None and protocol.behind(sight.state, revisions):
            await self._invalidation.drain(sight.home, revisions)

    async def _fill(self, sight: Sight, key: str, computed: Computed, claim: str) -> bool:
        """Whether the answer is in Redis; it is not if the state has moved on meanwhile."""
        if sight.state is None:
            return False
        mark = Mark(sight.state.nonce, computed.as_of)
        entry = Entry(mark, computed.record, b"", computed.body)
        try:
            for _ in range(_ATTEMPTS_MAX):
                if not protocol.may_fill(sight.state, mark):
                    break
                swap = await self._store.fill(sight, key, entry, claim=claim)
                if swap.done:
                    self._count("stored")
                    return True
                sight = swap.sight
        except CacheUnavailable:
            self._count("away")
        self._count("refused")
        return False

    async def _release(self, sight: Sight, key: str) -> None:
        try:
            await self._store.release(sight.home, key)
        except CacheUnavailable:
            self._count("away")
