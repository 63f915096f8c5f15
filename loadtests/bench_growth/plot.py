"""Small plots for the page, as SVG files beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
