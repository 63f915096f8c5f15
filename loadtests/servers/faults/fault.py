"""The faults of servers: how each begins and ends, and whether it may cause errors."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from loadtests.servers.faults.link import SmallDisk
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.redis import RedisProcess
from loadtests.servers.server_set import ServerSet
from loadtests.servers.waiting import until

_FULL = "1mb"  # less than the stored answers take

Step = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Fault:
    """is_silent: it may cause no error."""

    begin: Step
    mend: Step
    is_silent: bool = False

    async def last(self, seconds: float) -> None:
        """From its beginning to its end."""
        begun_s = time.monotonic()
        await self.begin()
        await asyncio.sleep(seconds - (time.monotonic() - begun_s))
        await self.mend()


def step(*blocking: Callable[[], object]) -> Step:
    """Calls one after the other, beside the event loop."""
    return partial(asyncio.to_thread, lambda: [call() for call in blocking])


def of(servers: ServerSet, gateway: GatewayProcess) -> Mapping[str, Fault]:
    """By name. gateway: the one that gateways' faults concern."""
    redis, postgres = servers.redis, servers.postgres
    faults = {
        "redis killed": Fault(
            step(redis.forget, redis.program.kill), step(redis.program.start), is_silent=True
        ),
        "redis paused": Fault(
            step(redis.program.pause), step(redis.program.resume), is_silent=True
        ),
        "redis full": Fault(
            step(partial(redis.limit, _FULL)), step(partial(redis.limit, "0")), is_silent=True
        ),
        "worker killed": Fault(
            step(servers.worker.kill), step(servers.worker.start), is_silent=True
        ),
        "gateway killed": Fault(step(gateway.kill), step(gateway.start)),
        "postgres crashed": Fault(step(postgres.crash), step(postgres.wait)),
        "postgres paused": Fault(step(postgres.pause), step(postgres.resume)),
    }
    if servers.link is not None:
        cut, heal = servers.link.cut, servers.link.heal
        faults["redis cut off, its memory kept"] = Fault(step(cut), step(heal), is_silent=True)
    if servers.disk is not None and servers.disk.is_there:
        faults["redis's disk full"] = _disk_full(redis, servers.disk)
    return faults


def _disk_full(redis: RedisProcess, disk: SmallDisk) -> Fault:
    def fill() -> None:
        disk.fill()
        redis.keep("1 1")  # a snapshot each second, if anything has changed
        until(lambda: redis.refuses, "Redis does not notice its disk")

    def clear() -> None:
        disk.clear()
        until(lambda: not redis.refuses, "Redis does not notice its disk")
        redis.keep("")

    return Fault(step(fill), step(clear), is_silent=True)
