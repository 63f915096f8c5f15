import secrets
import time
from collections.abc import AsyncIterator, Callable

import pytest
from redis.asyncio import Redis

from cache.breaker import Breaker
from cache.store import Store
from gateway.embedded import Servers
from tests.cache.worker import Worker


@pytest.fixture
async def redis(servers: Servers) -> AsyncIterator[Redis]:
    async with Redis.from_url(servers.redis_url) as client:
        yield client


@pytest.fixture
def store(redis: Redis) -> Store:
    prefix = f"nearhit-test-{secrets.token_hex(6)}:"
    return Store(redis, Breaker(time.monotonic), prefix=prefix, budget_s=5.0, lifetime_s=60.0)


@pytest.fixture
def new_worker(store: Store) -> Callable[[], Worker]:
    return lambda: Worker(store)
