"""Query vectors: kept for all workers, and never taken for what they are not."""

import pytest
from redis.asyncio import Redis

from cache.embedding_cache import EmbeddingCache
from cache.redis.store import RedisStore

pytestmark = [pytest.mark.anyio, pytest.mark.redis]


class Process:
    def __init__(self, store: RedisStore) -> None:
        self.events: list[str] = []
        self.vectors = EmbeddingCache(store, self.count, size_bytes_max=10_000)

    def count(self, event: str, amount: int = 1) -> None:
        self.events += [event] * amount


async def test_a_vector_is_kept_for_every_process(store: RedisStore) -> None:
    one, other = Process(store), Process(store)

    await one.vectors.put("acme", "key", b"vector")

    assert await one.vectors.get("acme", "key") == b"vector"
    assert [await other.vectors.get("acme", "key") for _ in range(2)] == [b"vector"] * 2
    assert one.events == ["vector_memory"]
    assert other.events == ["vector_redis", "vector_memory"]


async def test_another_tenants_vector_is_none_of_ours(store: RedisStore) -> None:
    process = Process(store)
    await process.vectors.put("acme", "key", b"vector")

    assert await process.vectors.get("beta", "key") is None
    assert process.events == ["vector_miss"]


@pytest.mark.parametrize("poison", [b"", b"short", b"12345678vector"])
async def test_a_poisoned_vector_is_none(store: RedisStore, redis: Redis, poison: bytes) -> None:
    await Process(store).vectors.put("acme", "key", b"vector")
    await redis.set(store.name("acme", "vector:key"), poison)

    assert await Process(store).vectors.get("acme", "key") is None
