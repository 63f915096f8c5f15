"""Tenants in a gateway's memory: loading, size (by Nearhit's own count), questions."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

import uvloop

from index.resident.building import loading
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, figure_table
from loadtests.bench_growth import chunks, generated_corpus, probe, residence
from loadtests.bench_growth.probe import Probe, RequestCost
from loadtests.bench_index import corpus
from loadtests.load import closed_loop
from loadtests.servers import processes, service
from loadtests.servers.service import Service

_FIRST, _FIRST_CHUNKS = "first", 1_000  # the tenant that warms each gateway up

# The targets.
_P50_CHUNKS, _P50_MS_MAX = 10_000, 1.5
_CHUNK_BYTES_MAX = 2_000.0

# The servers, as the page and the JSON name them.
SHARDS, WITHOUT, BARE = "with shards", "without", "bare app"

_LOADED = {
    "load_s": ("seconds to load", ".2f"),
    "shard_bytes": ("bytes a chunk, shard", ",.0f"),
    "process_bytes": ("bytes a chunk, process", ",.0f"),
}
_NEW = {
    "per_second": ("requests/s", ",.0f"),
    "p50_ms": ("P50 ms", ".2f"),
    "p99_ms": ("P99 ms", ".2f"),
    "p50_to_bare": ("P50 to the bare app's", ".1f"),
    "gateway_us": ("gateway µs", ",.0f"),
    "database_us": ("PostgreSQL µs", ",.0f"),
}


@dataclass(frozen=True, slots=True)
class ShardFigures:
    """Of one size of tenant.

    load_s: from the third search until the tenant is in memory.
    shard_bytes: for each chunk, as the gateway counts them. process_bytes: for each chunk, what the
    gateway's process grew by.
    new: the cost of a new question by server.
    """

    load_s: float
    shard_bytes: float
    process_bytes: float
    new: Mapping[str, RequestCost]


def measure(run: Run) -> Section:
    by_size: dict[int, ShardFigures] = {}
    questions = generated_corpus.questions()  # for the first tenant
    with (
        service.nearhit({**SETTINGS, **residence.WITHOUT_SHARDS}) as without,
        run.console.status("filling") as status,
    ):
        chunks.fill(without, {_FIRST: _FIRST_CHUNKS})
        for size in run.sizes(1_000, 10_000, 30_000, 100_000, quick=(1_000, 10_000)):
            status.update(f"{size:,} chunks in memory")
            chunks.fill(without, {_tenant(size): size})
            # A gateway for each size: its memory holds nothing of the other sizes.
            with service.beside(without, {**SETTINGS, **residence.WITH_SHARDS}) as shards:
                # Another tenant first: the process then has all that depends on no tenant.
                requests = map(probe.asking(shards, _FIRST), questions)
                residence.load(shards, requests)
                probe.warm(Probe(shards, requests))
                by_size[size] = _measured(run, without, shards, size)
    return Section(
        title="Shards",
        text=text(by_size),
        figures={str(size): asdict(figures) for size, figures in by_size.items()},
        bars=list(bars(by_size)),
    )


def bars(by_size: Mapping[int, ShardFigures]) -> Iterator[Bar]:
    """The target of a new question is for one size alone; without it there is none."""
    if _P50_CHUNKS in by_size:
        p50_ms = by_size[_P50_CHUNKS].new[SHARDS]["p50_ms"]
        yield Bar(f"P50 ms of a new question, {_P50_CHUNKS:,} chunks", p50_ms, at_most=_P50_MS_MAX)
    shard_bytes = max(figures.shard_bytes for figures in by_size.values())
    what = "bytes a chunk, of a shard, the most of all sizes"
    yield Bar(what, shard_bytes, at_most=_CHUNK_BYTES_MAX)
    largest = max(by_size)
    what = f"bytes a chunk, of the process, {largest:,} chunks"
    yield Bar(what, by_size[largest].process_bytes, at_most=_CHUNK_BYTES_MAX)


def _measured(run: Run, without: Service, shards: Service, size: int) -> ShardFigures:
    requests = map(probe.asking(shards, _tenant(size)), generated_corpus.questions())
    before_mb = processes.megabytes([shards.pid])
    load_s = residence.load(shards, requests)
    if load_s is None:
        raise ValueError(f"{size:,} chunks are too many for a gateway's memory")
    loaded_mb = processes.megabytes([shards.pid])
    shard_bytes = uvloop.run(_shard_bytes(without.database_url, _tenant(size), size))
    return ShardFigures(
        load_s=load_s,
        shard_bytes=shard_bytes / size,
        process_bytes=(loaded_mb - before_mb) * 2**20 / size,
        new=_new_questions(run, without, shards, size),
    )


def _new_questions(
    run: Run, without: Service, shards: Service, size: int
) -> Mapping[str, RequestCost]:
    """The cost of the same new questions to the gateways and to the bare app, by name."""
    probes = probe.new_questions({SHARDS: shards, WITHOUT: without, BARE: shards}, _tenant(size))
    search = next(probes[BARE].requests)
    (answer,) = uvloop.run(closed_loop.send_all(shards.url, [search], connections=1))
    with service.bare(answer.body) as (url, pid):
        bare = replace(probes[BARE], gateway=replace(shards, url=url, pid=pid))
        return probe.take_new({**probes, BARE: bare}, seconds=probe.seconds(run))


async def _shard_bytes(database_url: str, tenant: str, chunks_of_tenant: int) -> int:
    """What a shard of the tenant takes in memory, as the gateway counts it against its budget."""
    async with corpus.opened(database_url) as database:
        shard = await loading.load(database, tenant, chunks_max=chunks_of_tenant)
    assert shard is not None, "it has no more chunks than that"
    assert shard.rows == chunks_of_tenant, "it has no fewer either"
    return shard.size_bytes


def _tenant(size: int) -> str:
    return f"of-{size}"


def text(by_size: Mapping[int, ShardFigures]) -> str:
    loads = {f"{size:,}": asdict(figures) for size, figures in by_size.items()}
    new = {
        f"{size:,}, {name}": {**cost, "p50_to_bare": cost["p50_ms"] / figures.new[BARE]["p50_ms"]}
        for size, figures in by_size.items()
        for name, cost in figures.new.items()
    }
    return f"""\
A [shard](../design/answering.md#from-memory) is a tenant in a gateway's memory. For each size, a \
new gateway loads one tenant with so many chunks. The time is from the third search, which begins \
the loading, until the tenant is in memory; it is read every 20 ms. The bytes of a shard are those \
that count against `NEARHIT_SHARD_BYTES_MAX`. Those of the process are the growth of its memory, \
including what the allocator keeps after loading.

{figure_table("chunks", loads, _LOADED)}

**New questions.** One connection in a closed loop asks in {probe.TURNS} turns each: the gateway \
with the shard, a gateway without shards on the same database (`NEARHIT_SHARD_BYTES_MAX=0`), and a \
bare Starlette app that parses the body and returns the bytes of such an answer.

{figure_table("chunks, server", new, _NEW)}"""
