"""Limits the failed requests of each client address by a token bucket in the worker's memory."""

from collections.abc import Callable

from cachetools import LRUCache

_ADDRESSES_MAX = 50_000  # about 10 MB; beyond it the least recently used bucket is dropped


class FailureLimiter:
    """per_s: tokens added a second; a bucket holds those of two seconds. 0: no limit."""

    def __init__(self, per_s: float, clock_s: Callable[[], float]) -> None:
        self._per_s = per_s
        self._size = max(1.0, 2 * per_s)
        self._clock_s = clock_s
        self._buckets: LRUCache[str, tuple[float, float]] = LRUCache(_ADDRESSES_MAX)

    def spend(self, address: str) -> float:
        """Spend a token of the address; the seconds until the next one, 0 if there was one."""
        if not self._per_s:
            return 0.0
        now_s = self._clock_s()
        tokens, at_s = self._buckets.get(address, (self._size, now_s))
        tokens = min(self._size, tokens + (now_s - at_s) * self._per_s)
        has_token = tokens >= 1
        self._buckets[address] = (tokens - has_token, now_s)
        return 0.0 if has_token else (1 - tokens) / self._per_s
