"""The faults of regions, from their beginnings to their ends.

Errors are excused meanwhile, but for faults of a Redis, which may cause none.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from random import Random

from loadtests.bench_edges.regions import HOME, READ_LEASE_S, A, EdgeServers, Region, Regions
from loadtests.load.connection_pool import Unanswered, connect
from loadtests.load.request import Call
from loadtests.servers.faults.fault import Fault, step
from loadtests.servers.waiting import until
from loadtests.soak.faults import ServersFault, excused, lasting
from loadtests.soak.work.context import SoakContext

_LASTS_S = (0.2, 3.0 * READ_LEASE_S)
_TAIL_S = (1.0, 3.0)  # in which writes are made that the next primary lacks
_SILENT_S = (0.0, 0.2)  # before the primary is lost
_FOLLOWS_S_MAX = 5.0
_WARM_S_MAX = 60.0
_SEARCH = Call("POST", "/v1/search", b'{"query": "anything"}')
_OK, _UNAUTHORIZED = 200, 401


def _lasting(servers: EdgeServers, random: Random) -> Mapping[str, Fault]:
    """The faults that last a while, of a region and of a gateway that are drawn."""
    region, gateway = random.choice(servers.regions.far), random.choice(servers.gateways)
    redis = random.choice(list(servers.regions.by_name.values())).redis
    node, link, own = region.node, region.link, servers.gateway(region)
    assert node is not None, "it has a standby"
    return {
        # Its connections to the primary are lost, and none can be opened.
        "region cut off": Fault(step(link.cut), step(link.heal)),
        # Nothing comes through from the primary or to it; afterwards all of it arrives late.
        "region silent": Fault(step(link.silence), step(link.resume)),
        "region killed": Fault(
            step(own.kill, region.redis.program.kill, node.kill),
            step(region.redis.program.start, node.start, own.start),
        ),
        # Perhaps for longer than its lease.
        "gateway paused": Fault(step(gateway.pause), step(gateway.resume)),
        "gateway killed": Fault(step(gateway.kill), step(gateway.start)),
        # It answers nothing and lags behind.
        "standby paused": Fault(step(node.pause), step(node.resume)),
        "redis killed": Fault(step(redis.program.kill), step(redis.program.start), is_silent=True),
    }


async def primary_failed_over(servers: EdgeServers, context: SoakContext, random: Random) -> None:
    """A standby with all that was acknowledged takes over, while the third region hears nothing.

    So the lease of that region runs on, and all that is asked meanwhile is judged.
    """
    regions = servers.regions
    name = _next_primary(regions)
    (third,) = (region for region in regions.far if region.name != name)
    async with excused(context, warm_up):
        await asyncio.to_thread(regions.primary.require, name)
        third.link.silence()
        await asyncio.sleep(random.uniform(*_SILENT_S))
        await asyncio.to_thread(_take_over, regions, name, third)
        await asyncio.sleep(random.uniform(*_LASTS_S))
        await asyncio.to_thread(regions.lead, third)
        context.oracle.forget()
    await asyncio.to_thread(_rebuild, regions)


async def primary_lost_with_its_last_writes(
    servers: EdgeServers, context: SoakContext, random: Random
) -> None:
    """A standby takes over that was cut off, and so lacks what was acknowledged last.

    A gateway may show the lost writes until its lease has run out, but no longer.
    """
    regions, state = servers.regions, context.state
    name = _next_primary(regions)
    async with excused(context, warm_up):
        async with context.at_rest():
            copied = state.copy()
            standby = regions.by_name[name].node
            assert standby is not None, "it has a standby"
            await asyncio.to_thread(regions.primary.wait_for, standby)
            regions.by_name[name].link.cut()
        await asyncio.sleep(random.uniform(*_TAIL_S))
        state.leave()
        await asyncio.to_thread(_take_over, regions, name, None)
        state.go_back(copied, void_after_s=READ_LEASE_S)
        context.oracle.forget()
    await asyncio.to_thread(_rebuild, regions)


async def warm_up(context: SoakContext) -> None:
    """Return when each gateway has answered a search in each tenant.

    The first searches of a far gateway may take more round trips than their deadline allows.
    """
    ways = context.servers.ways
    await asyncio.gather(*(_warm_up(context, way) for way in ways))


async def _warm_up(context: SoakContext, way: str) -> None:
    holders = context.state.credentials.keys.items()
    keys = {tenant: credential.secret for (tenant, _), credential in holders}
    connection = connect(way)
    deadline_s = time.monotonic() + _WARM_S_MAX
    for key in keys.values():
        status = 0
        while status not in (_OK, _UNAUTHORIZED) and time.monotonic() < deadline_s:
            with suppress(Unanswered):
                status = (await connection.send(_SEARCH, key)).status
    await connection.close()


def _next_primary(regions: Regions) -> str:
    """The primary moves between home and the nearer region."""
    return A if regions.primary_name == HOME else HOME


def _take_over(regions: Regions, name: str, silent: Region | None) -> None:
    """The silent region stays silent, with its connections to the lost primary."""
    lost = regions.lose_primary(silent)
    regions.promote(name)
    regions.lead_all(silent)
    lost.discard()


def _rebuild(regions: Regions) -> None:
    """A new standby where the primary was lost, and where one has what the new primary lacks."""
    for region in regions.far:
        if region.node is None or not _follows(regions, region):
            regions.build_standby(region)


def _follows(regions: Regions, region: Region) -> bool:
    with suppress(TimeoutError):
        until(partial(regions.primary.is_followed_by, region.name), "", _FOLLOWS_S_MAX)
        return True
    return False


FAULTS: Mapping[str, ServersFault[EdgeServers]] = {
    **lasting(
        (
            *("region cut off", "region silent", "region killed", "gateway paused"),
            *("gateway killed", "standby paused", "redis killed"),
        ),
        _lasting,
        _LASTS_S,
        warm_up,
    ),
    "primary failed over": primary_failed_over,
    "primary lost with its last writes": primary_lost_with_its_last_writes,
}
