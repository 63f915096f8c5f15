"""How long the event loop of a test is held at once."""

import asyncio
import gc
import time
from typing import Self

LONG_STEP_S = 0.05  # of the processor


class LongestStep:
    """The most processor time that one iteration of this event loop takes meanwhile."""

    def __init__(self) -> None:
        self.seconds = 0.0

    async def __aenter__(self) -> Self:
        gc.disable()  # what earlier tests have left is not this step's
        self._last_s = time.thread_time()
        self._next = asyncio.get_running_loop().call_soon(self._look)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._next.cancel()
        self._note()
        gc.enable()

    def _look(self) -> None:
        self._note()
        self._next = asyncio.get_running_loop().call_soon(self._look)

    def _note(self) -> None:
        now_s = time.thread_time()
        self.seconds, self._last_s = max(self.seconds, now_s - self._last_s), now_s
