"""Searches without a cache: in a tenant that grows, and in a small one beside it."""

import asyncpg
import uvloop

from loadtests.bench.section import Section, table
from loadtests.bench_growth import caller, generated_corpus, plot, probe
from loadtests.bench_growth.options import GrowthRun
from loadtests.bench_growth.probe import RequestCost
from loadtests.bench_index import corpus
from loadtests.servers import service
from loadtests.servers.service import Service

_SMALL, _SMALL_CHUNKS = "small", 1_000
_WARM_UP = 50


def measure(run: GrowthRun) -> Section:
    grown: dict[int, RequestCost] = {}
    beside: dict[int, RequestCost] = {}
    bytes_a_chunk: dict[int, float] = {}
    questions = generated_corpus.questions()
    with service.nearhit() as gateway, run.console.status("filling") as status:
        _fill(gateway, {_SMALL: _SMALL_CHUNKS})
        small = caller.of(gateway, _SMALL)
        total = _SMALL_CHUNKS
        for size in run.options.chunks:
            status.update(f"{size:,} chunks")
            _fill(gateway, {f"of-{size}": size})
            total += size
            bytes_a_chunk[size] = uvloop.run(_kept(gateway.database_url)) / total
            large = caller.of(gateway, f"of-{size}")
            for ask, costs in ((large, grown), (small, beside)):
                requests = (ask(question) for question in questions)
                probe.warm(gateway, requests, _WARM_UP)
                costs[size] = probe.take(gateway, requests, seconds=run.options.seconds)
    return Section(
        title="Chunks",
        text=_text(run, grown, beside, bytes_a_chunk),
        figures={
            "grown": {str(size): cost.as_json() for size, cost in grown.items()},
            "small": {str(size): cost.as_json() for size, cost in beside.items()},
            "bytes_a_chunk": {str(size): size_bytes for size, size_bytes in bytes_a_chunk.items()},
        },
        bars=[],
    )


def _fill(gateway: Service, tenants: dict[str, int]) -> None:
    passages, seed = generated_corpus.passages(), generated_corpus.SEED
    uvloop.run(corpus.fill(gateway.database_url, passages, tenants, seed=seed))


async def _kept(url: str) -> float:
    """The size in bytes of the database after VACUUM ANALYZE."""
    connection = await asyncpg.connect(url)
    await connection.execute("VACUUM ANALYZE")
    size_bytes = await connection.fetchval("SELECT pg_database_size(current_database())")
    await connection.close()
    return float(size_bytes)


def _text(
    run: GrowthRun,
    grown: dict[int, RequestCost],
    beside: dict[int, RequestCost],
    bytes_a_chunk: dict[int, float],
) -> str:
    sizes = list(grown)
    picture = plot.lines(
        run.pictures / "growth-chunks.svg",
        sizes,
        {
            "ms": {
                "P50": [cost.p50_ms for cost in grown.values()],
                "P99": [cost.p99_ms for cost in grown.values()],
                "P50, 1,000 beside": [cost.p50_ms for cost in beside.values()],
            },
            "processor µs a request": {
                "gateway": [cost.gateway_us for cost in grown.values()],
                "PostgreSQL": [cost.database_us for cost in grown.values()],
            },
        },
        xlabel="chunks of the tenant",
    )
    notes = (
        "One connection asks new questions in a tenant of so many chunks, all of which the caller "
        f"may read, and in a tenant of {_SMALL_CHUNKS:,} chunks in the same index, beside the "
        "larger tenants of the rows above. Rows are inserted in batches without the writer, from "
        "generated passages whose vectors are rotated a little each time. A tenant that outgrows "
        "the shared partition gets its own, with its indexes, before the questions. The bytes on "
        "disk are the whole database divided by its chunks."
    )
    rows = [
        (f"{size:,}", *cost.row(), f"{bytes_a_chunk[size]:,.0f}") for size, cost in grown.items()
    ]
    rows += [(f"1,000 beside {size:,}", *cost.row(), "") for size, cost in beside.items()]
    rows_table = table(("chunks", *probe.HEAD, "bytes a chunk on disk"), rows)
    return f"{notes}\n\n{rows_table}\n\n{picture}"
