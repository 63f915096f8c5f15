"""What was measured before a fault, while it lasted and after it was mended. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SLOW_S = 0.25  # longer is as good as not answered; a starting value, not measured
NAMES = ("before", "during", "after")


@dataclass(slots=True)
class Phases:
    """begun_s, mended_s: of the fault. Searches as the driver tells of them."""

    begun_s: float = float("inf")
    mended_s: float = float("inf")
    _searches: list[tuple[float, float | None]] = field(default_factory=list)

    def add(self, due_s: float, seconds: float | None) -> None:
        self._searches.append((due_s, seconds))

    @property
    def recovered_s(self) -> float:
        """From when it was mended until all that was due was answered, and in time."""
        bad = [due_s for due_s, seconds in self._searches if seconds is None or seconds > SLOW_S]
        return max([0.0, *(due_s - self.mended_s for due_s in bad)])

    def as_json(self) -> Mapping[str, Any]:
        edges = (0.0, self.begun_s, self.mended_s, float("inf"))
        told: dict[str, Any] = {"recovered_s": round(self.recovered_s, 3)}
        for name, since_s, until_s in zip(NAMES, edges, edges[1:], strict=False):
            mine = [seconds for due_s, seconds in self._searches if since_s <= due_s < until_s]
            answered = [seconds for seconds in mine if seconds is not None]
            told[name] = {
                "searches": len(mine),
                "errors": len(mine) - len(answered),
                "p50_ms": _percentile_ms(answered, 50),
                "p99_ms": _percentile_ms(answered, 99),
            }
        return told


def _percentile_ms(seconds: list[float], percentile: float) -> float | None:
    return round(float(np.percentile(seconds, percentile)) * 1000, 3) if seconds else None
