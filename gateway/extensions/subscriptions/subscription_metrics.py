"""How subscriptions are served."""

from typing import Literal, TypeAlias, get_args

from gateway.extension import Metrics

Evaluation: TypeAlias = Literal["computed", "reused"]
Delivery: TypeAlias = Literal["delivered", "failed", "given_up"]
EventName: TypeAlias = Literal["answer", "ended"]

_BUCKETS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class SubscriptionMetrics:
    def __init__(self, metrics: Metrics) -> None:
        self._evaluations = metrics.registry.counter(
            "subscription_evaluations",
            "Looks at the answer of a subscription. computed: it was searched; reused: no change "
            "concerned it, or another subscriber's search has the same answer.",
            "outcome",
        )
        self._events = metrics.registry.counter(
            "subscription_events",
            "Events sent to subscribers, by name: a new answer, or the end.",
            "event",
        )
        self._delays = metrics.registry.histogram(
            "subscription_delay_seconds",
            "Time from the announcement of a change to the event that reports the new answer, "
            "with the minimum time between two events.",
            buckets=_BUCKETS_S,
        )
        self._streams = metrics.registry.gauge(
            "subscription_streams", "Open streams of events of subscriptions.", joined="livesum"
        )
        self._deliveries = metrics.registry.counter(
            "webhook_deliveries",
            "Attempts to deliver an event to a webhook, by outcome. failed: it is tried again; "
            "given_up: it was the last attempt, and the event is a dead letter.",
            "outcome",
        )
        for delivery in get_args(Delivery):
            self._deliveries.labels(delivery)
        for outcome in get_args(Evaluation):
            self._evaluations.labels(outcome)
        for event in get_args(EventName):
            self._events.labels(event)

    def evaluated(self, outcome: Evaluation) -> None:
        self._evaluations.labels(outcome).inc()

    def sent(self, event: EventName) -> None:
        self._events.labels(event).inc()

    def delivery(self, outcome: Delivery) -> None:
        self._deliveries.labels(outcome).inc()

    def delayed(self, seconds: float) -> None:
        self._delays.observe(seconds)

    def streams(self, change: int) -> None:
        self._streams.inc(change)
