"""What waits for an admin of a tenant."""

from gateway.extension import Metrics


class SourceMetrics:
    def __init__(self, metrics: Metrics) -> None:
        self._pending = metrics.registry.gauge(
            "sources_needing_attention",
            "Sources of all tenants with missing documents whose removal an admin must confirm.",
            joined="livemostrecent",
        )

    def pending(self, number: int) -> None:
        self._pending.set(number)
