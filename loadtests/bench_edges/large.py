"""A large deployment in two regions: many tenants of very different sizes, and a read replica."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from random import Random
from typing import Any, TypeAlias

import uvloop

from loadtests.bench.section import Section, figure_table
from loadtests.bench_edges import callers, regions
from loadtests.bench_edges.callers import Caller
from loadtests.bench_edges.options import EdgesRun
from loadtests.bench_edges.regions import HOME, A, Regions
from loadtests.bench_growth import generated_corpus
from loadtests.bench_index import corpus
from loadtests.load.latencies import Latencies
from loadtests.servers import memory
from loadtests.servers.gateway import GatewayProcess
from loadtests.workload.tenant_client import new_key

_LARGEST = 5  # tenants that are asked in any case
_ASKED = 200  # tenants, of which the others are drawn
_ROUNDS = 4  # of a new question and a repeated one in each
_WRITES = 40
_OK = 200
_DATABASE_BYTES = "SELECT pg_database_size(current_database())"
_ASKED_COLUMNS = {
    "p50_ms": ("P50 ms", ",.2f"),
    "p99_ms": ("P99 ms", ",.2f"),
    "max_ms": ("longest ms", ",.2f"),
    "count": ("times", ",d"),
}
_SERVER_COLUMNS = {
    "start_s": ("seconds to start", ".1f"),
    "gateway_mb": ("gateway MB", ",.0f"),
    "database_mb": ("PostgreSQL MB", ",.0f"),
    "redis_mb": ("Redis MB", ",.0f"),
}
_NEW_LARGE, _NEW, _HIT, _WRITE = "new, largest", "new, others", "exact hit", "write"


# By region and by what is asked.
_Latencies: TypeAlias = dict[str, dict[str, Latencies]]


def sizes(chunks: int, tenants: int) -> Mapping[str, int]:
    """The number of chunks of each tenant: the second has half of the first's, as Zipf's law."""
    shares = [1 / rank for rank in range(1, tenants + 1)]
    scale = chunks / sum(shares)
    return {f"tenant-{rank}": max(1, round(scale * share)) for rank, share in enumerate(shares, 1)}


def measure(run: EdgesRun) -> Section:
    tenants = sizes(run.options.chunks, run.options.tenants)
    with (
        regions.running(delays=run.options.delays, far=(A,)) as started,
        ExitStack() as stack,
    ):
        begun_s = time.monotonic()
        fill = corpus.fill(
            started.primary.url,
            generated_corpus.passages(),
            tenants,
            seed=generated_corpus.SEED,
        )
        uvloop.run(fill)
        far = started.by_name[A].node
        assert far is not None, "it was built"
        started.primary.wait_for(far)
        fill_s = time.monotonic() - begun_s
        run.console.print(f"filled in {fill_s:.0f} s")
        servers: dict[str, dict[str, float]] = {}
        gateways: dict[str, GatewayProcess] = {}
        for name, region in started.by_name.items():
            gateways[name] = region.gateway({}, leased=True)
            stack.callback(gateways[name].stop)
            begun_s = time.monotonic()
            gateways[name].start()
            servers[name] = {"start_s": time.monotonic() - begun_s}
        latencies = uvloop.run(_ask(run, started, gateways, list(tenants)))
        for name, region in started.by_name.items():
            assert region.node is not None, "each region has a PostgreSQL"
            servers[name] |= {
                "gateway_mb": memory.megabytes({gateways[name].pid}),
                "database_mb": memory.megabytes(memory.tree(region.node.pid)),
                "redis_mb": memory.megabytes({region.redis.pid}),
            }
        database_bytes = int(started.primary.ask(_DATABASE_BYTES))
    return _section(tenants, servers, latencies, fill_s, database_bytes)


async def _ask(
    run: EdgesRun,
    started: Regions,
    gateways: Mapping[str, GatewayProcess],
    tenants: Sequence[str],
) -> _Latencies:
    random = Random(run.options.seed)  # noqa: S311  no secret
    others = tenants[_LARGEST:]
    asked = [*tenants[:_LARGEST], *random.sample(others, min(_ASKED - _LARGEST, len(others)))]
    home = gateways[HOME].service
    keys = [new_key(home, tenant, "bench", groups=["readers"]) for tenant in asked]
    at = {
        name: [callers.at(gateway.url, key) for key in keys] for name, gateway in gateways.items()
    }
    latencies: _Latencies = {
        name: {what: Latencies() for what in (_NEW_LARGE, _NEW, _HIT, _WRITE)} for name in at
    }
    questions = generated_corpus.questions()
    for name, here in at.items():
        one_way_ms = started.way_ms(name, HOME)
        await callers.until_leased(here[0], next(questions), one_way_ms)
        for caller in here:
            await _search(caller, "what everybody asks")
    for _ in range(_ROUNDS):
        for number in range(len(asked)):
            for name, here in at.items():
                what = _NEW_LARGE if number < _LARGEST else _NEW
                latencies[name][what].add(await _search(here[number], next(questions)))
                seconds = await _search(here[number], "what everybody asks")
                latencies[name][_HIT].add(seconds)
    for number in range(_WRITES):
        for name, here in at.items():
            reply = await here[number % len(here)].put("written", f"Number {number} of {name}.")
            assert reply.status in (200, 201), reply.body
            latencies[name][_WRITE].add(reply.seconds)
    await asyncio.gather(*(caller.connection.close() for here in at.values() for caller in here))
    return latencies


async def _search(caller: Caller, question: str) -> float:
    reply = await caller.search(question)
    assert reply.status == _OK, reply.body
    return reply.seconds


def _section(
    tenants: Mapping[str, int],
    servers: Mapping[str, Mapping[str, float]],
    latencies: _Latencies,
    fill_s: float,
    database_bytes: int,
) -> Section:
    chunks = sum(tenants.values())
    largest = ", ".join(f"{size:,}" for size in list(tenants.values())[:_LARGEST])
    asked = {
        f"{name}, {what}": of_one.as_json()
        for name, of_region in latencies.items()
        for what, of_one in of_region.items()
    }
    text = (
        f"{chunks:,} chunks in {len(tenants):,} tenants, in two regions: *home*, and *a*, which "
        "reads from its standby. The sizes of the tenants follow Zipf's law: the largest have "
        f"{largest} chunks, the median has {sorted(tenants.values())[len(tenants) // 2]:,}. Rows "
        "are inserted in batches without the writer, from generated passages whose vectors are "
        f"rotated a little each time; that, the indexes and the standby take {fill_s:,.0f} s. "
        f"{min(_ASKED, len(tenants))} tenants are asked, the {_LARGEST} largest and others by "
        f"chance, one request at a time: {_ROUNDS} times a new question and a repeated one in each "
        "region. Gateways have the default settings: a tenant that is asked often is loaded into "
        "memory meanwhile.\n\n"
        f"{figure_table('region, asked', asked, _ASKED_COLUMNS)}\n\n"
        "Memory is PSS, in which a page that processes share is counted once, after all requests. "
        f"The database has {database_bytes / 1e9:.2f} GB, {database_bytes / chunks:,.0f} bytes a "
        "chunk, and its standby as much.\n\n"
        f"{figure_table('region', servers, _SERVER_COLUMNS)}"
    )
    figures: dict[str, Any] = {
        name: {
            **of_servers,
            "latencies": {what: of_one.as_json() for what, of_one in latencies[name].items()},
        }
        for name, of_servers in servers.items()
    }
    figures |= {
        "chunks": chunks,
        "tenants": len(tenants),
        "fill_s": fill_s,
        "database_bytes": database_bytes,
    }
    return Section("A large deployment", text, figures, [])
