"""The cached outputs of models for questions: vectors of remote embedders, and rewritten questions.

An output is never wrong, so nothing invalidates it. The operator ends all of them by a new epoch,
which is part of their keys; each process adopts it at its next look.
"""

import secrets
from collections.abc import Callable

from cache.embedding_cache import EmbeddingCache
from cache.errors import CacheUnavailable
from cache.redis.store import RedisStore
from index.model.scope import PUBLIC

_EPOCH = "model-cache-epoch"  # kept with what belongs to no tenant
KINDS = ("vector", "rewrite")


class ModelCaches:
    """size_bytes_max: in this process, of each of the two. lifetime_s: here and in Redis."""

    def __init__(
        self,
        store: RedisStore,
        count: Callable[[str], None],
        *,
        size_bytes_max: int,
        lifetime_s: float,
    ) -> None:
        self._store = store
        self._epoch = ""
        self.vectors, self.rewrites = (
            EmbeddingCache(
                store, count, size_bytes_max=size_bytes_max, lifetime_s=lifetime_s, kind=kind
            )
            for kind in KINDS
        )

    async def clear(self) -> None:
        """End all outputs in Redis now, and in each process at its next `follow`.

        Raises `CacheUnavailable`.
        """
        for kind in KINDS:
            await self._store.drop_everywhere(f"{kind}:*")
        await self._store.set(PUBLIC, _EPOCH, secrets.token_hex(8).encode())
        await self.follow()

    async def follow(self) -> None:
        """Forget the outputs in this process if they have been cleared since the last call."""
        try:
            epoch = (await self._store.get(PUBLIC, _EPOCH) or b"").decode(errors="replace")
        except CacheUnavailable:
            return
        if epoch != self._epoch:
            self._epoch = epoch
            for cache in (self.vectors, self.rewrites):
                cache.begin(epoch)

    def sizes(self) -> dict[str, tuple[int, int]]:
        """By kind, the number of outputs in this process and their bytes."""
        return dict(zip(KINDS, (self.vectors.size(), self.rewrites.size()), strict=True))
