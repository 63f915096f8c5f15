"""A store on one server."""

import time
from typing import Any

from redis.asyncio import Redis

from cache.redis.node import RedisNode, SingleNode
from cache.redis.store import RedisStore
from common.circuit_breaker import REDIS, CircuitBreaker


def store_on(
    client: Redis,
    breaker: CircuitBreaker | None = None,
    *,
    prefix: str = "test:",
    budget_s: float = 5.0,
    entries_max: int = 100,
    **options: Any,
) -> RedisStore:
    breaker = breaker or CircuitBreaker(time.monotonic, REDIS)
    node = SingleNode(RedisNode("Redis", client, breaker, budget_s=budget_s))
    return RedisStore(node, prefix=prefix, lifetime_s=60.0, entries_max=entries_max, **options)
