"""Query vectors: kept for all workers, and never taken for what they are not."""

import pytest
from redis.asyncio import Redis

from cache.embedding_cache import EmbeddingCache
from cache.redis.store import RedisStore
from gateway.caching.model_caches import ModelCaches

pytestmark = [pytest.mark.anyio, pytest.mark.redis]


class Process:
    def __init__(self, store: RedisStore) -> None:
        self.events: list[str] = []
        self.now_s = 0.0
        self.vectors = EmbeddingCache(
            store, self.count, size_bytes_max=10_000, lifetime_s=60.0, clock_s=lambda: self.now_s
        )

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


async def test_a_vector_ends_with_its_lifetime_here_and_in_redis(
    store: RedisStore, redis: Redis
) -> None:
    process = Process(store)
    await process.vectors.put("acme", "key", b"vector")
    assert 50_000 < await redis.pttl(store.name("acme", "vector:key")) <= 60_000
    assert process.vectors.size()[0] == 1

    process.now_s = 61.0

    await redis.delete(store.name("acme", "vector:key"))
    assert await process.vectors.get("acme", "key") is None
    assert process.vectors.size() == (0, 0)


async def test_what_the_operator_clears_is_gone_from_redis_and_from_every_process(
    store: RedisStore, redis: Redis
) -> None:
    def process() -> ModelCaches:
        return ModelCaches(store, lambda _event: None, size_bytes_max=10_000, lifetime_s=60.0)

    one, other, operator = process(), process(), process()
    for tenant in ("acme", "beta"):
        await one.vectors.put(tenant, "key", b"vector")
        await one.rewrites.put(tenant, "key", b"question")
    await store.set("acme", "answer", b"stays")
    await other.vectors.get("acme", "key")

    await operator.clear()
    assert await redis.keys(store.name("*", "vector:*")) == []
    await one.follow()
    await other.follow()

    for each in (one, other):
        assert each.sizes() == {"vector": (0, 0), "rewrite": (0, 0)}
        assert await each.vectors.get("acme", "key") is None
        assert await each.rewrites.get("beta", "key") is None
    assert await store.get("acme", "answer") == b"stays"
    await one.vectors.put("acme", "key", b"new")
    assert await other.vectors.get("acme", "key") == b"new"


async def test_no_more_bytes_are_remembered_than_there_may_be(store: RedisStore) -> None:
    process = Process(store)
    for number in range(100):
        await process.vectors.put("acme", f"{number}", b"v" * 800)

    entries, size_bytes = process.vectors.size()

    assert (entries, size_bytes) == (10, 10_000)
    assert await process.vectors.get("acme", "0") == b"v" * 800  # Redis has it
    assert process.events == ["vector_redis"]
