"""The plots of a report: lines as SVG, which the page holds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadtests.load.figures import Figures, Latencies

_GREEN, _ORANGE, _BLUE, _RED = "#0f766e", "#d97706", "#2563eb", "#dc2626"
_INK, _FAINT, _GRID = "#1f2937", "#9ca3af", "#e5e7eb"
_PERCENTILES = (0, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9, 99.95, 99.99)
_LABELLED = (50, 90, 99, 99.9, 99.99)
_POINTS_MAX = 600  # of a line; in longer runs a point is the worst of several seconds
_WIDTH, _HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 700, 40, 280  # of the area of the lines
_LEGEND_PX = 150  # for each label


@dataclass(frozen=True, slots=True)
class Line:
    """points: x from 0, and y."""

    label: str
    colour: str
    points: Sequence[tuple[float, float]]


def by_percentile(figures: Figures) -> str:
    """Latencies from when requests were due, and from when they were sent."""
    groups = {"sent": ("from when it was sent", _FAINT), "all": ("from when it was due", _INK)}
    lines = [
        Line(label, colour, _percentiles(figures.latencies[name]))
        for name, (label, colour) in groups.items()
        if figures.count(name)
    ]
    ticks = {_nines(percentile): f"{percentile:g}" for percentile in _LABELLED}
    return _svg(lines, ticks, "percentile, ms", is_log=True)


def over_time(figures: Figures) -> str:
    lines = {"P99": ("p99_ms", _ORANGE), "P50": ("p50_ms", _INK)}
    return _by_second(figures, lines, "seconds, ms", is_log=True)


def throughput(figures: Figures) -> str:
    lines = {
        "due": ("offered", _FAINT),
        "answers": ("answers", _INK),
        "by a cache": ("hits", _GREEN),
        "writes": ("writes", _BLUE),
        "errors": ("errors", _RED),
    }
    return _by_second(figures, lines, "seconds, per second")


def _by_second(
    figures: Figures, named: Mapping[str, tuple[str, str]], units: str, *, is_log: bool = False
) -> str:
    """named: by label, a field of `SecondFigures` and a colour."""
    seconds = figures.seconds
    lines = [
        Line(label, colour, _worst([getattr(second, name) for second in seconds]))
        for label, (name, colour) in named.items()
    ]
    return _svg(lines, _ticks(len(seconds)), units, is_log=is_log)


def _percentiles(latencies: Latencies) -> list[tuple[float, float]]:
    """The percentiles for which there are enough answers."""
    return [
        (_nines(percentile), latencies.percentile_ms(percentile))
        for percentile in _PERCENTILES
        if latencies.count * (1 - percentile / 100) >= 1
    ]


def _nines(percentile: float) -> float:
    """Each further nine takes the same width."""
    return -math.log10(1 - percentile / 100)


def _worst(values: Sequence[float]) -> list[tuple[float, float]]:
    step = max(1, math.ceil(len(values) / _POINTS_MAX))
    return [
        (float(start), max(values[start : start + step])) for start in range(0, len(values), step)
    ]


def _ticks(most: float) -> dict[float, str]:
    """Three to eight round numbers from 0."""
    step = 10 ** math.floor(math.log10(max(most, 1)))
    step = next(part for part in (step, step / 2, step / 5) if most / part >= 3 or part < step / 4)
    return {number * step: f"{number * step:g}" for number in range(int(most / step) + 1)}


def _log_ticks(low: float, high: float) -> dict[float, str]:
    ticks = (digit * 10.0**exponent for exponent in range(-3, 7) for digit in (1, 2, 5))
    return {tick: f"{tick:g}" for tick in ticks if low <= tick <= high}


def _svg(
    lines: Sequence[Line], x_ticks: Mapping[float, str], units: str, *, is_log: bool = False
) -> str:
    """is_log: whether y has a logarithmic scale, on which 0 has no place."""
    shown = [(line, [(x, y) for x, y in line.points if y or not is_log]) for line in lines]
    xs = [x for _, points in shown for x, _ in points]
    ys = [y for _, points in shown for _, y in points] or [1.0]
    right, low, high = max([1.0, *x_ticks, *xs]), min(ys) / 1.2, max([1.0, *ys]) * 1.2

    def x_of(x: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * x / right

    def y_of(y: float) -> float:
        share = math.log(y / low) / math.log(high / low) if is_log else y / high
        return _BOTTOM - (_BOTTOM - _TOP) * share

    parts = [_text(_LEFT, _HEIGHT - 4, units, _FAINT)]
    parts += [_text(x_of(x), _BOTTOM + 16, label, _INK, "middle") for x, label in x_ticks.items()]
    for y, label in (_log_ticks(low, high) if is_log else _ticks(high)).items():
        grid = f"{_LEFT},{y_of(y):.1f} {_RIGHT},{y_of(y):.1f}"
        parts += [_polyline(grid, _GRID), _text(_LEFT - 6, y_of(y) + 4, label, _INK, "end")]
    for number, (line, points) in enumerate(shown):
        parts.append(_text(_LEFT + number * _LEGEND_PX, _TOP - 16, line.label, line.colour))
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        parts.append(_polyline(path, line.colour))
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'


def _polyline(points: str, colour: str) -> str:
    return f'<polyline fill="none" stroke="{colour}" stroke-width="1.8" points="{points}"/>'


def _text(x: float, y: float, text: str, colour: str, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="13"'
    return f"<text {place}>{text}</text>"
