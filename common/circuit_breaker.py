"""A circuit breaker: stops calls to a service after failures, and probes it after a pause."""

from collections.abc import Callable
from dataclasses import dataclass

MODEL_FAILURES_MAX = 3


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """failures_max: in a row, that open it. The pause doubles with each probe that fails."""

    failures_max: int
    first_pause_s: float
    longest_pause_s: float


# Starting values, not measured. One failure of Redis is enough: a cache miss costs little.
REDIS = BreakerLimits(failures_max=1, first_pause_s=0.25, longest_pause_s=5.0)
# Embedders, rerankers and language models: without them, answers are poorer.
MODEL = BreakerLimits(failures_max=MODEL_FAILURES_MAX, first_pause_s=1.0, longest_pause_s=30.0)


class CircuitBreaker:
    """Closed; open for a pause after `failures_max` failures in a row; then half open: one probe.

    Each admitted call reports its outcome with the number that `admit` returned. Outcomes of calls
    from before the last opening are ignored: concurrent calls fail together.
    """

    def __init__(self, clock_s: Callable[[], float], limits: BreakerLimits) -> None:
        self._clock_s = clock_s
        self._limits = limits
        self._failures = 0
        self._openings = 0
        self._closed_from_s = 0.0
        self._pause_s = limits.first_pause_s
        self._probing = False

    def admit(self) -> int | None:
        """The number of a call that may be made, or None while none may."""
        if self._failures >= self._limits.failures_max:
            if self._probing or self._clock_s() < self._closed_from_s:
                return None
            self._probing = True
        return self._openings

    def succeeded(self, admitted: int) -> None:
        if admitted == self._openings:
            self._failures = 0
            self._pause_s = self._limits.first_pause_s
            self._probing = False

    def failed(self, admitted: int) -> None:
        if admitted == self._openings:
            self._failures += 1
            if self._failures >= self._limits.failures_max:
                self._open()

    def abandoned(self, admitted: int) -> None:
        """The call ended without an outcome."""
        if admitted == self._openings:
            self._probing = False

    def _open(self) -> None:
        self._openings += 1
        self._probing = False
        self._closed_from_s = self._clock_s() + self._pause_s
        self._pause_s = min(2 * self._pause_s, self._limits.longest_pause_s)
