"""Opens the cache in Redis, and says what keeps it from working."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import structlog
from pydantic import SecretStr

from cache.redis import redis_url
from cache.redis.codec import Sealer
from cache.redis.node_status import NodeStatus
from cache.redis.redis_url import NodesKind
from cache.redis.store import RedisStore
from common import circuit_breaker
from common.circuit_breaker import CircuitBreaker
from common.command_errors import CommandError
from gateway.monitoring.bounded_log import BoundedLog
from gateway.settings.found_extensions import rows
from gateway.settings.settings import Settings

LIFETIME_S = 86_400.0  # of an answer; it bounds memory, not staleness
_UNREADABLE = "another key of NEARHIT_CACHE_KEYS, or somebody else, has written to Redis"

log = structlog.get_logger()


@asynccontextmanager
async def open_redis(
    settings: Settings, count: Callable[[str], None] = lambda _event: None
) -> AsyncIterator[RedisStore]:
    """The store in Redis, which need not be reachable.

    count: receives unreadable, for each value that is altered or that no key opens.
    Raises `CommandError` for a wrong URL.
    """
    assert settings.redis_url is not None, "the command sets it when it starts its own server"
    unreadable = BoundedLog("redis", time.monotonic, state="unreadable", detail=_UNREADABLE)
    refused = BoundedLog("redis", time.monotonic, state="refused")

    def on_unreadable() -> None:
        count("unreadable")
        unreadable.warn()

    url, kinds = settings.redis_url.get_secret_value(), redis_url.ONE_SERVER
    if redis_url.scheme_of(url) not in kinds:
        off = settings.extensions_off
        kinds = rows(off, "redis_nodes", NodesKind, lambda each: each.schemes, kinds)
    opening = redis_url.open_nodes(
        url,
        kinds,
        lambda: CircuitBreaker(time.monotonic, circuit_breaker.REDIS),
        budget_s=settings.redis_timeout_s,
        on_refusal=lambda text: refused.warn(detail=text),
    )
    async with AsyncExitStack() as stack:
        try:
            nodes = await stack.enter_async_context(opening)
        except ValueError as error:
            raise CommandError(f"NEARHIT_REDIS_URL: {error}") from None
        yield RedisStore(
            nodes,
            prefix=settings.cache_prefix,
            lifetime_s=LIFETIME_S,
            entries_max=settings.redis_entries_max,
            sealer=_sealer(settings.cache_keys),
            on_unreadable=on_unreadable,
        )


async def require_permissions(store: RedisStore) -> Sequence[NodeStatus]:
    """The status of each node.

    Raises `CommandError` if its user may not run what the cache needs: no answer would be stored,
    and waiting does not help. A Redis that does not answer is no error.
    """
    statuses = await store.node_statuses()
    for status in statuses:
        if status.missing_rules:
            raise CommandError(f"{status.node}: {status.failure}")
    return statuses


def log_failures(statuses: Sequence[NodeStatus]) -> None:
    for status in statuses:
        if status.failure:
            log.warning("redis", state="unavailable", detail=status.failure)


def _sealer(keys: SecretStr | None) -> Sealer | None:
    if keys is None:
        return None
    from cache.redis import sealing  # which loads the ciphers

    return sealing.SealingKeys(sealing.parse_keys(keys.get_secret_value()))
