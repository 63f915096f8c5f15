"""A circuit breaker for embedding services: it stops calls after failures and probes later.

It differs from the breaker of `cache`, which opens at the first failure and closes by the clock,
since a cache miss costs little. Here a failure costs the caller seconds and an open breaker costs
answers their dense leg, so several failures open it, and single probes close it.
"""

from collections.abc import Callable

FAILURES_MAX = 3  # one after another; starting values, not measured
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0


class EmbedderBreaker:
    """Closed; open for a pause after FAILURES_MAX failures in a row; then half open: one probe.

    Each admitted call reports its outcome with the number that `admit` returned. Outcomes of calls
    from before the last opening are ignored: concurrent calls fail together.
    """

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self._failures = 0
        self._openings = 0
        self._closed_from_s = 0.0
        self._pause_s = FIRST_PAUSE_S
        self._probing = False

    def admit(self) -> int | None:
        """The number of a call that may be made, or None while none may."""
        if self._failures >= FAILURES_MAX:
            if self._probing or self._clock_s() < self._closed_from_s:
                return None
            self._probing = True
        return self._openings

    def succeeded(self, admitted: int) -> None:
        if admitted == self._openings:
            self._failures = 0
            self._pause_s = FIRST_PAUSE_S
            self._probing = False

    def failed(self, admitted: int) -> None:
        if admitted == self._openings:
            self._failures += 1
            if self._failures >= FAILURES_MAX:
                self._open()

    def abandoned(self, admitted: int) -> None:
        """The call ended without an outcome."""
        if admitted == self._openings:
            self._probing = False

    def _open(self) -> None:
        self._openings += 1
        self._probing = False
        self._closed_from_s = self._clock_s() + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
