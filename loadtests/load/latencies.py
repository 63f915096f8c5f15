"""Latencies in a histogram whose percentiles are exact to a thousandth."""

from collections.abc import Mapping, Sequence

import numpy as np
from hdrh.histogram import HdrHistogram

# From a microsecond to ten minutes, three digits of each value.
_LOWEST_US, _HIGHEST_US, _DIGITS = 1, 600_000_000, 3
PERCENTILES: Mapping[str, float] = {
    "p50_ms": 50,
    "p90_ms": 90,
    "p95_ms": 95,
    "p99_ms": 99,
    "p999_ms": 99.9,
    "max_ms": 100,
}


def percentile_ms(seconds: Sequence[float], percentile: float) -> float | None:
    """Of single values, by interpolation; None of none."""
    return round(float(np.percentile(seconds, percentile)) * 1000, 3) if seconds else None


class Latencies:
    def __init__(self) -> None:
        self.histogram = HdrHistogram(_LOWEST_US, _HIGHEST_US, _DIGITS)

    def add(self, seconds: float) -> None:
        self.histogram.record_value(min(_HIGHEST_US, max(_LOWEST_US, round(seconds * 1e6))))

    def merge(self, other: "Latencies") -> None:
        """Add all values of the other one."""
        self.histogram.add(other.histogram)

    @property
    def count(self) -> int:
        count: int = self.histogram.get_total_count()
        return count

    def percentile_ms(self, percentile: float) -> float:
        """The latency that `percentile` percent of the values do not exceed."""
        us: float = self.histogram.get_value_at_percentile(percentile)
        return us / 1000

    def as_json(self) -> dict[str, float]:
        return {"count": self.count} | {
            name: self.percentile_ms(percentile) for name, percentile in PERCENTILES.items()
        }
