"""Searches without a cache: in a tenant that grows, and in a small one beside it.

Two gateways on one database are asked in turns: one keeps tenants in memory as shards, the other
searches PostgreSQL.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import asyncpg
import uvloop

from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench_growth import generated_corpus, probe, residence
from loadtests.bench_index import corpus
from loadtests.servers import metrics, processes, service
from loadtests.servers.service import Service
from loadtests.servers.waiting import until

_SMALL, _SMALL_CHUNKS = "small", 1_000
_SHARDS, _WITHOUT = "with shards", "without"  # the gateways, as the page names them
_BYTES = "SELECT pg_database_size(current_database())"
_SHARD_BYTES = "nearhit_resident_shards_size_bytes"
_COLUMNS = {
    "load_s": ("seconds to load", ".2f"),
    "shard_bytes": ("bytes a chunk, shard", ",.0f"),
    "process_bytes": ("bytes a chunk, process", ",.0f"),
    "disk_bytes": ("bytes a chunk on disk", ",.0f"),
}
# The targets.
_P50_CHUNKS, _P50_MS_MAX = 10_000, 1.5
_CHUNK_BYTES_MAX = 2_000.0

Row: TypeAlias = Mapping[str, float]
"""By the names of the columns. Of a tenant that is in memory, also how it came there."""


def measure(run: Run) -> Section:
    sizes = run.sizes(1_000, 10_000, 100_000, 1_000_000, quick=(1_000, 5_000))
    grown: dict[int, Mapping[str, Row]] = {}
    beside: dict[int, Mapping[str, Row]] = {}
    settings = {**SETTINGS, **residence.WITHOUT_SHARDS}
    with service.nearhit(settings) as without, run.console.status("filling") as status:
        _fill(without, {_SMALL: _SMALL_CHUNKS})
        of_small = _questions()
        for size in sizes:
            status.update(f"{size:,} chunks")
            _fill(without, {_tenant(size): size})
            disk_bytes = uvloop.run(_value(without.database_url, _BYTES))
            # A gateway for each size: its memory holds nothing of the other sizes.
            with service.beside(without, {**SETTINGS, **residence.WITH_SHARDS}) as shards:
                gateways = {_SHARDS: shards, _WITHOUT: without}
                # The small tenant first: the process then has all that depends on no tenant.
                small = _asked(run, gateways, _SMALL, _SMALL_CHUNKS, of_small)
                large = _asked(run, gateways, _tenant(size), size, _questions())
            beside[size] = small
            chunks = _SMALL_CHUNKS + sum(each for each in sizes if each <= size)
            grown[size] = {
                name: {**row, "disk_bytes": disk_bytes / chunks} for name, row in large.items()
            }
    rows = {
        **{f"{size:,}, {name}": row for size in sizes for name, row in grown[size].items()},
        **{
            f"{_SMALL_CHUNKS:,} beside {size:,}, {name}": row
            for size in sizes
            for name, row in beside[size].items()
        },
    }
    targets = list(bars({size: of_size[_SHARDS] for size, of_size in grown.items()}))
    columns = {**probe.COLUMNS, **_COLUMNS}
    return rows_section("Chunks", _notes(grown), "chunks, gateway", rows, columns, targets)


def bars(by_size: Mapping[int, Row]) -> Iterator[Bar]:
    """by_size: with shards. The target of a new question is for one size alone."""
    if _P50_CHUNKS in by_size:
        p50_ms = by_size[_P50_CHUNKS]["p50_ms"]
        yield Bar(f"P50 ms of a new question, {_P50_CHUNKS:,} chunks", p50_ms, at_most=_P50_MS_MAX)
    loaded = {size: row for size, row in by_size.items() if "load_s" in row}
    if loaded:
        shard_bytes, largest = max(row["shard_bytes"] for row in loaded.values()), max(loaded)
        what = "bytes a chunk, of a shard, the most of all sizes"
        yield Bar(what, shard_bytes, at_most=_CHUNK_BYTES_MAX)
        what = f"bytes a chunk, of the process, {largest:,} chunks"
        yield Bar(what, loaded[largest]["process_bytes"], at_most=_CHUNK_BYTES_MAX)


def _asked(
    run: Run,
    gateways: Mapping[str, Service],
    tenant: str,
    chunks: int,
    questions: Mapping[str, Iterator[str]],
) -> Mapping[str, Row]:
    """The cost of new questions by gateway, once the tenant is in memory if it fits."""
    probes, shards = probe.new_questions(gateways, tenant, questions), gateways[_SHARDS]
    before_mb, before_bytes = processes.megabytes([shards.pid]), _shard_bytes(shards)
    load_s = residence.load(shards, probes[_SHARDS].requests)
    loaded_mb = processes.megabytes([shards.pid])
    rows: dict[str, Row] = {**probe.take_new(probes, seconds=probe.seconds(run))}
    if load_s is not None:
        until(lambda: _shard_bytes(shards) > before_bytes, "the gateway does not count its shards")
        rows[_SHARDS] = {
            **rows[_SHARDS],
            "load_s": load_s,
            "shard_bytes": (_shard_bytes(shards) - before_bytes) / chunks,
            "process_bytes": (loaded_mb - before_mb) * 2**20 / chunks,
        }
    return rows


def _shard_bytes(gateway: Service) -> float:
    """What counts against `NEARHIT_SHARD_BYTES_MAX`, as the gateway counts it now and then."""
    return metrics.read(gateway.url, _SHARD_BYTES)


def _questions() -> Mapping[str, Iterator[str]]:
    """The same for both gateways."""
    return {name: generated_corpus.questions() for name in (_SHARDS, _WITHOUT)}


def _tenant(size: int) -> str:
    return f"of-{size}"


def _fill(gateway: Service, tenants: dict[str, int]) -> None:
    """New tenants with so many chunks each; vacuumed, so that it does not happen later."""
    passages, seed = generated_corpus.passages(), generated_corpus.SEED
    uvloop.run(corpus.fill(gateway.database_url, passages, tenants, seed=seed))
    uvloop.run(_value(gateway.database_url, "VACUUM ANALYZE"))


async def _value(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url)
    value = await connection.fetchval(statement)
    await connection.close()
    return value


def _notes(grown: Mapping[int, Mapping[str, Row]]) -> str:
    above: Sequence[int] = [
        size for size, of_size in grown.items() if "load_s" not in of_size[_SHARDS]
    ]
    here = f", here at {above[0]:,} chunks and above" if above else ""
    return (
        "One connection asks new questions in a tenant of so many chunks, all of which the caller "
        f"may read, and in a tenant of {_SMALL_CHUNKS:,} chunks in the same index, beside the "
        "larger tenants of the rows above. Rows are inserted in batches without the writer, from "
        "generated passages whose vectors are rotated a little each time. A tenant that outgrows "
        "the shared partition gets its own, with its indexes, before the questions. The bytes on "
        "disk are the whole database divided by its chunks.\n"
        f"Two gateways on this database get the same questions in {probe.TURNS} turns each: one "
        "with [shards](../design/answering.md#from-memory), as by default, after "
        "it has loaded the tenant, and one without (`NEARHIT_SHARD_BYTES_MAX=0`).\n"
        "The gateway with shards is a new one for each size. A load takes from the third search, "
        "which begins it, until the tenant is in memory. The bytes of a shard are those that "
        "count against `NEARHIT_SHARD_BYTES_MAX`; those of the process are the growth of its "
        "memory, including what the allocator keeps after loading.\n"
        f"A tenant with more than {residence.CHUNKS_MAX:,} chunks (`NEARHIT_SHARD_BYTES_MAX` by "
        f"1,342) is not loaded: PostgreSQL answers both gateways{here}."
    )
