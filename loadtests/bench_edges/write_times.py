"""The time until a write is acknowledged: with no regions, with one more, and with all of them."""

from collections.abc import Mapping
from contextlib import ExitStack
from statistics import median
from typing import Any, TypeAlias

import uvloop

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench_edges import callers, regions
from loadtests.bench_edges.regions import HOME, A, B, Regions
from loadtests.servers.gateway import GatewayProcess, start_all
from loadtests.workload.tenant_client import new_tenant

_NONE = "no regions"
# Each with the region that it has more than the one before.
_ARRANGEMENTS = (("home alone", HOME), ("home and a", A), ("home, a and b", B))
_WRITES, _WARM_UP = 30, 2  # from each gateway in each arrangement, and before
_REPEATED = "what everybody asks"
# A round trip to the farthest region, and a tenth of it for the work at both ends.
_ROUND_TRIPS_MAX = 1.1
# From a region that is far away itself: docs/design/promises.md#read-leases.
_FAR_ROUND_TRIPS_MAX = 2.1
_COLUMNS = {
    "p50_ms": ("P50 ms", ",.1f"),
    "longest_ms": ("longest", ",.1f"),
    "more_ms": ("more ms", ",.1f"),
    "round_trips": ("round trips", ".2f"),
}
_Times: TypeAlias = dict[tuple[str, str], list[float]]  # ms, by arrangement and by writing region


def measure(run: Run) -> Section:
    times: _Times = {}
    writes = run.sized(_WRITES, 8)
    with regions.running() as started:
        with ExitStack() as stack:
            gateways = {
                name: region.gateway({}, leased=False) for name, region in started.by_name.items()
            }
            start_all(stack, list(gateways.values()))
            key = stack.enter_context(new_tenant(gateways[HOME].service, "writes")).key
            uvloop.run(_write(writes, times, _NONE, gateways, key))
        with ExitStack() as stack:
            leased: dict[str, GatewayProcess] = {}
            for arrangement, name in _ARRANGEMENTS:
                leased[name] = started.by_name[name].gateway({}, leased=True)
                start_all(stack, [leased[name]])
                uvloop.run(_until_leased(started, leased, key))
                uvloop.run(_write(writes, times, arrangement, leased, key))
    return _section(writes, times, 2 * started.way_ms(HOME, B))


async def _until_leased(started: Regions, gateways: Mapping[str, GatewayProcess], key: str) -> None:
    for name, gateway in gateways.items():
        one_way_ms = started.way_ms(name, HOME)
        await callers.until_leased(callers.at(gateway.url, key), _REPEATED, one_way_ms)


async def _write(
    writes: int,
    times: _Times,
    arrangement: str,
    gateways: Mapping[str, GatewayProcess],
    key: str,
) -> None:
    """Write from each gateway in turn, one write at a time."""
    clients = {name: callers.at(gateway.url, key) for name, gateway in gateways.items()}
    for number in range(-_WARM_UP, writes):
        for name, writer in clients.items():
            reply = await writer.put("written", f"{arrangement}: number {number} of {name}.")
            assert reply.status in (200, 201), reply.body
            if number >= 0:
                times.setdefault((arrangement, name), []).append(reply.seconds * 1000)


def _section(writes: int, times: _Times, round_trip_ms: int) -> Section:
    figures: dict[str, dict[str, Any]] = {}
    for (arrangement, name), ms in times.items():
        row: dict[str, Any] = {"p50_ms": median(ms), "longest_ms": max(ms), "ms": ms}
        figures[f"{arrangement}, from {name}"] = row
        if arrangement != _NONE:
            row["more_ms"] = row["p50_ms"] - figures[f"{_NONE}, from {name}"]["p50_ms"]
            row["round_trips"] = row["more_ms"] / round_trip_ms
    head = "gateways with a lease, and the writer"
    notes = (
        f"One document is written again and again, one write at a time, {writes} from "
        "each gateway. *More* is the difference to the same writer when no gateway has a region, "
        f"also in round trips from home to *b*, of {round_trip_ms} ms. A write waits until each "
        "holder of a lease has heard of it. A writer that is far away itself asks the primary for "
        "the leases, and hears the replies from there, its own gateway's too. Its transaction "
        "takes several round trips in any case."
    )
    bars = [
        Bar(
            f"round trips to b that a write from {name} takes more, with a and b",
            figures[f"{_ARRANGEMENTS[-1][0]}, from {name}"]["round_trips"],
            at_most=_ROUND_TRIPS_MAX if name == HOME else _FAR_ROUND_TRIPS_MAX,
        )
        for name in (HOME, A, B)
    ]
    return rows_section("Writes", notes, head, figures, _COLUMNS, bars)
