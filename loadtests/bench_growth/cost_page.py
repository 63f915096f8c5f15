"""Costs by size as a table and as plots: one row, and one point of each line, a size."""

from collections.abc import Mapping

from loadtests.bench.section import Columns, figure_table
from loadtests.bench_growth import plot
from loadtests.bench_growth.options import GrowthRun

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


def rows(head: str, series: Series, columns: Columns = _COSTS) -> str:
    """A table; a figure that a size lacks is empty. head: of the sizes."""
    sizes = {
        f"{size:,}, {name}" if name else f"{size:,}": figures
        for name, by_size in series.items()
        for size, figures in by_size.items()
    }
    return figure_table(head, sizes, columns)


def costs(head: str, series: Series, more: Columns | None = None) -> str:
    """A table of costs, with more columns behind them."""
    return rows(head, series, {**_COSTS, **(more or {})})


def picture(
    run: GrowthRun,
    name: str,
    xlabel: str,
    series: Series,
    panels: Mapping[str, Mapping[str, tuple[str, str]]],
    *,
    log: bool = True,
) -> str:
    """The Markdown of a plot of a panel each unit. panels: each line's series and figure."""
    sizes = list(next(iter(series.values())))
    return plot.lines(
        run.pictures / f"growth-{name}.svg",
        sizes,
        {
            unit: {
                label: [series[one][size].get(field, 0.0) for size in sizes]
                for label, (one, field) in lines.items()
            }
            for unit, lines in panels.items()
        },
        xlabel=xlabel,
        log=log,
    )


def as_json(by_size: Mapping[int, Figures]) -> dict[str, Figures]:
    return {str(size): figures for size, figures in by_size.items()}
