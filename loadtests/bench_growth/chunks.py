"""Searches without a cache: in a tenant that grows, and in a small one beside it.

Two gateways on one database are asked in turns: one keeps tenants in memory as shards, the other
searches PostgreSQL.
"""

from collections.abc import Sequence
from typing import Any

import asyncpg
import uvloop

from loadtests.bench.frame import Run
from loadtests.bench.section import Section, rows_section
from loadtests.bench_growth import generated_corpus, probe, residence
from loadtests.bench_growth.probe import RequestCost
from loadtests.bench_index import corpus
from loadtests.servers import service
from loadtests.servers.service import Service

_SMALL, _SMALL_CHUNKS = "small", 1_000
_SHARDS, _WITHOUT = "with shards", "without"  # the gateways, as the page names them
_BYTES = "SELECT pg_database_size(current_database())"
_COLUMNS = {"disk_bytes": ("bytes a chunk on disk", ",.0f")}


def measure(run: Run) -> Section:
    sizes = run.sizes(1_000, 10_000, 100_000, 1_000_000, quick=(1_000, 5_000))
    grown: dict[str, RequestCost] = {}
    beside: dict[str, RequestCost] = {}
    in_memory: list[int] = []
    with (
        service.nearhit(residence.WITHOUT_SHARDS) as without,
        service.beside(without, residence.WITH_SHARDS) as shards,
        run.console.status("filling") as status,
    ):
        gateways = {_SHARDS: shards, _WITHOUT: without}
        fill(without, {_SMALL: _SMALL_CHUNKS})
        small = probe.new_questions(gateways, _SMALL)
        total = _SMALL_CHUNKS
        for size in sizes:
            status.update(f"{size:,} chunks")
            fill(without, {f"of-{size}": size})
            total += size
            disk_bytes = uvloop.run(_value(without.database_url, _BYTES)) / total
            large = probe.new_questions(gateways, f"of-{size}")
            if residence.load(shards, large[_SHARDS].requests) is not None:
                in_memory.append(size)
            for name, cost in probe.take_new(large, seconds=probe.seconds(run)).items():
                grown[f"{size:,}, {name}"] = {**cost, "disk_bytes": disk_bytes}
            assert residence.load(shards, small[_SHARDS].requests) is not None, "it is small"
            for name, cost in probe.take_new(small, seconds=probe.seconds(run)).items():
                beside[f"{_SMALL_CHUNKS:,} beside {size:,}, {name}"] = cost
    return rows_section(
        "Chunks",
        _notes(sizes, in_memory),
        "chunks, gateway",
        {**grown, **beside},
        {**probe.COLUMNS, **_COLUMNS},
        in_memory=in_memory,
    )


def fill(gateway: Service, tenants: dict[str, int]) -> None:
    """New tenants with so many chunks each; vacuumed, so that it does not happen later."""
    passages, seed = generated_corpus.passages(), generated_corpus.SEED
    uvloop.run(corpus.fill(gateway.database_url, passages, tenants, seed=seed))
    uvloop.run(_value(gateway.database_url, "VACUUM ANALYZE"))


async def _value(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url)
    value = await connection.fetchval(statement)
    await connection.close()
    return value


def _notes(sizes: Sequence[int], in_memory: Sequence[int]) -> str:
    above = [size for size in sizes if size not in in_memory]
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
        f"A tenant with more than {residence.CHUNKS_MAX:,} chunks (`NEARHIT_SHARD_BYTES_MAX` by "
        f"1,342) is not loaded: PostgreSQL answers both gateways{here}."
    )
