"""Opens the Redis Cluster that a URL names by some of its nodes.

redis+cluster://[USER[:PASSWORD]@]HOST[:PORT],…      a cluster; rediss+cluster:// with TLS
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from cache.redis.redis_url import NewNode, NodesKind
from gateway.extensions.redis_cluster.cluster_nodes import ClusterNodes
from gateway.extensions.redis_cluster.slot_map import Address

_PORT = 6379
_CLUSTER = "+cluster"
_PARTS = re.compile(r"([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ClusterUrl:
    """scheme: of one node's URL. credentials: USER:PASSWORD@, or empty. query: with its `?`."""

    scheme: str
    credentials: str
    seeds: tuple[Address, ...]
    query: str

    def node_url(self, address: Address) -> str:
        return f"{self.scheme}://{self.credentials}{address}{self.query}"


def parse_cluster_url(url: str) -> ClusterUrl:
    """Raises `ValueError`, whose text repeats no part of the URL."""
    scheme, _, rest = url.partition("://")
    # `urlsplit` knows of one host: behind another one it refuses an IPv6 address.
    nodes, path, query = _PARTS.fullmatch(rest).groups("")  # type: ignore[union-attr]  # any text
    if path not in ("", "/") or "db" in parse_qs(query):
        raise ValueError("a cluster has no numbered databases: name none in its URL")
    credentials, at, hosts = nodes.rpartition("@")
    if "@" in credentials:
        raise ValueError("write USER:PASSWORD@ once, before the first node, and @ in it as %40")
    return ClusterUrl(
        scheme.lower().removesuffix(_CLUSTER),
        credentials + at,
        tuple(map(_parse_address, hosts.split(","))),
        f"?{query}" if query else "",
    )


@asynccontextmanager
async def _open(url: str, new_node: NewNode) -> AsyncIterator[ClusterNodes]:
    cluster = parse_cluster_url(url)
    new_node("", cluster.node_url(cluster.seeds[0]))  # whether its options are valid
    nodes = ClusterNodes(
        cluster.seeds, lambda address: new_node(f"Redis {address}", cluster.node_url(address))
    )
    try:
        await nodes.refresh()
        yield nodes
    finally:
        await nodes.aclose()


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


REDIS_NODES = (NodesKind((f"redis{_CLUSTER}", f"rediss{_CLUSTER}"), _open),)
