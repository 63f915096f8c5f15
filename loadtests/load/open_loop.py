"""An open loop: each request is started when it is due, whatever became of those before it.

A thread sleeps until each moment and wakes the event loop, whose own timers are a millisecond wide.
The thread waits for no response: after a stall it starts at once all that fell due meanwhile.
"""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

# New allocations between two collections of the youngest generation, and such collections between
# two of the next. With Python's 700 and 10, collections make responses late; what the run remembers
# lives to its end anyway.
_ALLOCATIONS, _COLLECTIONS = 10_000, 1_000


async def run(
    moments: Iterable[float], begun_s: float, send: Callable[[float], Coroutine[Any, Any, None]]
) -> None:
    """Start `send(begun_s + moment)` at each moment, by `time.monotonic`; ends when all have ended.

    Cancelled, it cancels those that are under way.
    """
    tasks: set[asyncio.Task[None]] = set()

    def start(due_s: float) -> None:
        task = asyncio.create_task(send(due_s))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    try:
        await pace(moments, begun_s, start)
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def pace(moments: Iterable[float], begun_s: float, start: Callable[[float], None]) -> None:
    """Call `start(begun_s + moment)` in the event loop at each moment, by `time.monotonic`."""
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


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collect garbage rarely, so that the collector makes no response late."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS, _COLLECTIONS, thresholds[2])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
