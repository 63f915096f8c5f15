"""Counts how each tenant's searches are answered, and stores the counts every few seconds.

A process that is killed loses the counts of its last FLUSH_S seconds.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from operator import add

from gateway.extension import FlushBuffer, LoggedAnswer
from gateway.extensions.activity.search_statistics_store import (
    Outcome,
    SearchStatisticsStore,
    StatisticsKey,
)

FLUSH_S = 5.0
KEYS_MAX = 100_000  # pending counts; 40 MB
# A percentile is told as one of these: the answers took no longer. A starting choice, not measured.
LATENCIES_MS_MAX = (
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 2_000, 5_000,
    60_000,
)  # fmt: skip
_HOUR_S = 3600


class SearchStatistics:
    """now_s: seconds since 1970. collect: as in `FlushBuffer`."""

    def __init__(
        self,
        store: SearchStatisticsStore,
        now_s: Callable[[], float],
        *,
        every_s: float = FLUSH_S,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        self._now_s = now_s
        self._hour_no = -1
        self._hour = datetime.fromtimestamp(0, UTC)
        self.pending: FlushBuffer[StatisticsKey, int] = FlushBuffer(
            "search_statistics",
            store.add,
            add,
            every_s=every_s,
            items_max=KEYS_MAX,
            collect=collect,
        )

    def watch(self, answer: LoggedAnswer) -> None:
        """Count an answer."""
        tenant, tier, outcome = answer.principal.tenant, answer.served.tier, answer.outcome
        hour = self._begin(answer.last_s)
        for latency_ms_max, answers in Counter(map(_latency_ms_max, answer.durations_s)).items():
            key = StatisticsKey(tenant, hour, tier, outcome, latency_ms_max)
            self.pending.add(tenant, key, answers)

    def audited(self, tenant: str, tier: str, *, is_equal: bool) -> None:
        """Count an answer that was computed a second time and compared."""
        outcome: Outcome = "audit_equal" if is_equal else "audit_other"
        key = StatisticsKey(tenant, self._begin(self._now_s()), tier, outcome, 0)
        self.pending.add(tenant, key, 1)

    def _begin(self, at_s: float) -> datetime:
        """The begin of the hour; made once an hour."""
        hour_no = int(at_s) // _HOUR_S
        if hour_no != self._hour_no:
            self._hour_no, self._hour = hour_no, datetime.fromtimestamp(hour_no * _HOUR_S, UTC)
        return self._hour


def _latency_ms_max(duration_s: float | None) -> int:
    """0 if that is not known of the answer alone."""
    if duration_s is None:
        return 0
    position = bisect_left(LATENCIES_MS_MAX, duration_s * 1000)
    return LATENCIES_MS_MAX[min(position, len(LATENCIES_MS_MAX) - 1)]
