"""What an operator has to know of servers that answer; none of it makes an answer wrong or stale.

Gateways and workers log it when they start; `nearhit status` and `nearhit config check --connect`
show it.
"""

from collections.abc import Iterator, Sequence

import structlog

from cache.redis.node_status import NodeStatus
from cache.redis.store import RedisStore
from index.postgres.database import Database
from index.postgres.setup.database_problem import DatabaseProblem

log = structlog.get_logger()


async def log_all(database: Database, store: RedisStore) -> None:
    for detail in of_postgres(database.problems):
        log.warning("database", detail=detail)
    for status in await store.node_statuses():
        for detail in of_redis(status):
            log.warning("redis", node=status.node, policy=status.eviction_policy, detail=detail)


def of_postgres(problems: Sequence[DatabaseProblem]) -> Iterator[str]:
    for text, remedy in problems:
        yield f"{text}; an administrator runs {remedy}" if remedy else text


def of_redis(status: NodeStatus) -> Iterator[str]:
    if status.eviction_policy == "noeviction":
        yield "once Redis is full, no answer is stored: set maxmemory-policy volatile-lru"
    elif status.eviction_policy.startswith("allkeys"):
        yield "Redis may evict a tenant's state before its answers: set volatile-lru"
