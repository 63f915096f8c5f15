"""The layers together: an answer from memory, from Redis, or computed and filled into both."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cache import codec, protocol
from cache.codec import Entry
from cache.errors import CacheUnavailable
from cache.memory import Known, Memory
from cache.protocol import Mark, State
from cache.singleflight import Singleflight
from cache.store import Sight, Store

Tier: TypeAlias = Literal["memory", "redis", "miss"]
Count: TypeAlias = Callable[[str], None]

_ATTEMPTS_MAX = 8  # at a swap that others keep winning; giving up costs speed only
_DROPS_MAX = 500  # entries dropped one by one; beyond it a new nonce drops them all at once


@dataclass(frozen=True, slots=True)
class Computed:
    """A body and the revision of each partition that it was computed as of.

    whole: whether all parts took part; an answer that lacks one is served, but never kept.
    """

    body: bytes
    as_of: Mapping[str, int]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Served:
    """A body, where it came from, and the revision of each partition up to which it is right."""

    body: bytes
    good: Mapping[str, int]
    tier: Tier
    stored: bool = False
    whole: bool = True


Compute: TypeAlias = Callable[[], Coroutine[Any, Any, Computed]]


class Answers:
    """`count` is told the tier of each answer given, and each event: computed, stored, refused,
    drained, reset, contended, and away when Redis is.
    """

    def __init__(self, memory: Memory, store: Store, count: Count) -> None:
        self._memory = memory
        self._store = store
        self._count = count
        self._flights: Singleflight[Served] = Singleflight()

    def known(self, key: str, revisions: Mapping[str, int]) -> Served | None:
        """The answer that `get` would give at once, from memory."""
        known = self._memory.get(key, revisions)
        return None if known is None else self._counted(Served(known.body, known.good, "memory"))

    async def get(self, key: str, revisions: Mapping[str, int], compute: Compute) -> Served:
        """An answer that is right at `revisions`, one of each partition, the tenant's own first."""
        served = self.known(key, revisions)
        if served is not None:
            return served
        # Revisions are part of the key: who knows of a newer change must not join an older flight.
        flight = (key, *revisions.values())
        served = await self._flights.do(flight, lambda: self._load(key, revisions, compute))
        return self._counted(served)

    def _counted(self, served: Served) -> Served:
        self._count(served.tier)
        return served

    async def drain(self, partition: str, revision: int) -> None:
        """Invalidate all that the changes up to `revision` doom; without Redis, leave it to others.

        Any change dooms every entry of its partition.
        """
        try:
            await self._drain(partition, revision)
        except CacheUnavailable:
            self._count("away")

    async def _load(self, key: str, revisions: Mapping[str, int], compute: Compute) -> Served:
        sights = await self._look(key, revisions)
        served = self._served(key, revisions, sights)
        if served is not None:
            return served
        self._count("computed")
        late = [
            self.drain(name, revisions[name])
            for name, sight in sights.items()
            if sight.state is not None and sight.state.applied < revisions[name]
        ]
        computed, _ = await asyncio.gather(compute(), asyncio.gather(*late))
        if not computed.whole:
            return Served(computed.body, computed.as_of, "miss", whole=False)
        self._memory.put(key, Known(computed.body, computed.as_of))
        stored = await self._fill(key, sights, computed)
        return Served(computed.body, computed.as_of, "miss", stored)

    async def _look(self, key: str, revisions: Mapping[str, int]) -> dict[str, Sight]:
        """Each partition as Redis has it, with a state; nothing if Redis is away."""
        try:
            sights = await asyncio.gather(*(self._store.look(name, key) for name in revisions))
            return {
                sight.partition: sight
                if sight.state is not None
                else await self._reset(sight, revisions[sight.partition])
                for sight in sights
            }
        except CacheUnavailable:
            self._count("away")
            return {}

    def _served(
        self, key: str, revisions: Mapping[str, int], sights: Mapping[str, Sight]
    ) -> Served | None:
        """The entry in Redis, if every partition vouches for it, kept in memory from now on."""
        if not sights:
            return None
        entries = [sight.entry for sight in sights.values()]
        home = entries[0]
        if home is None or home.mark.stamp != codec.stamp(home.body):
            return None
        good = {}
        for (name, sight), entry in zip(sights.items(), entries, strict=True):
            state = sight.state
            if entry is None or entry.mark.stamp != home.mark.stamp:
                return None
            if state is None or not protocol.may_serve(state, entry.mark, revisions[name]):
                return None
            good[name] = state.applied
        self._memory.put(key, Known(home.body, good))
        return Served(home.body, good, "redis")

    async def _fill(self, key: str, sights: Mapping[str, Sight], computed: Computed) -> bool:
        """Register the answer in every partition; the body lies in the first."""
        stamp = codec.stamp(computed.body)
        body = computed.body
        stored = bool(sights)
        for name, sight in sights.items():
            if sight.state is None:
                return False
            mark = Mark(sight.state.nonce, computed.as_of[name], stamp)
            stored = stored and await self._put(sight, key, Entry(mark, body))
            body = b""
        self._count("stored" if stored else "refused")
        return stored

    async def _put(self, sight: Sight, key: str, entry: Entry) -> bool:
        try:
            for _ in range(_ATTEMPTS_MAX):
                state = sight.state
                if state is None or not protocol.may_fill(state, entry.mark):
                    return False
                swap = await self._store.swap(sight, state, put={key: entry})
                if swap.done:
                    return True
                sight = swap.sight
        except CacheUnavailable:
            self._count("away")
        return False

    async def _reset(self, sight: Sight, revision: int) -> Sight:
        """A new state, unless somebody else has just made one."""
        self._count("reset")
        state = protocol.reset(sight.run, secrets.token_hex(8), revision)
        return (await self._store.swap(sight, state)).sight

    async def _drain(self, partition: str, revision: int) -> None:
        sight = await self._store.look(partition, "")
        for _ in range(_ATTEMPTS_MAX):
            if sight.state is None or sight.state.applied >= revision:
                return  # without a state nothing is served, so there is nothing to drop
            sight = await self._drain_once(sight, protocol.begin(sight.state, revision), revision)
        self._count("contended")

    async def _drain_once(self, sight: Sight, begun: State, revision: int) -> Sight:
        """Begin, scan, finish. Returns the partition as found, to be judged again."""
        swap = await self._store.swap(sight, begun)
        if not swap.done:
            return swap.sight
        doomed = await self._store.registered(swap.sight, begun.nonce, limit=_DROPS_MAX)
        if doomed is None:
            return await self._reset(swap.sight, revision)
        for _ in range(_ATTEMPTS_MAX):
            finished = protocol.finish(swap.sight.state, begun, revision)
            if finished is None:
                break
            swap = await self._store.swap(swap.sight, finished, drop=doomed)
            if swap.done:
                self._count("drained")
                break
        return swap.sight
