"""The nodes of a Redis Cluster: each call goes to the node that owns its key's slot.

A node answers MOVED if another one owns the slot, and ASK if the key may have been moved there
already. Both are followed. Why no answer is stale meanwhile is in `cache/protocol.py`.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import AskError, ClusterDownError, MovedError, ResponseError, TryAgainError

from cache.errors import CacheUnavailable
from cache.redis.node import Call, RedisNode
from common import background_tasks
from gateway.extensions.redis_cluster import slot_map
from gateway.extensions.redis_cluster.slot_map import Address, SlotMap

REDIRECTIONS_MAX = 2  # of one call: an old slot map, then a slot that is being moved
_REFRESH_PAUSE_S = 0.5  # between two readings of the slot map: a starting value, not measured


class ClusterNodes:
    """Reads the slot map from any node, at the start, after a redirection and after a failure.

    seeds: the nodes of the URL. new_node: connects to an address at its first call.
    """

    def __init__(self, seeds: Sequence[Address], new_node: Callable[[Address], RedisNode]) -> None:
        self._seeds = seeds
        self._new_node = new_node
        self._slots = SlotMap()
        self._nodes: dict[Address, RedisNode] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self._refresh_from_s = 0.0
        self._is_closed = False
        self._detail = "no node of the cluster has answered"

    async def run(self, key: str, call: Call) -> Any:
        """Make a call to the node that has the key, following redirections.

        Each redirected call has the whole budget again.
        """
        _, reply = await self._follow(key, call)
        return reply

    async def run_apart(self, key: str, call: Callable[[Redis], Awaitable[Any]]) -> Any:
        """Make a call with a long reply to the owner of the slot; a redirection is not followed."""
        owner = self._owner(key)
        try:
            return await self._node(owner).run_apart(call)
        except MovedError as error:
            self._note_move(error, owner)
            raise CacheUnavailable("another node owns the slot") from error
        except (AskError, TryAgainError, ClusterDownError) as error:
            raise CacheUnavailable("the slot is being moved, or is down") from error
        except CacheUnavailable:
            self._refresh_soon()
            raise

    def owner(self, key: str) -> RedisNode:
        """The node that owns the key's slot, as far as is known."""
        return self._node(self._owner(key))

    async def holder(self, key: str) -> RedisNode:
        """The node that answers for the key, following redirections."""
        address, _ = await self._follow(key, lambda send: send("EXISTS", key))
        return self._node(address)

    def slots(self) -> Mapping[RedisNode, int]:
        """The nodes that own slots, and how many; the seeds while none is known."""
        slots = self._slots.slots() or dict.fromkeys(self._seeds, 0)
        return {self._node(address): number for address, number in slots.items()}

    async def refresh(self) -> None:
        """Read the slot map from the first node that answers; keep the old one if none does."""
        known = list(self._slots.owners)
        random.shuffle(known)  # a node that is cut off from the others may tell an old map
        for address in dict.fromkeys((*known, *self._seeds)):
            try:
                reply = await self._node(address).run(lambda send: send("CLUSTER", "SLOTS"))
            except (CacheUnavailable, ResponseError) as error:
                refusal = error.__cause__  # such as that the server is no node of a cluster
                self._detail = f"{error}: {refusal}" if refusal else str(error)
                continue
            ranges = slot_map.parse_slots(reply, address)
            if ranges:
                self._slots = SlotMap(ranges)
                await self._close_others()
                return
            self._detail = f"no node owns a slot, according to {address}"

    async def aclose(self) -> None:
        """Close all nodes; calls in flight fail, and connect to no other node."""
        self._is_closed = True
        if self._refreshing is not None:
            await background_tasks.end(self._refreshing)
        for node in self._nodes.values():
            await node.aclose()

    async def _follow(self, key: str, call: Call) -> tuple[Address, Any]:
        address, is_asking = self._owner(key), False
        for _ in range(1 + REDIRECTIONS_MAX):
            try:
                return address, await self._node(address).run(call, asking=is_asking)
            except MovedError as error:
                address, is_asking = self._note_move(error, address), False
            except AskError as error:
                address, is_asking = _redirected_to(error, address), True
            except TryAgainError as error:
                raise CacheUnavailable("the slot is being moved") from error
            except ClusterDownError as error:
                self._refresh_soon()
                raise CacheUnavailable("no node owns the slot, or the cluster is down") from error
            except CacheUnavailable:
                self._refresh_soon()
                raise
        raise CacheUnavailable("the call was redirected too often")

    def _owner(self, key: str) -> Address:
        address = self._slots.owner(key)
        if address is None:
            self._refresh_soon()
            raise CacheUnavailable(f"the owner of the slot is unknown: {self._detail}")
        return address

    def _node(self, address: Address) -> RedisNode:
        if self._is_closed:
            raise CacheUnavailable("the connections to the cluster are closed")
        node = self._nodes.get(address)
        if node is None:
            node = self._nodes[address] = self._new_node(address)
        return node

    def _note_move(self, error: MovedError, asked: Address) -> Address:
        address = _redirected_to(error, asked)
        self._slots.move(error.slot_id, address)
        self._refresh_soon()  # other slots may have moved too
        return address

    def _refresh_soon(self) -> None:
        loop = asyncio.get_running_loop()
        is_due = self._refreshing is None and loop.time() >= self._refresh_from_s
        if is_due and not self._is_closed:
            self._refreshing = loop.create_task(self.refresh())
            self._refreshing.add_done_callback(self._end_refresh)

    def _end_refresh(self, _: "asyncio.Task[None]") -> None:
        self._refreshing = None
        self._refresh_from_s = asyncio.get_running_loop().time() + _REFRESH_PAUSE_S

    async def _close_others(self) -> None:
        """Close the nodes that own no slot; their calls in flight fail."""
        for address in self._nodes.keys() - self._slots.owners:
            await self._nodes.pop(address).aclose()


def _redirected_to(error: AskError, asked: Address) -> Address:
    address = slot_map.parse_host(error.host, error.port, asked)
    if address is None:
        raise CacheUnavailable("the cluster does not know the host of a node") from error
    return address
