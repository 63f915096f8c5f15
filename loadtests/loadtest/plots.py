"""The plots of a report, as SVG for the HTML page."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from loadtests.load.figures import Figures, SecondFigures
from loadtests.load.latencies import Latencies

TIERS: Mapping[str, str] = {  # with colours that colour-blind people can distinguish
    "memory": "#0f766e",
    "redis": "#2563eb",
    "semantic": "#9333ea",
    "miss": "#d97706",
}
_INK, _FAINT, _ALARM = "#1f2937", "#9ca3af", "#dc2626"
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "nearhit",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e5e7eb",
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}
_PERCENTILES = (0, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9, 99.95, 99.99)
_LABELLED = (50, 90, 99, 99.9, 99.99)
_SECONDS_SHOWN_MAX = 600  # points of a line; in longer runs a point is the worst of several seconds


def by_percentile(figures: Figures) -> str:
    """Latencies from when requests were due, and from when they were sent."""

    def draw(axes: Axes) -> None:
        if "all" in figures.latencies:
            _percentiles(axes, figures.latencies["sent"], "from when it was sent", _FAINT)
            _percentiles(axes, figures.latencies["all"], "from when it was due", _INK)
        _as_percentiles(axes)

    return _svg(draw)


def by_tier(figures: Figures) -> str:
    def draw(axes: Axes) -> None:
        for tier, colour in TIERS.items():
            if figures.count(f"tier.{tier}"):
                _percentiles(axes, figures.latencies[f"tier.{tier}"], tier, colour)
        _as_percentiles(axes)

    return _svg(draw)


def over_time(figures: Figures) -> str:
    def draw(axes: Axes) -> None:
        seconds = [second.as_json() for second in figures.seconds]
        for name, label, colour in (("p99_ms", "P99", TIERS["miss"]), ("p50_ms", "P50", _INK)):
            values = [second[name] for second in seconds]
            axes.plot(*_thinned(values), color=colour, label=label)
        axes.set(xlabel="seconds", ylabel="ms", yscale="log")
        _plain_numbers(axes)
        axes.legend(loc="upper right", ncols=2)

    return _svg(draw)


def throughput(figures: Figures) -> str:
    counts: Mapping[str, tuple[Callable[[SecondFigures], int], str]] = {
        "due": (lambda second: second.offered, _FAINT),
        "answers": (lambda second: second.answers, _INK),
        "of these by a cache": (lambda second: second.hits, TIERS["memory"]),
        "writes": (lambda second: second.writes, TIERS["redis"]),
        "errors": (lambda second: second.errors, _ALARM),
    }

    def draw(axes: Axes) -> None:
        for label, (count, colour) in counts.items():
            values = [float(count(second)) for second in figures.seconds]
            axes.plot(*_thinned(values), color=colour, label=label)
        axes.set(xlabel="seconds", ylabel="per second", ylim=(0, None))
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5)

    return _svg(draw)


def hit_rates(figures: Figures) -> str:
    """One bar: the share of the answers by tier."""

    def draw(axes: Axes) -> None:
        left = 0.0
        for tier, colour in TIERS.items():
            share = 100 * figures.share(f"tier.{tier}")
            if share:
                axes.barh(0, share, left=left, color=colour, label=f"{tier} {share:.1f} %")
                left += share
        axes.set(xlim=(0, 100), ylim=(-0.5, 2), yticks=[], xlabel="% of answers")
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        if left:
            axes.legend(loc="upper left", ncols=4)

    return _svg(draw, height=1.6)


def _percentiles(axes: Axes, latencies: Latencies, label: str, colour: str) -> None:
    """The percentiles for which there are enough answers."""
    percentiles = [
        percentile for percentile in _PERCENTILES if latencies.count * (1 - percentile / 100) >= 1
    ]
    axes.plot(
        [_place(percentile) for percentile in percentiles],
        [latencies.percentile_ms(percentile) for percentile in percentiles],
        color=colour,
        label=label,
    )


def _as_percentiles(axes: Axes) -> None:
    """An axis on which each further nine takes the same width."""
    axes.set(xscale="log", yscale="log", xlabel="percentile", ylabel="ms")
    axes.set_xticks(
        [_place(percentile) for percentile in _LABELLED],
        [f"{percentile:g}" for percentile in _LABELLED],
    )
    axes.minorticks_off()
    _plain_numbers(axes)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left")


def _place(percentile: float) -> float:
    return 1 / (1 - percentile / 100)


def _plain_numbers(axes: Axes) -> None:
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda *_: "")


def _thinned(values: Sequence[float]) -> tuple[list[int], list[float]]:
    step = -(-len(values) // _SECONDS_SHOWN_MAX) or 1
    places = list(range(0, len(values), step))
    return places, [max(values[position : position + step]) for position in places]


def _svg(draw: Callable[[Axes], None], height: float = 3.2) -> str:
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, height), layout="constrained")
        draw(figure.subplots())
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    svg = drawn.getvalue()
    svg = svg[svg.index("<svg") :]
    # Without a fixed size it fills its column of the page.
    return re.sub(r'<svg ([^>]*?)height="[^"]*"([^>]*?)width="[^"]*"', r"<svg \1\2", svg, count=1)
