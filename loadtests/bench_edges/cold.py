"""What a far gateway waits for when it starts, answers and writes for the first time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import uvloop

from loadtests.bench.frame import SETTINGS
from loadtests.bench.section import Section, table
from loadtests.bench_edges import callers
from loadtests.bench_edges.options import EdgesRun
from loadtests.bench_edges.regions import HOME, A
from loadtests.load.request import Call
from loadtests.servers import service
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.postgres import round_trips
from loadtests.servers.postgres.round_trips import RoundTrips
from loadtests.servers.service import Service

_WAY_S = 0.1  # longer than the gateway's own work between two requests, also on a busy machine
_PREPARED = "tenant of the cache"  # in the text of the last statement that is prepared ahead
_CONNECTIONS = 2  # on which it is prepared
_START, _SEARCH, _NEW, _WRITE = "start", "first search", "new question", "first write"


def measure(_: EdgesRun) -> Section:
    with service.nearhit({**SETTINGS, "NEARHIT_REGION": HOME}) as home:
        counts = uvloop.run(_count(home))
    return _section(counts)


async def _count(home: Service) -> dict[str, int]:
    key = await callers.new_tenant(home.url, home.admin_key, "cold")
    await callers.at(home.url, key).put("leave", "Everybody has 25 days of leave.")
    counts: dict[str, int] = {}
    async with round_trips.relay(home.database_url, _WAY_S) as trips:
        starting = trips.count()
        async with _far(home, trips) as url:
            starting.end()
            counts[_START] = starting.total
            caller = callers.at(url, key)
            for what, question in ((_SEARCH, "days of leave"), (_NEW, "how many days of leave")):
                with trips.counting() as asking:
                    assert (await caller.search(question)).status == 200
                counts[what] = asking.total
            await _until_prepared(trips)
            for what in (_WRITE, "next write"):
                with trips.counting() as writing:
                    reply = await caller.put("carry", f"Five days are carried over: {what}.")
                    assert reply.status in (200, 201), reply.body
                counts[what] = writing.total
            await caller.connection.close()
    return counts


@asynccontextmanager
async def _far(home: Service, trips: RoundTrips) -> AsyncIterator[str]:
    """The URL of a gateway behind the relay, once it is ready."""
    gateway = GatewayProcess(
        replace(home, database_url=trips.url), {**SETTINGS, "NEARHIT_REGION": A}
    )
    await asyncio.to_thread(gateway.start)
    try:
        reply = await callers.at(gateway.url, "").connection.send(Call("GET", "/readyz", b""), "")
        assert reply.status == 200, reply.body
        yield gateway.url
    finally:
        await asyncio.to_thread(gateway.stop)


async def _until_prepared(trips: RoundTrips) -> None:
    async with asyncio.timeout(60):
        while sum(_PREPARED in request.text for request in trips.requests) < _CONNECTIONS:
            await asyncio.sleep(_WAY_S)
    await asyncio.sleep(2 * _WAY_S)  # the reply is under way


def _section(counts: dict[str, int]) -> Section:
    text = (
        "A gateway of a region starts, answers a first question and another new one, and writes "
        "twice. A relay delays each byte and counts the round trips to the primary that wait for "
        "another: those that are under way at the same time count once, and one to open a "
        "connection. It has no standby. *Start* is `nearhit serve` from its first connection until "
        "it is ready; the command tries the database once before its worker opens it. "
        "Work in the background, such as taking the lease, may add one or two to a figure.\n\n"
        f"{table(('', 'round trips'), [(what, f'{count}') for what, count in counts.items()])}"
    )
    figures: dict[str, Any] = dict(counts)
    return Section("A cold gateway", text, figures, [])
