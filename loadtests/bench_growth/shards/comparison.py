"""Tenants in a gateway's memory: loading, size, new questions and edits, beside PostgreSQL."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

import uvloop

from loadtests.bench.frame import SETTINGS
from loadtests.bench.section import Bar, Section
from loadtests.bench_growth import caller, chunks, generated_corpus, probe, residence
from loadtests.bench_growth.options import GrowthRun
from loadtests.bench_growth.probe import Probe, RequestCost
from loadtests.bench_growth.shards import edits, page, shard_size
from loadtests.bench_growth.shards.edits import EditDifference, Editor
from loadtests.bench_growth.shards.page import BARE, SHARDS, WITHOUT, ShardFigures
from loadtests.load import closed_loop
from loadtests.servers import memory, service
from loadtests.servers.service import Service

_FIRST, _FIRST_CHUNKS = "first", 1_000  # the tenant that warms each gateway up
_WARM_UP = 50
_EDITS_WARM_UP = 3
_TURNS = 5

# The targets.
_P50_CHUNKS, _P50_MS_MAX = 10_000, 1.5
_CHUNK_BYTES_MAX = 2_000.0
_EDIT_MS_MAX = 1.5


def measure(run: GrowthRun) -> Section:
    by_size: dict[int, ShardFigures] = {}
    questions = generated_corpus.questions()  # for the first tenant
    with (
        service.nearhit({**SETTINGS, **residence.WITHOUT_SHARDS}) as without,
        run.console.status("filling") as status,
    ):
        chunks.fill(without, {_FIRST: _FIRST_CHUNKS})
        for size in run.options.shards:
            status.update(f"{size:,} chunks in memory")
            chunks.fill(without, {_tenant(size): size})
            # A gateway for each size: its memory holds nothing of the other sizes.
            with service.beside(without, {**SETTINGS, **residence.WITH_SHARDS}) as shards:
                _warm(shards, questions)
                by_size[size] = _measured(run, without, shards, size)
    return Section(
        title="Shards",
        text=page.text(by_size, turns=_TURNS, edits=run.options.edits),
        figures={str(size): asdict(figures) for size, figures in by_size.items()},
        bars=list(bars(by_size)),
    )


def bars(by_size: Mapping[int, ShardFigures]) -> Iterator[Bar]:
    """The target of a new question is for one size alone; without it there is none."""
    if _P50_CHUNKS in by_size:
        p50_ms = by_size[_P50_CHUNKS].new[SHARDS].p50_ms
        yield Bar(f"P50 ms of a new question, {_P50_CHUNKS:,} chunks", p50_ms, at_most=_P50_MS_MAX)
    shard_bytes = max(figures.shard_bytes for figures in by_size.values())
    yield Bar(
        "bytes a chunk, of a shard, the most of all sizes", shard_bytes, at_most=_CHUNK_BYTES_MAX
    )
    largest = max(by_size)
    yield Bar(
        f"bytes a chunk, of the process, {largest:,} chunks",
        by_size[largest].process_bytes,
        at_most=_CHUNK_BYTES_MAX,
    )
    more_ms = max(figures.edit.more_ms for figures in by_size.values())
    yield Bar(
        "ms that an edit costs more with shards, the most of all sizes",
        more_ms,
        at_most=_EDIT_MS_MAX,
    )


def _warm(shards: Service, questions: Iterator[str]) -> None:
    """Load another tenant, so that the process has all memory that does not depend on a tenant."""
    requests = map(caller.of(shards, _FIRST), questions)
    residence.load(shards, requests)
    probe.warm(shards, requests, _WARM_UP)


def _measured(run: GrowthRun, without: Service, shards: Service, size: int) -> ShardFigures:
    requests = map(caller.of(shards, _tenant(size)), generated_corpus.questions())
    before_mb = memory.megabytes([shards.pid])
    load_s = residence.load(shards, requests)
    if load_s is None:
        raise ValueError(f"{size:,} chunks are too many for a gateway's memory")
    loaded_mb = memory.megabytes([shards.pid])
    return ShardFigures(
        load_s=load_s,
        shard_bytes=shard_size.size_bytes(without.database_url, _tenant(size), size) / size,
        process_bytes=(loaded_mb - before_mb) * 2**20 / size,
        new=_new_questions(run, without, shards, size),
        edit=_edits(run, without, shards, size),
    )


def _new_questions(
    run: GrowthRun, without: Service, shards: Service, size: int
) -> Mapping[str, RequestCost]:
    """The cost of the same new questions to the gateways and to the bare app, by name."""
    keys = {
        SHARDS: caller.new_key(shards, _tenant(size), "asks-with-shards"),
        WITHOUT: caller.new_key(without, _tenant(size), "asks-without"),
    }
    search = caller.asking(shards, keys[SHARDS])("what does the bare app answer")
    (answer,) = uvloop.run(closed_loop.send_all(shards.url, [search], connections=1))
    with service.bare(answer.body) as (url, pid):
        servers = {SHARDS: shards, WITHOUT: without, BARE: replace(shards, url=url, pid=pid)}
        probes = {
            name: Probe(
                server,
                map(
                    caller.asking(server, keys.get(name, keys[SHARDS])),
                    generated_corpus.questions(),
                ),
            )
            for name, server in servers.items()
        }
        for each in probes.values():
            probe.warm(each.gateway, each.requests, _WARM_UP)
        costs = probe.take_in_turns(probes, seconds=run.options.seconds, turns=_TURNS)
    assert not any(cost.hits for cost in costs.values()), "each question is asked once"
    return costs


def _edits(run: GrowthRun, without: Service, shards: Service, size: int) -> EditDifference:
    editors = (
        Editor(shards, _tenant(size), "edits-with-shards"),
        Editor(without, _tenant(size), "edits-without"),
    )
    edits.compare(*editors, edits=_EDITS_WARM_UP)
    return edits.compare(*editors, edits=run.options.edits)


def _tenant(size: int) -> str:
    return f"of-{size}"
