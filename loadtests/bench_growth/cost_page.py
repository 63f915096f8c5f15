"""Costs by size as a table and as plots: one row, and one point of each line, a size."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.bench.section import Columns, Section, figure_table
from loadtests.bench_growth.options import GrowthRun

if TYPE_CHECKING:
    from matplotlib.axis import Axis  # Matplotlib takes long: what draws nothing does without

_COLOURS = ("#0f766e", "#d97706", "#2563eb", "#9333ea")  # that colour-blind people can distinguish
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "nearhit",  # equal figures, equal files
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "legend.frameon": False,
}
Lines = Mapping[str, Sequence[float]]

Figures = Mapping[str, float]
Series = Mapping[str, Mapping[int, Figures]]
"""By name, then by size: what was measured, by the names of the figures in JSON."""
Panels = Mapping[str, Mapping[str, tuple[str, str]]]
"""By unit, then by the label of a line: its series and figure."""

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
    run: GrowthRun,
    title: str,
    notes: str,
    series: Series,
    panels: Panels,
    *,
    head: str,
    xlabel: str = "",
    more: Columns | None = None,
    figures: Mapping[str, Any] | None = None,
    log: bool = True,
) -> Section:
    """A table of costs, with more columns behind them, and a plot of a panel each unit.

    head: of the sizes. xlabel: the same in the plot, if it is called otherwise there. figures: in
    JSON, if not those of the only series by size.
    """
    sizes = list(next(iter(series.values())))
    picture = lines(
        run.pictures / f"growth-{title.rsplit(maxsplit=1)[-1].lower()}.svg",
        sizes,
        {
            unit: {
                label: [series[one][size].get(field, 0.0) for size in sizes]
                for label, (one, field) in lines.items()
            }
            for unit, lines in panels.items()
        },
        xlabel=xlabel or head,
        log=log,
    )
    table = rows(head, series, {**_COSTS, **(more or {})})
    text = f"{notes}\n\n{table}\n\n{picture}"
    return Section(title, text, dict(figures or as_json(series[""])), [])


def as_json(by_size: Mapping[int, Figures]) -> dict[str, Figures]:
    return {str(size): figures for size, figures in by_size.items()}


def lines(
    file: Path, x: Sequence[float], panels: Mapping[str, Lines], *, xlabel: str, log: bool = True
) -> str:
    """Plot one panel per unit over the same x; returns the Markdown that shows the file.

    log: whether x and y have logarithmic scales.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(3.4 * len(panels), 2.6), layout="constrained")
        figure.patch.set_facecolor("white")
        for number, (unit, by_name) in enumerate(panels.items(), start=1):
            axes = figure.add_subplot(1, len(panels), number)
            for (name, values), colour in zip(by_name.items(), _COLOURS, strict=False):
                axes.plot(x, values, marker="o", markersize=3, color=colour, label=name)
            if log:
                axes.set_xscale("log")
                axes.set_yscale("log")
                _tick(axes.xaxis, 1)
                _tick(axes.yaxis, 1, 3)
            else:
                axes.set_ylim(bottom=0)
            axes.set_xlabel(xlabel)
            axes.set_title(unit, loc="left", fontsize=9)
            axes.legend(fontsize=8)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
    return f"![{', '.join(panels)} by {xlabel}]({file.name})"


def _tick(axis: "Axis", *digits: int) -> None:
    """Label the numbers that are one of these digits and noughts, as one writes them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.{value < 1:d}f}"))
    axis.set_minor_formatter(NullFormatter())
