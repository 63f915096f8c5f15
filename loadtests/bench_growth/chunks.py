"""Searches without a cache: in a tenant that grows, and in a small one beside it.

Two gateways on one database are asked in turns: one keeps tenants in memory as shards, the other
searches PostgreSQL.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
import uvloop

from loadtests.bench.section import Section, table
from loadtests.bench_growth import caller, generated_corpus, plot, probe, residence
from loadtests.bench_growth.options import GrowthRun
from loadtests.bench_growth.probe import Probe, RequestCost
from loadtests.bench_index import corpus
from loadtests.servers import service
from loadtests.servers.service import Service

_SMALL, _SMALL_CHUNKS = "small", 1_000
_WARM_UP = 50
_TURNS = 5
_SHARDS, _WITHOUT = "with shards", "without"  # the gateways, as the page names them
# The same figures in JSON: of the tenants that grow, and of the small one.
_NAMES = {"grown_shards": _SHARDS, "grown": _WITHOUT}
_SMALL_NAMES = {"small_shards": _SHARDS, "small": _WITHOUT}

# By gateway and by number of chunks.
Costs = Mapping[str, dict[int, RequestCost]]


def measure(run: GrowthRun) -> Section:
    grown: Costs = {_SHARDS: {}, _WITHOUT: {}}
    beside: Costs = {_SHARDS: {}, _WITHOUT: {}}
    in_memory: set[int] = set()
    bytes_a_chunk: dict[int, float] = {}
    with (
        service.nearhit(residence.WITHOUT_SHARDS) as without,
        service.beside(without, residence.WITH_SHARDS) as shards,
        run.console.status("filling") as status,
    ):
        gateways = {_SHARDS: shards, _WITHOUT: without}
        fill(without, {_SMALL: _SMALL_CHUNKS})
        small = _probes(gateways, _SMALL)
        total = _SMALL_CHUNKS
        for size in run.options.chunks:
            status.update(f"{size:,} chunks")
            name = f"of-{size}"
            fill(without, {name: size})
            total += size
            bytes_a_chunk[size] = uvloop.run(_database_bytes(without.database_url)) / total
            large = _probes(gateways, name)
            if residence.load(shards, large[_SHARDS].requests) is not None:
                in_memory.add(size)
            _measure(large, grown, size, run)
            assert residence.load(shards, small[_SHARDS].requests) is not None, "it is small"
            _measure(small, beside, size, run)
    return Section(
        title="Chunks",
        text=_text(run, grown, beside, in_memory, bytes_a_chunk),
        figures={
            **{name: _as_json(grown[gateway]) for name, gateway in _NAMES.items()},
            **{name: _as_json(beside[gateway]) for name, gateway in _SMALL_NAMES.items()},
            "in_memory": sorted(in_memory),
            "bytes_a_chunk": {str(size): size_bytes for size, size_bytes in bytes_a_chunk.items()},
        },
        bars=[],
    )


def fill(gateway: Service, tenants: dict[str, int]) -> None:
    """New tenants with so many chunks each; vacuumed, so that it does not happen later."""
    passages, seed = generated_corpus.passages(), generated_corpus.SEED
    uvloop.run(corpus.fill(gateway.database_url, passages, tenants, seed=seed))
    uvloop.run(_vacuum(gateway.database_url))


def _probes(gateways: Mapping[str, Service], tenant: str) -> dict[str, Probe]:
    """The same new questions for each gateway, of a caller of its own: none is cached."""
    return {
        name: Probe(
            gateway,
            map(caller.of(gateway, tenant, name.replace(" ", "-")), generated_corpus.questions()),
        )
        for name, gateway in gateways.items()
    }


def _measure(probes: Mapping[str, Probe], costs: Costs, size: int, run: GrowthRun) -> None:
    for each in probes.values():
        probe.warm(each.gateway, each.requests, _WARM_UP)
    taken = probe.take_in_turns(probes, seconds=run.options.seconds, turns=_TURNS)
    for name, cost in taken.items():
        costs[name][size] = cost


async def _vacuum(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


async def _database_bytes(url: str) -> float:
    connection = await asyncpg.connect(url)
    size_bytes = await connection.fetchval("SELECT pg_database_size(current_database())")
    await connection.close()
    return float(size_bytes)


def _as_json(costs: Mapping[int, RequestCost]) -> dict[str, Any]:
    return {str(size): cost.as_json() for size, cost in costs.items()}


def _text(
    run: GrowthRun,
    grown: Costs,
    beside: Costs,
    in_memory: set[int],
    bytes_a_chunk: Mapping[int, float],
) -> str:
    notes = (
        "One connection asks new questions in a tenant of so many chunks, all of which the caller "
        f"may read, and in a tenant of {_SMALL_CHUNKS:,} chunks in the same index, beside the "
        "larger tenants of the rows above. Rows are inserted in batches without the writer, from "
        "generated passages whose vectors are rotated a little each time. A tenant that outgrows "
        "the shared partition gets its own, with its indexes, before the questions. The bytes on "
        "disk are the whole database divided by its chunks.\n"
        f"Two gateways on this database get the same questions in {_TURNS} turns each: one with "
        "[shards](../design/answering.md#from-memory), as by default, after "
        "it has loaded the tenant, and one without (`NEARHIT_SHARD_BYTES_MAX=0`).\n"
        f"{_limit(run.options.chunks, in_memory)}"
    )
    head = ("chunks, gateway", *probe.HEAD, "answered from", "bytes a chunk on disk")
    rows = table(head, _rows(grown, beside, in_memory, bytes_a_chunk))
    return f"{notes}\n\n{rows}\n\n{_picture(run, grown, beside)}"


def _limit(sizes: Sequence[int], in_memory: set[int]) -> str:
    """From which size PostgreSQL answers both gateways."""
    above = [size for size in sizes if size not in in_memory]
    limit = (
        f"A tenant with more than {residence.CHUNKS_MAX:,} chunks (`NEARHIT_SHARD_CHUNKS_MAX`) is "
        "not loaded: PostgreSQL answers"
    )
    return f"{limit}, here at {above[0]:,} chunks and above." if above else f"{limit}."


def _rows(
    grown: Costs, beside: Costs, in_memory: set[int], bytes_a_chunk: Mapping[int, float]
) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for size in bytes_a_chunk:
        for gateway, costs in grown.items():
            is_resident = gateway == _SHARDS and size in in_memory
            source = "memory" if is_resident else "PostgreSQL"
            disk = f"{bytes_a_chunk[size]:,.0f}" if gateway == _SHARDS else ""
            rows.append((f"{size:,}, {gateway}", *costs[size].row(), source, disk))
    for size in bytes_a_chunk:
        for gateway, costs in beside.items():
            source = "memory" if gateway == _SHARDS else "PostgreSQL"
            label = f"1,000 beside {size:,}, {gateway}"
            rows.append((label, *costs[size].row(), source, ""))
    return rows


def _picture(run: GrowthRun, grown: Costs, beside: Costs) -> str:
    large = {gateway: list(costs.values()) for gateway, costs in grown.items()}
    small = {f"1,000 beside, {gateway}": list(costs.values()) for gateway, costs in beside.items()}
    both = large | small
    return plot.lines(
        run.pictures / "growth-chunks.svg",
        list(grown[_SHARDS]),
        {
            "P50 ms": {name: [cost.p50_ms for cost in costs] for name, costs in both.items()},
            "P99 ms": {name: [cost.p99_ms for cost in costs] for name, costs in both.items()},
            "processor µs a request": {
                f"{server}, {name}": [getattr(cost, field) for cost in costs]
                for server, field in (("gateway", "gateway_us"), ("PostgreSQL", "database_us"))
                for name, costs in large.items()
            },
        },
        xlabel="chunks of the tenant",
    )
