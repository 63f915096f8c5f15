"""Closing the nodes of a cluster while calls are in flight."""

import asyncio
from typing import Any, cast

import pytest
from redis.crc import REDIS_CLUSTER_HASH_SLOTS
from redis.exceptions import MovedError

from cache.errors import CacheUnavailable
from cache.redis.codec import Codec
from cache.redis.node import Call, RedisNode
from gateway.extensions.redis_cluster.cluster_nodes import ClusterNodes
from gateway.extensions.redis_cluster.slot_map import Address

pytestmark = pytest.mark.anyio

_OWNER = Address("10.0.0.1", 6379)
_KEY = f"test:{Codec(lifetime_s=1).format}{{acme}}:a"


class SlowlyClosed:
    """Owns all slots; its second call ends while it is being closed, with a redirection."""

    def __init__(self) -> None:
        self.calls = 0
        self.is_closing = asyncio.Event()

    async def run(self, _: Call, **_options: bool) -> Any:
        self.calls += 1
        if self.calls == 1:
            return [[0, REDIS_CLUSTER_HASH_SLOTS - 1, [b"10.0.0.1", 6379]]]
        await self.is_closing.wait()
        raise MovedError("5 10.0.0.2:6379")

    async def aclose(self) -> None:
        self.is_closing.set()
        for _ in range(5):  # meanwhile the call in flight learns of the other node
            await asyncio.sleep(0)


async def test_a_call_that_is_redirected_while_the_nodes_close_connects_to_none() -> None:
    opened: dict[Address, SlowlyClosed] = {}

    def new_node(address: Address) -> RedisNode:
        node = opened[address] = SlowlyClosed()
        return cast("RedisNode", node)

    nodes = ClusterNodes([_OWNER], new_node)
    await nodes.refresh()
    in_flight = asyncio.create_task(nodes.run(_KEY, lambda send: send("GET", _KEY)))
    await asyncio.sleep(0)

    await nodes.aclose()

    with pytest.raises(CacheUnavailable, match="closed"):
        await in_flight
    assert list(opened) == [_OWNER]
