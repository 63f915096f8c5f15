"""How fast work goes on, and how long the rest of it takes."""

from collections import deque
from collections.abc import Callable

WINDOW_S = 30.0  # items differ: unchanged documents take a hundredth of the time of new ones
SAMPLE_S = 1.0  # documents are done in batches, so shorter spans say nothing
BEGIN_S = 2.0  # before this, no speed is told


class Pace:
    """The speed over the last half a minute. total: of items; None if it is unknown.

    It counts from the first items that are done: before them a model is loaded, once.
    """

    def __init__(self, total: int | None, clock_s: Callable[[], float]) -> None:
        self._total = total
        self._clock_s = clock_s
        self.started_s = self._now_s = clock_s()
        self._samples = deque[tuple[float, int]]()
        self._items = 0

    def record(self, items: int) -> float:
        """Take the number of items that are done by now; returns the time."""
        self._now_s, self._items = self._clock_s(), items
        if not items:
            return self._now_s
        if not self._samples or self._now_s - self._samples[-1][0] >= SAMPLE_S:
            self._samples.append((self._now_s, items))
        while len(self._samples) > 1 and self._samples[1][0] <= self._now_s - WINDOW_S:
            self._samples.popleft()
        return self._now_s

    @property
    def items_per_s(self) -> float | None:
        """None at the beginning, and while nothing is done."""
        if not self._samples:
            return None
        since_s, items = self._samples[0]
        if self._now_s - since_s < BEGIN_S or self._items <= items:
            return None
        return (self._items - items) / (self._now_s - since_s)

    @property
    def left_s(self) -> float | None:
        """None if the total or the speed is unknown."""
        rate = self.items_per_s
        if self._total is None or rate is None:
            return None
        return max(self._total - self._items, 0) / rate


def duration(seconds: float) -> str:
    """The time in its two largest units, as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600:,} h {whole % 3_600 // 60} min"
