"""What a deployment of many tenants needs, computed from the figures of the other sections.

Pure: it measures nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from loadtests.bench.section import Section, table

_MEASURED = ("chunks", "tenants", "entries", "writers")

# The planned load, all tenants together; assumptions, which an operator replaces.
_CHUNKS, _TENANTS, _REGIONS = 100_000_000, 100_000, 3
_REQUESTS_PER_S, _HITS = 10_000, 0.7  # at the busiest time of the day
_WRITES_PER_S = 200
_ANSWERS_A_TENANT = 100
_BUSY = 0.5  # planned use of a processor at that time
_HOT = 0.2  # of the chunks are searched at that time and have to be in memory
_MIXED = "(new/s · µs of a new one + hits/s · µs of a repeat) / 10⁶ / busy"
_ANSWERS = "tenants · answers of each · bytes of one"


@dataclass(frozen=True, slots=True)
class Unit:
    """The cost of one unit of each kind, from the last figures."""

    chunk_bytes: float
    new: Mapping[str, float]
    repeated: Mapping[str, float]
    answer_redis_bytes: float
    answer_gateway_bytes: float
    writes_per_s: float


def section(sections: Mapping[str, Section]) -> Section:
    """Raises `ValueError` if one of the other sections was never measured."""
    missing = [name for name in _MEASURED if name not in sections]
    if missing:
        raise ValueError(f"measure {', '.join(missing)} first")
    rows = _rows(units({name: sections[name].figures for name in _MEASURED}))
    assumed = (
        f"Computed, not measured: {_CHUNKS:,} chunks of {_TENANTS:,} tenants, "
        f"{_REQUESTS_PER_S:,} requests per second at the busiest time, {_HITS:.0%} of "
        f"them repeats, {_WRITES_PER_S:,} writes per second, {_ANSWERS_A_TENANT} live "
        f"answers a tenant, {_HOT:.0%} of the chunks in use, processors {_BUSY:.0%} busy. "
        f"All {_REGIONS} regions together. "
        "A new question costs as much as in a tenant of 1,000 chunks beside the largest index "
        "above, without shards; a repeat as much as with the most tenants; an answer takes the "
        "memory's growth from the smallest to the largest number, divided by their difference."
    )
    cells = [(what, formula, f"{value:,.0f} {of}") for what, formula, value, of in rows]
    return Section(
        title="A large deployment",
        text=f"{assumed}\n\n{table(('what', 'formula', 'how much'), cells)}",
        figures={what: value for what, _, value, _ in rows},
        bars=[],
    )


def units(figures: Mapping[str, Mapping[str, Any]]) -> Unit:
    """Costs at the largest measured size; slopes between the smallest and the largest."""
    chunks, tenants, entries = figures["chunks"], figures["tenants"], figures["entries"]
    return Unit(
        chunk_bytes=_last(chunks["bytes_a_chunk"]),
        new=_last(chunks["small"]),
        repeated=_last(tenants["repeated"]),
        answer_redis_bytes=_slope(entries, "redis_mb"),
        answer_gateway_bytes=_slope(entries, "gateway_mb"),
        writes_per_s=max(
            of_writers.get("writes_per_second", 0.0) for of_writers in figures["writers"].values()
        ),
    )


def _last(by_size: Mapping[str, Any]) -> Any:
    return by_size[max(by_size, key=int)]


def _slope(by_size: Mapping[str, Mapping[str, float]], field: str) -> float:
    """Bytes per additional answer; 0 if the memory shrank, as it may with few answers."""
    sizes = sorted(by_size, key=int)
    first, last = sizes[0], sizes[-1]
    grown_mb = by_size[last][field] - by_size[first][field]
    return max(0.0, grown_mb * 2**20 / (int(last) - int(first)))


def _rows(unit: Unit) -> list[tuple[str, str, float, str]]:
    """Name, formula, value and unit."""
    new_per_s, hits_per_s = _REQUESTS_PER_S * (1 - _HITS), _REQUESTS_PER_S * _HITS
    answers, disk_gb = _TENANTS * _ANSWERS_A_TENANT, _CHUNKS * unit.chunk_bytes / 1e9
    share = _WRITES_PER_S / unit.writes_per_s if unit.writes_per_s else float("inf")

    def cores(server: str) -> float:
        spent_us = new_per_s * unit.new[server] + hits_per_s * unit.repeated[server]
        return spent_us / 1e6 / _BUSY

    def answers_gb(answer_bytes: float) -> float:
        return answers * answer_bytes / 1e9

    statements = "requests/s + new/s: each reads the revision, new ones search"
    gateways_gb = answers_gb(unit.answer_gateway_bytes)
    return [
        ("disk", "chunks · bytes a chunk on disk", disk_gb, "GB"),
        ("PostgreSQL's memory", "hot · disk", _HOT * disk_gb, "GB"),
        ("gateways", _MIXED, cores("gateway_us"), "cores"),
        ("PostgreSQL", _MIXED, cores("database_us"), "cores"),
        ("Redis", _MIXED, cores("redis_us"), "cores"),
        ("statements at most", statements, _REQUESTS_PER_S + new_per_s, "a second"),
        ("Redis's memory", _ANSWERS, answers_gb(unit.answer_redis_bytes), "GB"),
        ("gateways' memory, all answers in each", _ANSWERS, gateways_gb, "GB"),
        ("gateways that write all day", "writes/s / writes/s of one", ceil(share), "workers"),
    ]
