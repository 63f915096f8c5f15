"""The jobs that workers do."""

from typing import Literal, TypeAlias

from gateway.monitoring.metric_registry import MetricRegistry

JobOutcome: TypeAlias = Literal["done", "refused", "unfinished", "error"]

_BUCKETS_S = (0.01, 0.05, 0.2, 1, 5, 20, 60, 300, 1_200)


class WorkMetrics:
    def __init__(self, registry: MetricRegistry) -> None:
        self._jobs = registry.histogram(
            "job_duration_seconds",
            "Duration of one attempt at a job in seconds. done: it succeeded; refused: it can "
            "never succeed; unfinished: its turn was over, and it goes on later; error: it is "
            "tried again unless it was the last attempt.",
            "kind",
            "outcome",
            buckets=_BUCKETS_S,
        )

    def job(self, kind: str, outcome: JobOutcome, seconds: float) -> None:
        self._jobs.labels(kind, outcome).observe(seconds)
