"""Stops asking a service that fails again and again, and asks it again a little later.

Not the breaker of `cache`: that one opens at the first failure and shuts by the clock alone, since
missing a cache costs little and asking it 20 ms. Here a failure costs the caller seconds and an
open breaker costs answers their meaning, so several failures open it, and then one call at a time
finds out whether it can shut.
"""

from collections.abc import Callable

FAILURES_MAX = 3  # one after another; starting values, not measured
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0


class EmbedderBreaker:
    """Closed; open for a pause after FAILURES_MAX failures in a row; then half open: one probe.

    Each admitted call says how it went, with the number that it was admitted with. What a call from
    before the last opening says is ignored: calls under way together fail together.
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
        """The call ended before it could tell anything."""
        if admitted == self._openings:
            self._probing = False

    def _open(self) -> None:
        self._openings += 1
        self._probing = False
        self._closed_from_s = self._clock_s() + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
