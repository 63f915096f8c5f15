"""What workers do: jobs, and events of other systems."""

from typing import Literal, TypeAlias, get_args

from gateway.monitoring.metric_registry import MetricRegistry
from ingest.openfga.tuple_mapping import IgnoredReason

JobOutcome: TypeAlias = Literal["done", "refused", "error"]
EventOutcome: TypeAlias = Literal["applied", "dead_lettered"]
PollOutcome: TypeAlias = Literal["followed", "read_all", "failed"]

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

        self._polls = registry.counter(
            "openfga_polls",
            "Looks at the stores of OpenFGA. followed: changes since the last one; read_all: all "
            "tuples were read and compared; failed: it is tried again.",
            "outcome",
        )
        self._tuple_changes = registry.counter(
            "openfga_changes", "Changes of tuples that were read and applied or ignored."
        )
        self._ignored = registry.counter(
            "openfga_tuples_ignored",
            "Tuples that give no right here. unmapped: of a relation that no setting names; "
            "condition: it has one; model: the relation is not given by such a tuple alone; user: "
            "its user is neither a subject nor a group; name: the name is not valid here.",
            "reason",
        )
        for poll in get_args(PollOutcome):
            self._polls.labels(poll)
        for reason in get_args(IgnoredReason):
            self._ignored.labels(reason)

    def job(self, kind: str, outcome: JobOutcome, seconds: float) -> None:
        self._jobs.labels(kind, outcome).observe(seconds)

    def event(self, outcome: EventOutcome) -> None:
        self._events.labels(outcome).inc()

    def store_polled(self, outcome: PollOutcome) -> None:
        self._polls.labels(outcome).inc()

    def tuples_changed(self, number: int) -> None:
        self._tuple_changes.inc(number)

    def tuple_ignored(self, reason: IgnoredReason) -> None:
        self._ignored.labels(reason).inc()
