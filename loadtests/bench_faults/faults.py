"""The faults: how each begins and ends, and whether it may cause errors."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from loadtests.bench_faults.embeddings import Embeddings
from loadtests.bench_faults.servers import FaultServers
from loadtests.bench_faults.slow_connections import CONNECTIONS, SlowConnections

_FULL = "1mb"  # less than the stored answers take
_DISK_S_MAX = 30.0  # Redis tries again after five seconds


@dataclass(frozen=True, slots=True)
class Fault:
    """is_silent: it may cause no error. seconds: the minimum duration."""

    name: str
    begin: Callable[[], Awaitable[None]]
    mend: Callable[[], Awaitable[None]]
    is_silent: bool
    seconds: float = 5.0


def of(servers: FaultServers) -> list[Fault]:
    crowd = SlowConnections(servers.gateway.url)

    def fill() -> None:
        servers.disk.fill()
        servers.redis.keep("1 1")  # a snapshot each second, if anything has changed
        _until(lambda: servers.redis.refuses)

    def clear() -> None:
        servers.disk.clear()
        _until(lambda: not servers.redis.refuses)
        servers.redis.keep("")

    return [
        Fault("Redis killed", _do(servers.redis.kill), _do(servers.redis.start), is_silent=True),
        Fault("Redis paused", _do(servers.redis.pause), _do(servers.redis.resume), is_silent=True),
        Fault(
            "Redis cut off, its memory kept",
            _do(servers.wire.cut),
            _do(servers.wire.mend),
            is_silent=True,
        ),
        Fault(
            "Redis full",
            _do(lambda: servers.redis.limit(_FULL)),
            _do(lambda: servers.redis.limit("0")),
            is_silent=True,
        ),
        *(
            [Fault("Redis's disk full", _do(fill), _do(clear), is_silent=True)]
            if servers.disk.is_there
            else []
        ),
        Fault("PostgreSQL crashed", _do(servers.postgres.crash), _nothing, is_silent=False),
        Fault(
            "PostgreSQL paused",
            _do(servers.postgres.pause),
            _do(servers.postgres.resume),
            is_silent=False,
        ),
        Fault(
            "gateway killed",
            _do(servers.gateway.kill),
            _do(servers.gateway.start),
            is_silent=False,
            seconds=0.0,
        ),
        Fault(f"{CONNECTIONS:,} slow connections", crowd.come, crowd.go, is_silent=True),
    ]


def of_embedder(service: Embeddings) -> Fault:
    async def leave() -> None:
        service.is_unavailable = True

    async def come_back() -> None:
        service.is_unavailable = False

    return Fault("embedding service away", leave, come_back, is_silent=True)


def _do(what: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    async def doing() -> None:
        await asyncio.to_thread(what)

    return doing


def _until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + _DISK_S_MAX
    while not is_so():
        assert time.monotonic() < deadline_s, "Redis does not notice its disk"
        time.sleep(0.1)


async def _nothing() -> None:
    """PostgreSQL recovers by itself."""
