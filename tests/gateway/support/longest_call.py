"""How long one call of a function that is not Python's holds the interpreter."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class LongestCall:
    """The most processor time that one such call takes in a thread that is made meanwhile.

    No other thread runs Python until it returns, unless it gives the interpreter back. Calls that
    call Python in turn do not count.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.name = ""
        self._thread = threading.local()

    @contextmanager
    def measured(self) -> Iterator[Self]:
        threading.setprofile(self._note)
        try:
            yield self
        finally:
            threading.setprofile(None)

    def reset(self) -> None:
        self.seconds, self.name = 0.0, ""

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        began_s = getattr(self._thread, "began_s", None)
        if event == "c_return" and began_s is not None:
            seconds = time.thread_time() - began_s
            if seconds > self.seconds:
                where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                self.seconds, self.name = seconds, f"{argument} at {where}"
        self._thread.began_s = time.thread_time() if event == "c_call" else None
