"""How the stores of OpenFGA are followed."""

from typing import Literal, TypeAlias, get_args

from gateway.extension import Metrics
from gateway.extensions.openfga.tuple_mapping import IgnoredReason

PollOutcome: TypeAlias = Literal["followed", "read_all", "failed"]


class OpenfgaMetrics:
    def __init__(self, metrics: Metrics) -> None:
        self._lag = metrics.registry.gauge(
            "openfga_lag_seconds",
            "How long ago all that a store of OpenFGA had then was applied, in seconds; infinite "
            "before the first time.",
            "store",
            joined="livemostrecent",
        )
        self._polls = metrics.registry.counter(
            "openfga_polls",
            "Looks at the stores of OpenFGA. followed: changes since the last one; read_all: all "
            "tuples were read and compared; failed: it is tried again.",
            "outcome",
        )
        self._tuple_changes = metrics.registry.counter(
            "openfga_changes", "Changes of tuples that were read and applied or ignored."
        )
        self._ignored = metrics.registry.counter(
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

    def lag(self, store: str, seconds: float) -> None:
        self._lag.labels(store).set(seconds)

    def store_polled(self, outcome: PollOutcome) -> None:
        self._polls.labels(outcome).inc()

    def tuples_changed(self, number: int) -> None:
        self._tuple_changes.inc(number)

    def tuple_ignored(self, reason: IgnoredReason) -> None:
        self._ignored.labels(reason).inc()
