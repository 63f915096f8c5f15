"""Costs by size as a table: one row a size."""

from collections.abc import Mapping
from typing import Any

from loadtests.bench.section import Columns, Section, figure_table

Figures = Mapping[str, float]
Series = Mapping[str, Mapping[int, Figures]]
"""By name, then by size: what was measured, by the names of the figures in JSON."""

_COSTS: Columns = {
    "per_second": ("requests/s", ",.0f"),
    "hits": ("hits", ".2f"),
    "p50_ms": ("P50 ms", ".2f"),
    "p99_ms": ("P99 ms", ".2f"),
    "gateway_us": ("gateway µs", ",.0f"),
    "database_us": ("PostgreSQL µs", ",.0f"),
    "redis_us": ("Redis µs", ",.0f"),
    "gateway_mb": ("gateway MB", ",.0f"),
    "database_mb": ("PostgreSQL MB", ",.0f"),
    "redis_mb": ("Redis MB", ",.0f"),
}


def rows(head: str, series: Series, columns: Columns) -> str:
    """A table; a figure that a size lacks is empty. head: of the sizes."""
    sizes = {
        f"{size:,}, {name}" if name else f"{size:,}": figures
        for name, by_size in series.items()
        for size, figures in by_size.items()
    }
    return figure_table(head, sizes, columns)


def section(
    title: str,
    notes: str,
    series: Series,
    *,
    head: str,
    more: Columns | None = None,
    figures: Mapping[str, Any] | None = None,
) -> Section:
    """A table of costs, with more columns behind them.

    head: of the sizes. figures: in JSON, if not those of the only series by size.
    """
    table = rows(head, series, {**_COSTS, **(more or {})})
    return Section(title, f"{notes}\n\n{table}", dict(figures or as_json(series[""])), [])


def as_json(by_size: Mapping[int, Figures]) -> dict[str, Figures]:
    return {str(size): figures for size, figures in by_size.items()}
