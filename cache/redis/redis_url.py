"""Opens the Redis that a URL names, by its scheme.

redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]     one server; rediss:// with TLS
unix://[USER[:PASSWORD]@]PATH[?db=DATABASE]          one server, by its socket

An extension may bring other schemes.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from cache.redis.node import RedisNode, SingleNode
from cache.redis.store import RedisNodes
from common.circuit_breaker import CircuitBreaker

CONNECTIONS_MAX = 32  # of a worker to one node; a starting value, not measured
_NOT_VALID = "it is no valid URL; write special characters of a password as %XX"

# Makes a node of its name in error messages and the URL of one server. Raises `ValueError`.
NewNode: TypeAlias = Callable[[str, str], RedisNode]


@dataclass(frozen=True, slots=True)
class NodesKind:
    """What opens the Redis of URLs with these schemes, which need not be reachable.

    open: gets the URL. Raises `ValueError` for another form; its text repeats no part of the URL.
    missing: why it can't be used; empty: it can.
    """

    schemes: tuple[str, ...]
    open: Callable[[str, NewNode], AbstractAsyncContextManager[RedisNodes]]
    missing: str = ""


@asynccontextmanager
async def open_nodes(
    url: str,
    kinds: Mapping[str, NodesKind],
    new_breaker: Callable[[], CircuitBreaker],
    *,
    budget_s: float,
    on_refusal: Callable[[str], None] = lambda _text: None,
) -> AsyncIterator[RedisNodes]:
    """The nodes of a Redis, which need not be reachable.

    kinds: by scheme. new_breaker: for each node one. budget_s: of each call. on_refusal: see
    `RedisNode`. Raises `ValueError` for a URL of another form; no message repeats a part of it.
    """
    kind = kinds.get(scheme_of(url))
    if kind is None:
        schemes = ", ".join(f"{scheme}://" for scheme in kinds)
        raise ValueError(f"it must start with one of {schemes}")
    if kind.missing:
        raise ValueError(f"its scheme {kind.missing}")

    def new_node(name: str, node_url: str) -> RedisNode:
        return RedisNode(
            name, _client(node_url), new_breaker(), budget_s=budget_s, on_refusal=on_refusal
        )

    async with kind.open(url, new_node) as nodes:
        yield nodes


def scheme_of(url: str) -> str:
    return url.partition("://")[0].lower()


@asynccontextmanager
async def _open_server(url: str, new_node: NewNode) -> AsyncIterator[SingleNode]:
    node = new_node("Redis", url)
    try:
        yield SingleNode(node)
    finally:
        await node.aclose()


def _client(url: str) -> Redis:
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS_MAX,
            retry=Retry(NoBackoff(), 1),  # once, for a connection that the server has closed
            # Else each new connection reads the package's version from disk, on the event loop.
            driver_info=DriverInfo(name=None, lib_version=None),
        )
    except ValueError:  # its text may repeat a part of the password
        raise ValueError(_NOT_VALID) from None
    return Redis.from_pool(pool)


ONE_SERVER = dict.fromkeys(
    ("redis", "rediss", "unix"), NodesKind(("redis", "rediss", "unix"), _open_server)
)
