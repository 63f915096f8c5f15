"""What a deployment of many tenants needs, computed from the figures of the other sections.

Pure: it measures nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from loadtests.bench.section import Section, table

_MEASURED = ("chunks", "tenants", "entries", "writers")


@dataclass(frozen=True, slots=True)
class DeploymentPlan:
    """The planned load; the shares and rates are assumptions, which an operator replaces.

    requests_per_s: of all tenants together, at the busiest time of the day.
    busy:           planned use of a processor at that time.
    hot:            share of the chunks that are searched at that time and have to be in memory.
    """

    chunks: int = 100_000_000
    tenants: int = 100_000
    regions: int = 3
    requests_per_s: float = 10_000
    hits: float = 0.7
    writes_per_s: float = 200
    answers_a_tenant: int = 100
    busy: float = 0.5
    hot: float = 0.2


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
    figures = {name: sections[name].figures for name in _MEASURED}
    unit, plan = units(figures), DeploymentPlan()
    rows = list(_rows(plan, unit))
    return Section(
        title="A large deployment",
        text=_text(plan, rows),
        figures={what: value for what, _, value, _ in rows},
        bars=[],
    )


def units(figures: Mapping[str, Mapping[str, Any]]) -> Unit:
    """Costs at the largest measured size; slopes between the smallest and the largest."""
    chunks, tenants, entries = figures["chunks"], figures["tenants"], figures["entries"]
    writers = figures["writers"]
    return Unit(
        chunk_bytes=_last(chunks["bytes_a_chunk"]),
        new=_last(chunks["small"]),
        repeated=_last(tenants["repeated"]),
        answer_redis_bytes=_slope(entries, "redis_mb"),
        answer_gateway_bytes=_slope(entries, "gateway_mb"),
        writes_per_s=max(
            figures_of_writers.get("writes_per_second", 0.0)
            for figures_of_writers in writers.values()
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


Row = tuple[str, str, float, str]


def _rows(plan: DeploymentPlan, unit: Unit) -> Iterator[Row]:
    """Name, formula, value and unit."""
    new_per_s = plan.requests_per_s * (1 - plan.hits)
    hits_per_s = plan.requests_per_s * plan.hits

    def cores(server: str) -> float:
        spent_us = new_per_s * unit.new[server] + hits_per_s * unit.repeated[server]
        return spent_us / 1e6 / plan.busy

    mixed = "(new/s · µs of a new one + hits/s · µs of a repeat) / 10⁶ / busy"
    yield "disk", "chunks · bytes a chunk on disk", plan.chunks * unit.chunk_bytes / 1e9, "GB"
    hot_bytes = plan.hot * plan.chunks * unit.chunk_bytes
    yield "PostgreSQL's memory", "hot · disk", hot_bytes / 1e9, "GB"
    yield "gateways", mixed, cores("gateway_us"), "cores"
    yield "PostgreSQL", mixed, cores("database_us"), "cores"
    yield "Redis", mixed, cores("redis_us"), "cores"
    statements = plan.requests_per_s + new_per_s
    what = "requests/s + new/s: each reads the revision, new ones search"
    yield "statements at most", what, statements, "a second"
    answers = plan.tenants * plan.answers_a_tenant
    yield (
        "Redis's memory",
        "tenants · answers of each · bytes of one",
        answers * unit.answer_redis_bytes / 1e9,
        "GB",
    )
    yield (
        "gateways' memory, all answers in each",
        "tenants · answers of each · bytes of one",
        answers * unit.answer_gateway_bytes / 1e9,
        "GB",
    )
    share = plan.writes_per_s / unit.writes_per_s if unit.writes_per_s else float("inf")
    yield "gateways that write all day", "writes/s / writes/s of one", float(ceil(share)), "workers"


def _text(plan: DeploymentPlan, rows: list[Row]) -> str:
    assumed = (
        f"Computed, not measured: {plan.chunks:,} chunks of {plan.tenants:,} tenants, "
        f"{plan.requests_per_s:,.0f} requests per second at the busiest time, {plan.hits:.0%} of "
        f"them repeats, {plan.writes_per_s:,.0f} writes per second, {plan.answers_a_tenant} live "
        f"answers a tenant, {plan.hot:.0%} of the chunks in use, processors {plan.busy:.0%} busy. "
        f"All {plan.regions} regions together. "
        "A new question costs as much as in a tenant of 1,000 chunks beside the largest index "
        "above, without shards; a repeat as much as with the most tenants; an answer takes the "
        "memory's growth from the smallest to the largest number, divided by their difference."
    )
    cells = [(what, formula, f"{value:,.0f} {of}") for what, formula, value, of in rows]
    return f"{assumed}\n\n{table(('what', 'formula', 'how much'), cells)}"
