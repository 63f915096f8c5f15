"""Rate limits: token buckets, shared by all workers while Redis is available.

A worker prefetches tokens from a bucket, about as many as it spent in the last half second, so a
request waits for Redis only if requests are rare. No token is spent twice; tokens that are unspent
for a second are discarded.

While Redis is unavailable each worker uses a local bucket: the workers together then allow more, by
their number, and no request is refused because Redis is missing. A bucket that somebody refills in
Redis lets through no more than that. All uses of one bucket in a worker go through one
`LocalTokens`, so that the worker has one local bucket too.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from cache.errors import CacheUnavailable

HANDFUL_S = 0.1  # the duration of one batch at the full rate: a starting value, not measured
_AHEAD_S = 0.5  # of spending, for which a worker prefetches
_UNSPENT_S_MAX = 1.0
_GROWTH_MAX = (
    2.0  # prefetched tokens per token spent: bounds the effect of two simultaneous requests
)
_NEARLY = 1e-6  # fractions of a token may add up to slightly less than one


@dataclass(frozen=True, slots=True)
class RateLimit:
    """per_s: tokens added a second; size: tokens that a bucket holds."""

    per_s: float
    size: int

    @property
    def batch_size(self) -> int:
        return max(1, min(self.size // 10, math.ceil(self.per_s * HANDFUL_S)))


@dataclass(frozen=True, slots=True)
class TakenTokens:
    """How many tokens were taken, how many are left, and the seconds until one is available."""

    tokens: int
    left: int
    wait_s: float


class TokenBuckets(Protocol):
    async def take_tokens(
        self, tenant: str, name: str, rate: RateLimit, count: int, /
    ) -> TakenTokens:
        """Raises `CacheUnavailable`."""


class LocalTokens:
    """A worker's prefetched tokens of one bucket.

    left: tokens in the bucket at the last fetch; wait_s: until one is available, 0 if one is.
    """

    __slots__ = (
        "__weakref__", "_bucket", "_fetched", "_fetching", "_spent", "_taken_at_s", "_waiting",
        "left", "tokens", "wait_s",
    )  # fmt: skip

    def __init__(self, bucket: "_Bucket") -> None:
        self._bucket = bucket
        self._fetching: asyncio.Task[None] | None = None
        self._taken_at_s = -math.inf
        self._fetched = self._spent = self._waiting = 0
        self.tokens = 0
        self.left = bucket.rate.size
        self.wait_s = 0.0

    @property
    def has_token(self) -> bool:
        """Whether a prefetched token can be spent now."""
        return self.tokens > 0 and self._bucket.clock_s() - self._taken_at_s <= _UNSPENT_S_MAX

    def spend(self) -> bool:
        """Spend a prefetched token; False if there is none."""
        if not self.has_token:
            return False
        self.tokens -= 1
        self._spent += 1
        if 2 * self.tokens < self._fetched > 1 and self._fetching is None:
            self._start_fetch()  # before the last token is spent
        return True

    def unspend(self) -> None:
        """Put back a token that was spent for nothing."""
        self.tokens += 1
        self._spent -= 1

    async def wait(self) -> bool:
        """Fetch and spend a token; False if the bucket has none."""
        self._waiting += 1
        try:
            while True:
                await asyncio.shield(self._fetching or self._start_fetch())
                if self.spend():
                    return True
                if self.wait_s > 0:
                    return False
        finally:
            self._waiting -= 1

    def _start_fetch(self) -> asyncio.Task[None]:
        self._fetching = asyncio.create_task(self._fetch())
        return self._fetching

    async def _fetch(self) -> None:
        """Fetch as many tokens as will be spent soon, at least one."""
        elapsed_s = self._bucket.clock_s() - self._taken_at_s
        if elapsed_s > _UNSPENT_S_MAX:
            self.tokens = 0
        growth = min(_GROWTH_MAX, _AHEAD_S / max(elapsed_s, _NEARLY))
        expected = math.ceil(self._spent * growth)
        count = max(1, self._waiting, min(self._bucket.rate.batch_size, expected))
        try:
            batch = await self._bucket.take(count)
        finally:
            self._fetching = None
        self.tokens += batch.tokens
        self._fetched, self._spent = batch.tokens, 0
        self.left, self.wait_s = batch.left, batch.wait_s
        self._taken_at_s = self._bucket.clock_s()


class RateLimiter:
    """The buckets of one rate limit; each is stored under its tenant's hash tag in Redis."""

    def __init__(
        self, buckets: TokenBuckets, rate: RateLimit, clock_s: Callable[[], float]
    ) -> None:
        self._buckets = buckets
        self._clock_s = clock_s
        self._tokens: WeakValueDictionary[tuple[str, str], LocalTokens] = WeakValueDictionary()
        self.rate = rate

    def local_tokens(self, tenant: str, name: str) -> LocalTokens:
        """The bucket's `LocalTokens`, the same object while any caller holds it."""
        tokens = self._tokens.get((tenant, name))
        if tokens is None:
            bucket = _Bucket(self._buckets, tenant, name, self.rate, self._clock_s)
            tokens = self._tokens[tenant, name] = LocalTokens(bucket)
        return tokens


class _Bucket:
    """One bucket in Redis, and the local one that replaces it while Redis is unavailable.

    Each token is taken from both: whatever Redis says, a worker alone keeps to the rate.
    """

    def __init__(
        self,
        buckets: TokenBuckets,
        tenant: str,
        name: str,
        rate: RateLimit,
        clock_s: Callable[[], float],
    ) -> None:
        self._buckets = buckets
        self._tenant = tenant
        self._name = name
        self.rate = rate
        self.clock_s = clock_s
        self._local_tokens = float(rate.size)
        self._local_at_s = clock_s()

    async def take(self, count: int) -> TakenTokens:
        try:
            taken = await self._buckets.take_tokens(self._tenant, self._name, self.rate, count)
        except CacheUnavailable:
            return self._take_locally(count)
        local = self._take_locally(taken.tokens)
        return taken if local.tokens == taken.tokens else local

    def _take_locally(self, count: int) -> TakenTokens:
        now_s = self.clock_s()
        added = (now_s - self._local_at_s) * self.rate.per_s
        self._local_tokens, self._local_at_s = (
            min(float(self.rate.size), self._local_tokens + added),
            now_s,
        )
        tokens = min(count, int(self._local_tokens + _NEARLY))
        self._local_tokens -= tokens
        wait_s = 0.0 if self._local_tokens >= 1 else (1 - self._local_tokens) / self.rate.per_s
        return TakenTokens(tokens, int(self._local_tokens), wait_s)
