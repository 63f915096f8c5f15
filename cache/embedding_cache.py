"""Caches model outputs for texts, in this process and in Redis.

An output never changes for the same key, so nothing is invalidated.
"""

import hashlib
import time
from collections.abc import Callable

from cache.errors import CacheUnavailable
from cache.redis.store import RedisStore
from common.shares.cache import FairCache

_STAMP_BYTES = 8
_OVERHEAD_BYTES = 200  # of a value in memory, beside its bytes; measured with sys.getsizeof


class EmbeddingCache:
    """`count` receives vector_memory, vector_redis, vector_miss, and away if Redis is unavailable.

    size_bytes_max: in this process; the least recently used of the tenant with the most give way.
    lifetime_s: of an output, here and in Redis.
    kind: replaces `vector` in the Redis keys and the counted events.
    """

    def __init__(
        self,
        store: RedisStore,
        count: Callable[[str], None],
        *,
        size_bytes_max: int,
        lifetime_s: float,
        kind: str = "vector",
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kind = kind
        self._epoch = ""
        self._lifetime_s = lifetime_s
        self._store = store
        self._count = count
        self._clock_s = clock_s
        self._memory: FairCache[tuple[str, str], tuple[float, bytes]] = FairCache(
            size_bytes_max, lambda dated: len(dated[1]) + _OVERHEAD_BYTES
        )

    def begin(self, epoch: str) -> None:
        """Forget all outputs; those in Redis count only if they were stored in this epoch."""
        self._epoch = epoch
        self._memory.clear()

    def size(self) -> tuple[int, int]:
        """The number of outputs in this process, and their bytes; also of those that have ended."""
        return len(self._memory), self._memory.size

    async def get(self, tenant: str, key: str) -> bytes | None:
        """The tenant's vector under this key, or None."""
        vector = self._remembered(tenant, key)
        if vector is not None:
            self._count(f"{self._kind}_memory")
            return vector
        try:
            vector = _strip_stamp(await self._store.get(tenant, self._name(key)))
        except CacheUnavailable:
            self._count("unavailable")
        if vector is None:
            self._count(f"{self._kind}_miss")
            return None
        self._count(f"{self._kind}_redis")
        self._remember(tenant, key, vector)
        return vector

    async def put(self, tenant: str, key: str, vector: bytes) -> None:
        self._remember(tenant, key, vector)
        try:
            stored = _stamp(vector) + vector
            await self._store.set(tenant, self._name(key), stored, lifetime_s=self._lifetime_s)
        except CacheUnavailable:
            self._count("unavailable")

    def _name(self, key: str) -> str:
        """The name in Redis."""
        return f"{self._kind}:{self._epoch}:{key}" if self._epoch else f"{self._kind}:{key}"

    def _remember(self, tenant: str, key: str, vector: bytes) -> None:
        ends_s = self._clock_s() + self._lifetime_s
        self._memory.put(tenant, (tenant, key), (ends_s, vector))

    def _remembered(self, tenant: str, key: str) -> bytes | None:
        ends_s, vector = self._memory.get((tenant, key)) or (0.0, None)
        if vector is not None and ends_s <= self._clock_s():
            self._memory.pop((tenant, key))
            return None
        return vector


def _strip_stamp(raw: bytes | None) -> bytes | None:
    """None if the bytes are absent, truncated or altered."""
    if raw is None:
        return None
    stamp, vector = raw[:_STAMP_BYTES], raw[_STAMP_BYTES:]
    return vector if stamp == _stamp(vector) else None


def _stamp(vector: bytes) -> bytes:
    return hashlib.blake2b(vector, digest_size=_STAMP_BYTES).digest()
