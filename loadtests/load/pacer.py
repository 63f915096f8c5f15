"""Calls at moments that are set beforehand, closer than the milliseconds of an event loop's timers.

A thread sleeps until each moment and wakes the loop. It waits for nobody: what is behind is started
at once, one after the other.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable


async def pace(moments: Iterable[float], begun_s: float, start: Callable[[float], None]) -> None:
    """Call `start` in the loop with `begun_s` plus each moment, then; of `time.monotonic`."""
    loop = asyncio.get_running_loop()
    stopped = threading.Event()

    def wait_and_wake() -> None:
        for moment in moments:
            due_s = begun_s + moment
            if stopped.wait(max(0.0, due_s - time.monotonic())):
                return
            loop.call_soon_threadsafe(start, due_s)

    try:
        await asyncio.to_thread(wait_and_wake)
        await asyncio.sleep(0)  # until the last has been started
    finally:
        stopped.set()
