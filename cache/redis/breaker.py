"""A circuit breaker: skips a server that has just failed, and tries it again after a pause."""

from collections.abc import Callable

FIRST_PAUSE_S = 0.25  # starting values, not measured
LONGEST_PAUSE_S = 5.0


class RedisBreaker:
    """Open after any failure, for a pause that doubles with each further failure."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self._pause_s = FIRST_PAUSE_S
        self._closed_from_s = 0.0

    @property
    def is_open(self) -> bool:
        return self._clock_s() < self._closed_from_s

    def succeeded(self) -> None:
        self._pause_s = FIRST_PAUSE_S

    def failed(self) -> None:
        if not self.is_open:  # concurrent calls that fail together count as one failure
            self._closed_from_s = self._clock_s() + self._pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
