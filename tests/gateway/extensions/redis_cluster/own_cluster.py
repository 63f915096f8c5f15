"""A Redis Cluster of a test's own: its nodes are killed, stopped and promoted, its slots moved.

It runs the machine's own Redis if there is one, else the Valkey of the wheel.
"""

import asyncio
import shutil
import signal
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import quote

from redis.asyncio import Redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import ResponseError

from cache.redis import redis_url
from cache.redis.store import RedisStore
from common.circuit_breaker import REDIS, CircuitBreaker
from gateway.extensions.redis_cluster.redis_nodes import REDIS_NODES
from loadtests.servers.ports import free_port
from tests.cache.support.own_server import has_begun, until, valkey

BUS_PORT_OFFSET = 10_000
KINDS = {scheme: kind for kind in REDIS_NODES for scheme in kind.schemes}


class ClusterNode:
    """A process of the cluster; client: of the test's own, which follows no redirection."""

    def __init__(self, port: int, process: Process, client: Redis) -> None:
        self.port = port
        self.client = client
        self.process = process
        self.is_running = True

    async def tell(self, *words: str | int | bytes) -> Any:
        return await self.client.execute_command(*words)  # type: ignore[no-untyped-call]

    async def id(self) -> str:
        return str((await self.tell("CLUSTER", "MYID")).decode())

    async def role(self) -> str:
        return str((await self.tell("ROLE"))[0].decode())

    async def kill(self) -> None:
        if self.is_running:
            self.is_running = False
            self.process.kill()
            await self.process.wait()

    def hang(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


class OwnCluster:
    """Three masters, each with a third of the slots, and a replica of the first unless spared."""

    def __init__(
        self, masters: list[ClusterNode], replica: ClusterNode | None, password: str
    ) -> None:
        self.masters = masters
        self.replica = replica
        self.password = password

    @property
    def url(self) -> str:
        """Names two of the nodes; the third is found."""
        credentials = f":{quote(self.password, safe='')}@" if self.password else ""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.masters[:2])
        return f"redis+cluster://{credentials}{hosts}"

    @property
    def nodes(self) -> list[ClusterNode]:
        return [*self.masters, *([self.replica] if self.replica else [])]

    async def slots_of(self, node: ClusterNode) -> set[int]:
        """The slots that a node says it owns."""
        owned: set[int] = set()
        for first, last, (_, port, *_), *_ in await node.tell("CLUSTER", "SLOTS"):
            if port == node.port:
                owned.update(range(first, last + 1))
        return owned

    def tenant_of(self, number: int, tag: str = "") -> str:
        """A tenant whose slot the master of this number had at the start."""
        names = (f"t{tag}{index}" for index in range(100_000))
        return next(name for name in names if first_owner(name) == number)

    async def open_slot(self, slot: int, source: ClusterNode, target: ClusterNode) -> None:
        """Begin to move a slot; its keys stay where they are."""
        await target.tell("CLUSTER", "SETSLOT", slot, "IMPORTING", await source.id())
        await source.tell("CLUSTER", "SETSLOT", slot, "MIGRATING", await target.id())

    async def move_keys(self, source: ClusterNode, target: ClusterNode, *keys: bytes) -> None:
        """Move keys one by one, as redis-cli does, unless the target has them."""
        for key in keys:
            with suppress(ResponseError):  # BUSYKEY
                await self._migrate(source, target, key)

    async def _migrate(
        self, source: ClusterNode, target: ClusterNode, key: bytes, *options: str
    ) -> None:
        credentials = ("AUTH", self.password) if self.password else ()
        where = ("127.0.0.1", target.port, key, 0, 5_000)
        await source.tell("MIGRATE", *where, *options, *credentials)

    async def give_up_move(self, slot: int, *nodes: ClusterNode) -> None:
        """End the move of a slot; what has been moved stays where it is, out of reach."""
        for node in nodes:
            await node.tell("CLUSTER", "SETSLOT", slot, "STABLE")

    async def keys(self, node: ClusterNode, slot: int) -> list[bytes]:
        return list(await node.tell("CLUSTER", "GETKEYSINSLOT", slot, 10_000))

    async def move_slot(
        self,
        slot: int,
        source: ClusterNode,
        target: ClusterNode,
        between: Callable[[], Any] | None = None,
    ) -> None:
        """Move a slot; `between` runs after each moved key."""
        await self.open_slot(slot, source, target)
        while keys := await self.keys(source, slot):
            for key in keys:
                await self._migrate(source, target, key, "REPLACE")
                if between is not None:
                    await between()
        owner = await target.id()
        for node in (target, source, *self.nodes):
            if node.is_running and await node.role() == "master":
                await node.tell("CLUSTER", "SETSLOT", slot, "NODE", owner)
        await until(self._is_agreed)

    async def _is_agreed(self) -> bool:
        """Whether all masters know the same epoch of each one, as they do some gossip after a move.

        If a slot moved back before that, both nodes may claim it, and one of them drops its keys.
        """
        running = [node for node in self.masters if node.is_running]
        epochs = [_epochs((await node.tell("CLUSTER", "NODES")).decode()) for node in running]
        return all(each == epochs[0] for each in epochs)


