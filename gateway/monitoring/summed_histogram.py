"""Observations that are summed, one dict update each; the histogram gets the sums once a second."""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence

from prometheus_client import Histogram

FLUSH_S = 1.0
_Labels = str | tuple[str | int, ...]  # of one label the value alone


class SummedHistogram:
    """buckets: the bounds of the histogram's, without the infinite one."""

    def __init__(self, histogram: Histogram, buckets: Sequence[float]) -> None:
        self._histogram = histogram
        self._bounds = buckets
        # By labels, the observations of each bucket, and the sum of all as the last item.
        self._pending: dict[_Labels, list[float]] = {}

    def observe(self, labels: _Labels, value: float, trace_id: str = "") -> None:
        """Only on an event loop.

        trace_id: of a sampled request, which becomes an exemplar of its bucket.
        """
        if trace_id:
            self._of(labels).observe(value, {"trace_id": trace_id})
            return
        sums = self._pending.get(labels)
        if sums is None:
            if not self._pending:
                asyncio.get_running_loop().call_later(FLUSH_S, self.flush)
            sums = self._pending[labels] = [0.0] * (len(self._bounds) + 2)
        sums[bisect_left(self._bounds, value)] += 1
        sums[-1] += value

    def flush(self) -> None:
        """Add what is pending to the histogram."""
        pending, self._pending = self._pending, {}
        for labels, (*counts, total) in pending.items():
            # The package offers no way to add several observations at once.
            series = self._of(labels)
            series._sum.inc(total)  # noqa: SLF001
            for bucket, count in zip(series._buckets, counts, strict=True):  # noqa: SLF001
                if count:
                    bucket.inc(count)

    def _of(self, labels: _Labels) -> Histogram:
        return self._histogram.labels(*((labels,) if isinstance(labels, str) else labels))
