"""What distance costs: answers with and without read leases, and writes until acknowledged.

A size that is picked is the percentage of the distances between the regions.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeAlias

import orjson
import uvloop

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench_edges import regions
from loadtests.bench_edges.regions import HOME, A, B, Regions
from loadtests.load.connection_pool import ConnectionPool, connect
from loadtests.load.figures import Latencies
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.servers.gateway import GatewayProcess, start_all
from loadtests.workload import topics
from loadtests.workload.tenant_client import new_tenant

_REPEATED = "what everybody asks"
_LEASED, _UNLEASED = "lease", "no lease"
_HIT, _NEW = "exact hit", "new question"
_DOCUMENTS = 600
_WARM_UP = 20  # new questions at each gateway before measuring
_UNLEASED_EVERY = 10  # rounds: without a lease each answer takes round trips
_HIT_MAX, _NEW_MAX = 1.2, 1.5
_COLUMNS = {
    f"{_HIT} 50": ("exact hit P50", ",.2f"),
    f"{_HIT} 99": ("P99", ",.2f"),
    f"{_NEW} 50": ("new question P50", ",.2f"),
    f"{_NEW} 99": ("P99", ",.2f"),
}
_NONE = "no regions"
# Each with the region that it has more than the one before.
_ARRANGEMENTS = (("home alone", HOME), ("home and a", A), ("home, a and b", B))
_WRITES, _WRITES_WARM_UP = 30, 2  # from each gateway in each arrangement, and before
# A round trip to the farthest region, and a tenth of it for the work at both ends; from a region
# that is far away itself two: docs/design/promises.md#read-leases.
_ROUND_TRIPS_MAX, _FAR_ROUND_TRIPS_MAX = 1.1, 2.1
_WRITES_COLUMNS = {
    "p50_ms": ("P50 ms", ",.1f"),
    "longest_ms": ("longest", ",.1f"),
    "more_ms": ("more ms", ",.1f"),
    "round_trips": ("round trips", ".2f"),
}
_FAST_ANSWERS, _LEASED_S_MAX = 3, 120.0
_NEAR_MS = 20  # of a gateway beside the primary
_Times: TypeAlias = dict[tuple[str, str], list[float]]  # ms, by arrangement and by writing region


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller beside a gateway, with one connection. Methods raise `Unanswered`."""

    connection: ConnectionPool
    key: str

    async def search(self, query: str) -> HttpResponse:
        body = orjson.dumps({"query": query})
        return await self.connection.send(Call("POST", "/v1/search", body), self.key)

    async def put(self, document_id: str, text: str) -> HttpResponse:
        body = orjson.dumps({"title": document_id, "text": text, "readers": ["tenant"]})
        call = Call("PUT", f"/v1/documents/{document_id}", body)
        return await self.connection.send(call, self.key)


def measure_answers(run: Run) -> Section:
    """Answers at home and far away, with read leases and without, interleaved in one run."""
    rounds = run.sized(1_000, 60)
    (distance,) = run.sizes(100, quick=(100,))
    with regions.running(distance / 100) as started, ExitStack() as stack:
        gateways = {
            (name, kind): region.gateway({}, leased=kind == _LEASED)
            for name, region in started.by_name.items()
            for kind in (_LEASED, _UNLEASED)
        }
        start_all(stack, list(gateways.values()))
        tenant = stack.enter_context(new_tenant(gateways[HOME, _LEASED].service, "latency"))
        filled = topics.build(_DOCUMENTS, len(gateways) * (_WARM_UP + rounds), run.seed)
        tenant.put(filled.documents)
        at = {
            which: Caller(connect(gateway.url), tenant.key) for which, gateway in gateways.items()
        }
        latencies = uvloop.run(_asked(rounds, at, iter(filled.questions)))
    rows: dict[str, dict[str, float]] = {}
    for (name, kind, what), values in latencies.items():
        row = rows.setdefault(f"{name}, {kind}", {})
        row |= {f"{what} {each}": values.percentile_ms(each) for each in (50, 99)}
    notes = (
        f"{_DOCUMENTS} documents; one caller beside each gateway asks a question that its gateway "
        "has answered before, and one that nobody has asked. They take turns, one request at a "
        f"time, {rounds:,} rounds; gateways without a lease take part in every tenth. "
        "Far gateways with a lease read from their standbys, those without from the primary."
    )
    bars = [
        Bar(
            f"{what}, P50 at b over that at home",
            rows[f"{B}, {_LEASED}"][f"{what} 50"] / rows[f"{HOME}, {_LEASED}"][f"{what} 50"],
            at_most=most,
        )
        for what, most in ((_HIT, _HIT_MAX), (_NEW, _NEW_MAX))
    ]
    return rows_section("Answers near and far", notes, "ms", rows, _COLUMNS, bars)


async def _asked(
    rounds: int, at: Mapping[tuple[str, str], Caller], questions: Iterator[str]
) -> Mapping[tuple[str, str, str], Latencies]:
    latencies: dict[tuple[str, str, str], Latencies] = {
        (*which, what): Latencies() for which in at for what in (_HIT, _NEW)
    }
    await asyncio.gather(*(_warm_up(caller, questions) for caller in at.values()))
    order = list(at)
    for number in range(rounds):
        order.append(order.pop(0))
        for which in order:
            if which[1] == _UNLEASED and number % _UNLEASED_EVERY:
                continue
            for what, question in ((_HIT, _REPEATED), (_NEW, next(questions))):
                reply = await at[which].search(question)
                assert reply.status == 200, reply.body
                assert reply.is_hit == (what == _HIT), f"{what}: {reply.cache_status}"
                latencies[*which, what].add(reply.seconds)
    return latencies


async def _warm_up(caller: Caller, questions: Iterator[str]) -> None:
    """Until the gateway has loaded what it needs, and holds its lease if it gets one.

    The first search of a far gateway may take more round trips than its deadline allows.
    """
    for _ in range(_WARM_UP):
        for question in (_REPEATED, next(questions)):
            await caller.search(question)


def measure_writes(run: Run) -> Section:
    """The time until a write is acknowledged: with no regions, with one more, and with all."""
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
    return _writes_section(writes, times, 2 * started.way_ms(HOME, B))


async def _until_leased(started: Regions, gateways: Mapping[str, GatewayProcess], key: str) -> None:
    """Return when each gateway answers a repeated question without a round trip to the primary."""
    async with asyncio.timeout(_LEASED_S_MAX):
        for name, gateway in gateways.items():
            caller, fast = Caller(connect(gateway.url), key), 0
            fast_ms = max(started.way_ms(name, HOME), _NEAR_MS)
            while fast < _FAST_ANSWERS:
                reply = await caller.search(_REPEATED)
                fast = fast + 1 if reply.status == 200 and reply.seconds * 1000 < fast_ms else 0


async def _write(
    writes: int,
    times: _Times,
    arrangement: str,
    gateways: Mapping[str, GatewayProcess],
    key: str,
) -> None:
    """Write from each gateway in turn, one write at a time."""
    clients = {name: Caller(connect(gateway.url), key) for name, gateway in gateways.items()}
    for number in range(-_WRITES_WARM_UP, writes):
        for name, writer in clients.items():
            reply = await writer.put("written", f"{arrangement}: number {number} of {name}.")
            assert reply.status in (200, 201), reply.body
            if number >= 0:
                times.setdefault((arrangement, name), []).append(reply.seconds * 1000)


def _writes_section(writes: int, times: _Times, round_trip_ms: int) -> Section:
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
    return rows_section("Writes", notes, head, figures, _WRITES_COLUMNS, bars)
