"""What an operator has to know of servers that answer; none of it makes an answer wrong or stale.

Gateways and workers log it when they start; `nearhit status` and `nearhit config check --connect`
show it.
"""

from collections.abc import Iterator, Sequence

import structlog

from cache.redis.node_status import NodeStatus
from cache.redis.store import RedisStore
from index.postgres.database import Database
from index.postgres.functions.function_roles import Connection
from index.postgres.setup import server_state

log = structlog.get_logger()


async def log_all(database: Database, store: RedisStore) -> None:
    """Raises `DatabaseUnavailable`."""
    async with database.session() as session:
        found = await of_postgres(session.connection)
    for detail in found:
        log.warning("database", detail=detail)
    for status in await store.node_statuses():
        for detail in of_redis(status):
            log.warning("redis", node=status.node, policy=status.eviction_policy, detail=detail)


async def of_postgres(connection: Connection) -> Sequence[str]:
    return [
        f"{text}; an administrator runs {remedy}" if remedy else text
        for text, remedy in await server_state.problems(connection)
    ]


def of_redis(status: NodeStatus) -> Iterator[str]:
    if status.eviction_policy == "noeviction":
        yield "once Redis is full, no answer is stored: set maxmemory-policy volatile-lru"
    elif status.eviction_policy.startswith("allkeys"):
        yield "Redis may evict a tenant's state before its answers: set volatile-lru"
