"""Answers at home and far away, with read leases and without, interleaved in one run.

A size that is picked is the percentage of the distances between the regions.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import uvloop

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench_edges import callers, regions
from loadtests.bench_edges.callers import Caller
from loadtests.bench_edges.regions import HOME, B
from loadtests.load.latencies import Latencies
from loadtests.servers.gateway import start_all
from loadtests.workload import topics
from loadtests.workload.tenant_client import new_tenant

_DOCUMENTS = 600
_WARM_UP = 20  # new questions at each gateway before measuring
_UNLEASED_EVERY = 10  # rounds: without a lease each answer takes round trips
_REPEATED = "what everybody asks"
_HIT_MAX, _NEW_MAX = 1.2, 1.5
_LEASED, _UNLEASED = "lease", "no lease"
_HIT, _NEW = "exact hit", "new question"
_COLUMNS = {
    f"{_HIT} 50": ("exact hit P50", ",.2f"),
    f"{_HIT} 99": ("P99", ",.2f"),
    f"{_NEW} 50": ("new question P50", ",.2f"),
    f"{_NEW} 99": ("P99", ",.2f"),
}


def measure(run: Run) -> Section:
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
        questions = len(gateways) * (_WARM_UP + rounds)
        filled = topics.build(_DOCUMENTS, questions, run.seed)
        tenant.put(filled.documents)
        at = {which: callers.at(gateway.url, tenant.key) for which, gateway in gateways.items()}
        latencies = uvloop.run(_measured(rounds, at, iter(filled.questions)))
    return _section(rounds, latencies)


async def _measured(
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


def _section(rounds: int, latencies: Mapping[tuple[str, str, str], Latencies]) -> Section:
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
    hit, new = (
        latencies[B, _LEASED, what].percentile_ms(50)
        / latencies[HOME, _LEASED, what].percentile_ms(50)
        for what in (_HIT, _NEW)
    )
    bars = [
        Bar("exact hit, P50 at b over that at home", hit, at_most=_HIT_MAX),
        Bar("new question, P50 at b over that at home", new, at_most=_NEW_MAX),
    ]
    return rows_section("Answers near and far", notes, "ms", rows, _COLUMNS, bars)
