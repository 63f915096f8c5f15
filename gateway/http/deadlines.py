"""Deadlines of many short requests, checked by one timer.

`asyncio.timeout` sets a timer for each, which costs a fifth of the time of a cached answer.
"""

import asyncio
import math
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

import structlog

from gateway.http import task_waits
from index.errors import DatabaseUnavailable

log = structlog.get_logger()

DUMP_S = 1.0  # between two logs of where tasks wait; a starting value, not measured
TICK_S = 0.02  # by which a deadline may be late


class Expiring(Protocol):
    """What has a deadline. ends_s: on the event loop's clock."""

    ends_s: float

    def end(self) -> None:
        """The deadline has passed."""


class Deadlines:
    """The deadlines of the event loop that runs at construction.

    again_s: until a task that its deadline has not ended is cancelled again. It may have failed
    just as it was cancelled, and gone on: see `common/background_tasks.py`.
    """

    def __init__(self, again_s: float = 5.0) -> None:
        self.again_s = again_s
        self.loop = asyncio.get_running_loop()
        self._open: set[Expiring] = set()
        self._is_ticking = False
        self._dumped_s = -math.inf

    def timeout(self, seconds: float = math.inf) -> "Deadline":
        """A context whose body is cancelled, and which raises `TimeoutError`, after that time."""
        return Deadline(self, seconds)

    def add(self, deadline: Expiring) -> None:
        if deadline.ends_s == math.inf:
            self._open.discard(deadline)
            return
        self._open.add(deadline)
        if not self._is_ticking:
            self._is_ticking = True
            self.loop.call_later(TICK_S, self._tick)

    def discard(self, deadline: Expiring) -> None:
        self._open.discard(deadline)

    def waits(self, deadline: "Deadline", task: asyncio.Task[object]) -> dict[str, object]:
        """What the log says of a task that is late, and of all others; nothing within DUMP_S."""
        now_s = self.loop.time()
        if now_s < self._dumped_s + DUMP_S:
            return {}
        self._dumped_s = now_s
        waited_s = task_waits.waited_s(task)
        return {
            "loop_late_ms": round((now_s - deadline.ends_s) * 1000),
            "waited_ms": None if waited_s is None else round(waited_s * 1000),
            "waits": task_waits.waits_of(task),
            "others": task_waits.places_of_others(task),
        }

    def _tick(self) -> None:
        now_s = self.loop.time()
        for deadline in [deadline for deadline in self._open if deadline.ends_s <= now_s]:
            self._open.discard(deadline)
            deadline.end()
        self._is_ticking = bool(self._open)
        if self._is_ticking:
            self.loop.call_later(TICK_S, self._tick)


class Deadline:
    """Cancels the task that entered it once its time has passed.

    PostgreSQL ends late statements too, and may be sooner: what is unavailable then is late.
    """

    __slots__ = (
        "_cancelled_before", "_deadlines", "_ends", "_late", "_seconds", "_task", "_waits",
        "ends_s",
    )  # fmt: skip

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self._seconds = seconds
        self._ends = 0
        self._late: Callable[[], Exception] = TimeoutError
        self._waits: dict[str, object] = {}

    def __enter__(self) -> Self:
        loop = self._deadlines.loop
        task = asyncio.current_task(loop)
        assert task is not None, "a deadline cancels a task"
        self._task = task
        self._cancelled_before = task.cancelling()
        self.ends_s = loop.time() + self._seconds
        self._deadlines.add(self)
        return self

    def restart(self, seconds: float, late: Callable[[], Exception] = TimeoutError) -> None:
        """Start again, with so many seconds. late: the exception to raise once they have passed."""
        self._late = late
        self._seconds = seconds
        self.ends_s = self._deadlines.loop.time() + seconds
        self._deadlines.add(self)

    def end(self) -> None:
        if self._late is TimeoutError:  # else a client was slow
            self._waits = self._deadlines.waits(self, self._task) or self._waits
        self._ends += 1
        self._task.cancel()
        self.ends_s = self._deadlines.loop.time() + self._deadlines.again_s
        self._deadlines.add(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._deadlines.discard(self)
        if self._ends:
            cancelled = min(self._task.uncancel() for _ in range(self._ends))
            is_ours = cancelled <= self._cancelled_before
            if self._waits:  # logged here, where the line gets the request's identifier
                log.warning("deadline", seconds=self._seconds, **self._waits)
            if is_ours and isinstance(error, asyncio.CancelledError | DatabaseUnavailable):
                raise self._late() from error
        elif isinstance(error, DatabaseUnavailable) and self._deadlines.loop.time() >= self.ends_s:
            raise self._late() from error
