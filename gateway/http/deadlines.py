"""Deadlines of many short requests, checked by one timer.

`asyncio.timeout` sets a timer for each, which costs a fifth of the time of a cached answer.
"""

import asyncio
import math
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

TICK_S = 0.02  # by which a deadline may be late


class Expiring(Protocol):
    """What has a deadline. ends_s: on the event loop's clock."""

    ends_s: float

    def end(self) -> None:
        """The deadline has passed."""


class Deadlines:
    """The deadlines of the event loop that runs at construction."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._open: set[Expiring] = set()
        self._is_ticking = False

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

    def _tick(self) -> None:
        now_s = self.loop.time()
        for deadline in [deadline for deadline in self._open if deadline.ends_s <= now_s]:
            self._open.discard(deadline)
            deadline.end()
        self._is_ticking = bool(self._open)
        if self._is_ticking:
            self.loop.call_later(TICK_S, self._tick)


class Deadline:
    """Cancels the task that entered it once its time has passed."""

    __slots__ = (
        "_cancelled_before", "_deadlines", "_has_ended", "_late", "_seconds", "_task", "ends_s",
    )  # fmt: skip

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self._seconds = seconds
        self._has_ended = False
        self._late: Callable[[], Exception] = TimeoutError

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
        self.ends_s = self._deadlines.loop.time() + seconds
        self._deadlines.add(self)

    def end(self) -> None:
        self._has_ended = True
        self._task.cancel()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._deadlines.discard(self)
        if self._has_ended:
            is_ours = self._task.uncancel() <= self._cancelled_before
            if is_ours and kind is asyncio.CancelledError:
                raise self._late() from error
