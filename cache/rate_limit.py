"""How much each may ask for: token buckets, shared by all workers while Redis is there.

A worker takes some tokens from a bucket before it needs them, as many as it lately spent in half a
second, so a request waits for Redis only where few come. Nothing is spent twice; what lies unspent
for a second is given up.

While Redis is away each worker fills a bucket of its own: what all allow together is then more, by
the number of workers, and nobody is refused for want of Redis. All that a worker does in the name
of one bucket goes through one `Hand`, so that its own bucket is one as well.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from cache.errors import CacheUnavailable

HANDFUL_S = 0.1  # how long a handful lasts at the full rate: a starting value, not measured
_AHEAD_S = 0.5  # for which a worker takes what it spends
_UNSPENT_S = 1.0
_GROWTH_MAX = 2.0  # of what is taken, to what was spent: two who come at once make no flood
_NEARLY = 1e-6  # parts of a token add up to not quite one


@dataclass(frozen=True, slots=True)
class RateLimit:
    """per_s: tokens that come a second; size: that a bucket holds."""

    per_s: float
    size: int

    @property
    def batch_size(self) -> int:
        return max(1, min(self.size // 10, math.ceil(self.per_s * HANDFUL_S)))


@dataclass(frozen=True, slots=True)
class TakenTokens:
    """How many tokens were taken, how many are left, and in how many seconds there will be one."""

    tokens: int
    left: int
    wait_s: float


class TokenBuckets(Protocol):
    async def take_tokens(
        self, home: str, name: str, rate: RateLimit, wanted: int, /
    ) -> TakenTokens:
        """Raises `CacheUnavailable`."""


class LocalTokens:
    """A worker's tokens of one bucket.

    left: in the bucket when somebody last looked; wait_s: until there will be one, 0 if there is.
    """

    __slots__ = (
        "__weakref__", "_asking", "_bucket", "_fetched", "_spent", "_taken_at_s", "_waiting",
        "left", "tokens", "wait_s",
    )  # fmt: skip

    def __init__(self, bucket: "_Bucket") -> None:
        self._bucket = bucket
        self._asking: asyncio.Task[None] | None = None
        self._taken_at_s = -math.inf
        self._fetched = self._spent = self._waiting = 0
        self.tokens = 0
        self.left = bucket.rate.size
        self.wait_s = 0.0

    def spend(self) -> bool:
        """Whether there was a token at hand."""
        if self.tokens <= 0 or self._bucket.clock_s() - self._taken_at_s > _UNSPENT_S:
            return False
        self.tokens -= 1
        self._spent += 1
        if 2 * self.tokens < self._fetched > 1 and self._asking is None:
            self._start_fetch()  # before the last one is spent
        return True

    async def wait(self) -> bool:
        """Whether there was one in the bucket."""
        self._waiting += 1
        try:
            while True:
                await asyncio.shield(self._asking or self._start_fetch())
                if self.spend():
                    return True
                if self.wait_s > 0:
                    return False
        finally:
            self._waiting -= 1

    def _start_fetch(self) -> asyncio.Task[None]:
        self._asking = asyncio.create_task(self._fetch())
        return self._asking

    async def _fetch(self) -> None:
        """As many as will be spent soon: whoever asks seldom leaves none lying about."""
        passed_s = self._bucket.clock_s() - self._taken_at_s
        if passed_s > _UNSPENT_S:
            self.tokens = 0
        growth = min(_GROWTH_MAX, _AHEAD_S / max(passed_s, _NEARLY))
        soon = math.ceil(self._spent * growth)
        wanted = max(1, self._waiting, min(self._bucket.rate.batch_size, soon))
        try:
            taken = await self._bucket.take(wanted)
        finally:
            self._asking = None
        self.tokens += taken.tokens
        self._fetched, self._spent = taken.tokens, 0
        self.left, self.wait_s = taken.left, taken.wait_s
        self._taken_at_s = self._bucket.clock_s()


class RateLimiter:
    """The buckets of one kind, each beside the other things of its tenant in Redis."""

    def __init__(
        self, buckets: TokenBuckets, rate: RateLimit, clock_s: Callable[[], float]
    ) -> None:
        self._buckets = buckets
        self._clock_s = clock_s
        self._hands: WeakValueDictionary[tuple[str, str], LocalTokens] = WeakValueDictionary()
        self.rate = rate

    def local_tokens(self, home: str, name: str) -> LocalTokens:
        """The same one for the same bucket, while the caller or another one holds it."""
        hand = self._hands.get((home, name))
        if hand is None:
            bucket = _Bucket(self._buckets, home, name, self.rate, self._clock_s)
            hand = self._hands[home, name] = LocalTokens(bucket)
        return hand


class _Bucket:
    """One bucket in Redis, and the one that stands in for it while Redis is away."""

    def __init__(
        self,
        buckets: TokenBuckets,
        home: str,
        name: str,
        rate: RateLimit,
        clock_s: Callable[[], float],
    ) -> None:
        self._buckets = buckets
        self._home = home
        self._name = name
        self.rate = rate
        self.clock_s = clock_s
        self._own = float(rate.size)
        self._own_at_s = clock_s()

    async def take(self, wanted: int) -> TakenTokens:
        try:
            return await self._buckets.take_tokens(self._home, self._name, self.rate, wanted)
        except CacheUnavailable:
            return self._take_own(wanted)

    def _take_own(self, wanted: int) -> TakenTokens:
        now_s = self.clock_s()
        came = (now_s - self._own_at_s) * self.rate.per_s
        self._own, self._own_at_s = min(float(self.rate.size), self._own + came), now_s
        taken = min(wanted, int(self._own + _NEARLY))
        self._own -= taken
        wait_s = 0.0 if self._own >= 1 else (1 - self._own) / self.rate.per_s
        return TakenTokens(taken, int(self._own), wait_s)
