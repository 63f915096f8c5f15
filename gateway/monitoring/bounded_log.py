"""Log lines of what may happen at every request."""

import math
from collections.abc import Callable

import structlog

PAUSE_S = 60.0  # between two lines

log = structlog.get_logger()


class BoundedLog:
    """At most one warning a minute, with the number of events since the last one."""

    def __init__(self, event: str, clock_s: Callable[[], float], **fields: str) -> None:
        self._event = event
        self._clock_s = clock_s
        self._fields = fields
        self._times = 0
        self._logged_at_s = -math.inf

    def warn(self, **fields: str) -> None:
        self._times += 1
        now_s = self._clock_s()
        if now_s - self._logged_at_s >= PAUSE_S:
            log.warning(self._event, times=self._times, **self._fields, **fields)
            self._times, self._logged_at_s = 0, now_s
