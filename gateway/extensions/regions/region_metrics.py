"""What a gateway of a region counts, and how far the standbys are."""

from collections.abc import Sequence

from gateway.extension import Metrics
from gateway.extensions._regions.standbys import StandbyStatus


class StandbyMetrics:
    """Of each standby of the primary, as the primary sees it."""

    def __init__(self, metrics: Metrics) -> None:
        self._lag = metrics.registry.gauge(
            "standby_lag_seconds",
            "How far a connected standby is behind the primary, in seconds. No series if "
            "Nearhit's role is not a member of pg_monitor.",
            "standby",
            joined="livemostrecent",
        )

    def lags(self, statuses: Sequence[StandbyStatus]) -> None:
        for each in statuses:
            if each.state == "streaming":
                # PostgreSQL tells no lag of a standby that has replayed everything.
                self._lag.labels(each.name).set(each.lag_s or 0.0)


class RegionMetrics:
    def __init__(self, metrics: Metrics) -> None:
        self._standby_reads = metrics.registry.counter(
            "standby_reads",
            "Reads that may go to the region's standby, by its outcome: standby, behind, "
            "unavailable; those of the last two go to the primary.",
            "outcome",
        )
        self._read_leases = metrics.registry.gauge(
            "read_leases_held", "Workers that hold a read lease.", joined="livesum"
        )

    def standby_read(self, outcome: str) -> None:
        """outcome: see `Standby`."""
        self._standby_reads.labels(outcome).inc()

    def read_lease(self, is_held: bool, /) -> None:  # noqa: FBT001  # a callback has no names
        self._read_leases.set(is_held)
