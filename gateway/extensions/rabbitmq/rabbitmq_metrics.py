"""What became of the events of RabbitMQ."""

from typing import Literal, TypeAlias, get_args

from gateway.extension import Metrics

EventOutcome: TypeAlias = Literal["applied", "dead_lettered"]


class RabbitmqMetrics:
    def __init__(self, metrics: Metrics) -> None:
        self._events = metrics.registry.counter(
            "events",
            "Events from RabbitMQ: applied, or dead_lettered because they can never be applied.",
            "outcome",
        )
        for outcome in get_args(EventOutcome):  # so that the first dead letter is an increase
            self._events.labels(outcome)

    def event(self, outcome: EventOutcome) -> None:
        self._events.labels(outcome).inc()
