"""What ends a run before its time: a signal, or a limit that is missed for good.

A signal cancels the run's task, so that what the run wrote is removed. A second one cancels the
removal too.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_EXIT_OF_SIGNAL = 128  # plus its number, as shells report it


@dataclass(slots=True)
class EarlyEnd:
    """reason: why the run ended early, None if it did not. received: the signal that ended it."""

    reason: str | None = None
    received: signal.Signals | None = None

    @property
    def exit_code(self) -> int | None:
        return None if self.received is None else _EXIT_OF_SIGNAL + self.received


@contextmanager
def on_signals(early_end: EarlyEnd, on_first: Callable[[], None]) -> Iterator[None]:
    """Cancel the current task on SIGINT or SIGTERM. Signals reach the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "called by a task"

    def end(number: signal.Signals) -> None:
        if early_end.received is None:
            early_end.received, early_end.reason = number, f"ended by {number.name}"
            on_first()
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, end, number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
