"""Searches without a cache: in a tenant that grows, and in a small one beside it.

Two gateways on one database are asked in turns: one keeps tenants in memory as shards, the other
searches PostgreSQL.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import asyncpg
import uvloop

from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.load import closed_loop
from loadtests.scenarios import probe
from loadtests.servers import metrics, processes, service
from loadtests.servers.service import Service
from loadtests.servers.waiting import until
from loadtests.workload import tenant_client

_SMALL, _SMALL_CHUNKS = "small", 1_000
_SHARDS, _WITHOUT = "with shards", "without"  # the gateways, as the page names them
_BYTES = "SELECT pg_database_size(current_database())"
_COLUMNS = {
    "load_s": ("seconds to load", ".2f"),
    "shard_bytes": ("bytes a chunk, shard", ",.0f"),
    "process_bytes": ("bytes a chunk, process", ",.0f"),
    "disk_bytes": ("bytes a chunk on disk", ",.0f"),
}
CHUNKS_MAX = 200_000  # as by default
# Of the two gateways that are compared; the bytes are as by default.
WITH_SHARDS: Mapping[str, str] = {
    "NEARHIT_SHARD_BYTES_MAX": "268435456",
}
WITHOUT_SHARDS: Mapping[str, str] = {"NEARHIT_SHARD_BYTES_MAX": "0"}

_SEARCHES = 3  # within a minute, after which a tenant is loaded
_LOAD_S_MAX = 300.0
_POLL_S = 0.02
# The targets.
_P50_CHUNKS, _P50_MS_MAX = 10_000, 1.5
_CHUNK_BYTES_MAX = 2_000.0

Row: TypeAlias = Mapping[str, float]
"""By the names of the columns. Of a tenant that is in memory, also how it came there."""


def measure(run: Run) -> Section:
    sizes = run.sizes(1_000, 10_000, 100_000, 1_000_000, quick=(1_000, 5_000))
    grown: dict[int, Mapping[str, Row]] = {}
    beside: dict[int, Mapping[str, Row]] = {}
    settings = {**SETTINGS, **WITHOUT_SHARDS}
    with service.nearhit(settings) as without, run.console.status("filling") as status:
        _fill(without, {_SMALL: _SMALL_CHUNKS})
        of_small = _questions()
        for size in sizes:
            status.update(f"{size:,} chunks")
            _fill(without, {_tenant(size): size})
            disk_bytes = uvloop.run(_value(without.database_url, _BYTES))
            # A gateway for each size: its memory holds nothing of the other sizes.
            with service.beside(without, {**SETTINGS, **WITH_SHARDS}) as shards:
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
    load_s = load(shards, probes[_SHARDS].requests)
    loaded_mb = processes.megabytes([shards.pid])
    rows: dict[str, Row] = {**probe.take_new(probes, seconds=probe.seconds(run))}
    if load_s is not None:
        rows[_SHARDS] = {
            **rows[_SHARDS],
            "load_s": load_s,
            "shard_bytes": (_shard_bytes(shards) - before_bytes) / chunks,
            "process_bytes": (loaded_mb - before_mb) * 2**20 / chunks,
        }
    return rows


def _shard_bytes(gateway: Service) -> float:
    """What counts against `NEARHIT_SHARD_BYTES_MAX`, words too, once all shards are counted.

    The gateway counts now and then.
    """
    loaded = _loads(gateway, "loaded")
    until(
        lambda: metrics.read(gateway.url, "nearhit_resident_shards") >= loaded,
        "the gateway does not count its shards",
    )
    return metrics.read(gateway.url, "nearhit_resident_shards_size_bytes")


def _questions() -> Mapping[str, Iterator[str]]:
    """The same for both gateways."""
    return {name: probe.questions() for name in (_SHARDS, _WITHOUT)}


def _tenant(size: int) -> str:
    return f"of-{size}"


def _fill(gateway: Service, tenants: dict[str, int]) -> None:
    """Vacuumed, so that it does not happen later. No caller gets another one's answers."""
    probe.fill(gateway, tenants)
    for tenant in tenants:
        key = tenant_client.new_key(gateway, tenant, "admin", roles=["admin"])
        with tenant_client.connected(gateway.url, key) as admin:
            admin.share_no_answers()
    uvloop.run(_value(gateway.database_url, "VACUUM ANALYZE"))


async def _value(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url)
    value = await connection.fetchval(statement)
    await connection.close()
    return value


def load(gateway: Service, requests: Iterator[bytes]) -> float | None:
    """The seconds from the third search of a tenant until the gateway's memory holds it.

    requests: questions of the tenant that nobody has asked.
    0 if the memory holds it already; None if it has too many chunks or bytes, so that PostgreSQL
    answers.
    Raises `TimeoutError` after five minutes.
    """
    _search(gateway, requests, _SEARCHES - 1)
    unsuitable = _loads(gateway, "unsuitable")
    started_s = ended_s = time.monotonic()
    while True:
        ended_loads = _ended_loads(gateway)
        if _is_resident(gateway, requests):
            return ended_s - started_s
        if _loads(gateway, "unsuitable") > unsuitable:
            return None
        # One partition may have been loaded of two: a tenant's, and the public one.
        while _ended_loads(gateway) == ended_loads:
            if time.monotonic() > started_s + _LOAD_S_MAX:
                raise TimeoutError("the gateway did not load the tenant")
            time.sleep(_POLL_S)
        ended_s = time.monotonic()


def _is_resident(gateway: Service, requests: Iterator[bytes]) -> bool:
    """Whether the next request is answered from a shard."""
    before = metrics.statements([gateway.url])["search_confirmation.confirm"]
    _search(gateway, requests, 1)
    return metrics.statements([gateway.url])["search_confirmation.confirm"] > before


def _search(gateway: Service, requests: Iterator[bytes], count: int) -> None:
    some = list(islice(requests, count))
    answers = uvloop.run(closed_loop.send_all(gateway.url, some, connections=1))
    assert not any(answer.is_hit for answer in answers), "a cached answer needs no shard"


def _ended_loads(gateway: Service) -> float:
    return _loads(gateway, "loaded") + _loads(gateway, "unsuitable")


def _loads(gateway: Service, event: str) -> float:
    return metrics.read(gateway.url, "nearhit_shard_events_total", event=event)


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
        f"A tenant with more than {CHUNKS_MAX:,} chunks (`NEARHIT_SHARD_BYTES_MAX` by "
        f"1,342) is not loaded: PostgreSQL answers both gateways{here}."
    )
