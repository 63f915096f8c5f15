"""Counts how each tenant's searches are answered, and stores the counts every few seconds.

A process that is killed loses the counts of its last FLUSH_S seconds.
"""

from bisect import bisect_left
from collections.abc import Callable
from datetime import UTC, datetime
from operator import add

from gateway.background_flush import FlushBuffer
from index.tenants.search_statistics import Outcome, SearchStatisticsStore, StatisticsKey

FLUSH_S = 5.0
KEYS_MAX = 100_000  # pending counts; 40 MB
# A percentile is told as one of these: the answers took no longer. A starting choice, not measured.
LATENCIES_MS_MAX = (
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 2_000, 5_000,
    60_000,
)  # fmt: skip
_HOUR_S = 3600


class SearchStatistics:
    """now_s: seconds since 1970."""

    def __init__(
        self, store: SearchStatisticsStore, now_s: Callable[[], float], *, every_s: float = FLUSH_S
    ) -> None:
        self._now_s = now_s
        self._hour_no = -1
        self._hour = datetime.fromtimestamp(0, UTC)
        self.pending: FlushBuffer[StatisticsKey, int] = FlushBuffer(
            "search_statistics", store.add, add, every_s=every_s, items_max=KEYS_MAX
        )

    def served(self, tenant: str, tier: str, outcome: Outcome, seconds: float | None) -> None:
        """Count an answer. seconds: that it took; None if that is not known of it alone."""
        latency_ms_max = 0
        if seconds is not None:
            position = bisect_left(LATENCIES_MS_MAX, seconds * 1000)
            latency_ms_max = LATENCIES_MS_MAX[min(position, len(LATENCIES_MS_MAX) - 1)]
        key = StatisticsKey(tenant, self._begin(), tier, outcome, latency_ms_max)
        self.pending.add(tenant, key, 1)

    def audited(self, tenant: str, tier: str, *, is_equal: bool) -> None:
        """Count an answer that was computed a second time and compared."""
        outcome: Outcome = "audit_equal" if is_equal else "audit_other"
        key = StatisticsKey(tenant, self._begin(), tier, outcome, 0)
        self.pending.add(tenant, key, 1)

    def _begin(self) -> datetime:
        """The begin of the present hour; made once an hour."""
        hour_no = int(self._now_s()) // _HOUR_S
        if hour_no != self._hour_no:
            self._hour_no, self._hour = hour_no, datetime.fromtimestamp(hour_no * _HOUR_S, UTC)
        return self._hour
