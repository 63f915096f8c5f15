"""Opens the Redis that a URL names: one server, or a cluster by some of its nodes.

redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]     one server; rediss:// with TLS
unix://[USER[:PASSWORD]@]PATH[?db=DATABASE]          one server, by its socket
redis+cluster://[USER[:PASSWORD]@]HOST[:PORT],…      a cluster; rediss+cluster:// with TLS
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from cache.redis.cluster_nodes import ClusterNodes
from cache.redis.node import RedisNode, SingleNode
from cache.redis.slot_map import Address
from common.circuit_breaker import CircuitBreaker

CONNECTIONS_MAX = 32  # of a worker to one node; a starting value, not measured
_PORT = 6379
_CLUSTER = "+cluster"
_SCHEMES = ("redis", "rediss", "unix", f"redis{_CLUSTER}", f"rediss{_CLUSTER}")


@dataclass(frozen=True, slots=True)
class ClusterUrl:
    """scheme: of one node's URL. credentials: USER:PASSWORD@, or empty. query: with its `?`."""

    scheme: str
    credentials: str
    seeds: tuple[Address, ...]
    query: str

    def node_url(self, address: Address) -> str:
        return f"{self.scheme}://{self.credentials}{address}{self.query}"


@asynccontextmanager
async def open_nodes(
    url: str,
    new_breaker: Callable[[], CircuitBreaker],
    *,
    budget_s: float,
    on_refusal: Callable[[str], None] = lambda _text: None,
) -> AsyncIterator[ClusterNodes | SingleNode]:
    """The nodes of a Redis, which need not be reachable.

    new_breaker: for each node one. budget_s: of each call. on_refusal: see `RedisNode`.
    Raises `ValueError` for a URL of another form; no message repeats a part of the URL.
    """
    cluster = parse_cluster_url(url)
    if cluster is None:
        node = RedisNode(
            "Redis", _client(url), new_breaker(), budget_s=budget_s, on_refusal=on_refusal
        )
        try:
            yield SingleNode(node)
        finally:
            await node.aclose()
        return

    def new_node(address: Address) -> RedisNode:
        client = _client(cluster.node_url(address))
        return RedisNode(
            f"Redis {address}", client, new_breaker(), budget_s=budget_s, on_refusal=on_refusal
        )

    _client(cluster.node_url(cluster.seeds[0]))  # whether its options are valid
    nodes = ClusterNodes(cluster.seeds, new_node)
    try:
        await nodes.refresh()
        yield nodes
    finally:
        await nodes.aclose()


def parse_cluster_url(url: str) -> ClusterUrl | None:
    """The parts of a cluster's URL; None if the URL is of one server. Raises `ValueError`."""
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    if scheme not in _SCHEMES:
        schemes = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise ValueError(f"it must start with one of {schemes}")
    if not scheme.endswith(_CLUSTER):
        return None
    # `urlsplit` knows of one host: behind another one it refuses an IPv6 address.
    nodes, path, query = _PARTS.fullmatch(rest).groups("")  # type: ignore[union-attr]  # any text
    if path not in ("", "/") or "db" in parse_qs(query):
        raise ValueError("a cluster has no numbered databases: name none in its URL")
    credentials, at, hosts = nodes.rpartition("@")
    if "@" in credentials:
        raise ValueError("write USER:PASSWORD@ once, before the first node, and @ in it as %40")
    return ClusterUrl(
        scheme.removesuffix(_CLUSTER),
        credentials + at,
        tuple(map(_parse_address, hosts.split(","))),
        f"?{query}" if query else "",
    )


_PARTS = re.compile(r"([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)
_NOT_VALID = "it is no valid URL; write special characters of a password as %XX"


def _parse_address(text: str) -> Address:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise ValueError(
            "a cluster is named by HOST or HOST:PORT of some nodes, with commas between them"
        )
    return Address(host, _PORT if port is None else port)


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
