"""What workers do: jobs, and events of other systems."""

from typing import Literal, TypeAlias, get_args

from gateway.monitoring.metric_registry import MetricRegistry

JobOutcome: TypeAlias = Literal["done", "refused", "error"]
EventOutcome: TypeAlias = Literal["applied", "dead_lettered"]

_BUCKETS_S = (0.01, 0.05, 0.2, 1, 5, 20, 60, 300, 1_200)


class WorkMetrics:
    def __init__(self, registry: MetricRegistry) -> None:
        self._jobs = registry.histogram(
            "job_duration_seconds",
            "Duration of one attempt at a job in seconds. done: it succeeded; refused: it can "
            "never succeed; error: it is tried again unless it was the last attempt.",
            "kind",
            "outcome",
            buckets=_BUCKETS_S,
        )
        self._events = registry.counter(
            "events",
            "Events from RabbitMQ: applied, or dead_lettered because they can never be applied.",
            "outcome",
        )
        for outcome in get_args(EventOutcome):  # so that the first dead letter is an increase
            self._events.labels(outcome)

    def job(self, kind: str, outcome: JobOutcome, seconds: float) -> None:
        self._jobs.labels(kind, outcome).observe(seconds)

    def event(self, outcome: EventOutcome) -> None:
        self._events.labels(outcome).inc()
