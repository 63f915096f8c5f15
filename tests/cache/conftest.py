import secrets
from collections.abc import AsyncIterator, Callable

import pytest
from redis.asyncio import Redis

from cache.redis.store import RedisStore
from gateway.extensions.embedded_servers.owned_servers import Servers
from tests.cache.support.single_store import store_on
from tests.cache.support.worker import CacheWorker, FakeChangeLog


@pytest.fixture
async def redis(servers: Servers) -> AsyncIterator[Redis]:
    async with Redis.from_url(servers.redis_url) as client:
        yield client


@pytest.fixture
def new_store(redis: Redis) -> Callable[..., RedisStore]:
    prefix = f"nearhit-test-{secrets.token_hex(6)}:"

    def new(*, entries_max: int = 1_000, page_entries: int = 100) -> RedisStore:
        return store_on(redis, prefix=prefix, entries_max=entries_max, page_entries=page_entries)

    return new


@pytest.fixture
def store(new_store: Callable[..., RedisStore]) -> RedisStore:
    return new_store()


@pytest.fixture
def truth() -> FakeChangeLog:
    return FakeChangeLog(acme=3, public=7)


@pytest.fixture
def new_worker(store: RedisStore, truth: FakeChangeLog) -> Callable[[], CacheWorker]:
    return lambda: CacheWorker(store, truth)