def slot_of(tenant: str) -> int:
    return key_slot(f"{{{tenant}}}".encode())


def first_owner(tenant: str) -> int:
    return slot_of(tenant) * 3 // REDIS_CLUSTER_HASH_SLOTS


# How long a node is silent before the others hold it for lost, and a master alone stops serving.
_TAKEN_OVER_MS, _NEVER_MS = 500, 600_000


@asynccontextmanager
async def own_cluster(
    *, has_replica: bool = False, password: str = ""
) -> AsyncIterator[OwnCluster]:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nearhit-cluster-"))
        nodes = [
            await stack.enter_async_context(
                _node(folder, password, _TAKEN_OVER_MS if has_replica else _NEVER_MS)
            )
            for _ in range(3 + has_replica)
        ]
        masters, replica = nodes[:3], nodes[3] if has_replica else None
        bounds = [-(-REDIS_CLUSTER_HASH_SLOTS * part // 3) for part in range(4)]
        for number, node in enumerate(masters):
            await node.tell("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            await node.tell("CLUSTER", "ADDSLOTSRANGE", bounds[number], bounds[number + 1] - 1)
        for node in nodes[1:]:
            await node.tell("CLUSTER", "MEET", "127.0.0.1", masters[0].port)
        await until(lambda: _are_joined(nodes))
        if replica is not None:
            await replica.tell("CLUSTER", "REPLICATE", await masters[0].id())
            await until(lambda: _is_in_step(replica))
        yield OwnCluster(masters, replica, password)


@asynccontextmanager
async def cluster_store(
    url: str, *, prefix: str = "test:", budget_s: float = 1.0
) -> AsyncIterator[RedisStore]:
    """A store as a gateway opens it."""

    def new_breaker() -> CircuitBreaker:
        return CircuitBreaker(asyncio.get_running_loop().time, REDIS)

    async with redis_url.open_nodes(url, KINDS, new_breaker, budget_s=budget_s) as nodes:
        yield RedisStore(nodes, prefix=prefix, lifetime_s=60.0, entries_max=1_000)


@asynccontextmanager
async def _node(folder: str, password: str, timeout_ms: int) -> AsyncIterator[ClusterNode]:
    port, process = await _start(folder, password, timeout_ms)
    client = Redis(port=port, password=password or None)
    node = ClusterNode(port, process, client)
    try:
        async with client:
            yield node
    finally:
        await node.kill()


async def _start(folder: str, password: str, timeout_ms: int) -> tuple[int, Process]:
    """Start a node; on another port if another process has taken the first one meanwhile."""
    while True:
        port = free_port(also=BUS_PORT_OFFSET)
        name = f"nodes-{port}.conf"
        options = {
            "port": port,
            "bind": "127.0.0.1",
            "dir": folder,
            "save": "",
            "cluster-enabled": "yes",
            "cluster-config-file": name,
            "cluster-node-timeout": timeout_ms,
            "cluster-require-full-coverage": "no",
            "cluster-replica-validity-factor": 0,
            "repl-diskless-sync-delay": 0,
            **({"requirepass": password, "masterauth": password} if password else {}),
        }
        words = [str(word) for option, value in options.items() for word in (f"--{option}", value)]
        program = shutil.which("redis-server") or valkey()
        process = await asyncio.create_subprocess_exec(program, *words, stdout=DEVNULL)
        async with Redis(port=port, password=password or None) as client:
            await until(partial(has_begun, process, client))
        if process.returncode is None:
            return port, process


def _epochs(cluster_nodes: str) -> dict[str, str]:
    """The configuration epoch of each master, from the reply to CLUSTER NODES."""
    lines = [line.split() for line in cluster_nodes.splitlines()]
    return {line[0]: line[6] for line in lines if "master" in line[2] and "fail" not in line[2]}


async def _are_joined(nodes: list[ClusterNode]) -> bool:
    infos = [(await node.tell("CLUSTER", "INFO")).decode() for node in nodes]
    maps = [await node.tell("CLUSTER", "SLOTS") for node in nodes]
    return all(
        "cluster_state:ok" in info
        and f"cluster_known_nodes:{len(nodes)}" in info
        and len(slots) == len(nodes[:3])
        for info, slots in zip(infos, maps, strict=True)
    )


async def _is_in_step(replica: ClusterNode) -> bool:
    role = await replica.tell("ROLE")
    return (role[0], role[3]) == (b"slave", b"connected")
