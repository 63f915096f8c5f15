"""Ends tasks in the background, also those that a first cancellation does not end."""

import asyncio
from typing import Any


async def end(*tasks: "asyncio.Task[Any]", again_s: float = 5.0) -> None:
    """Cancel the tasks and return when they have ended; what they raise is not raised here.

    A task that fails just as it is cancelled may go on, as if it had only failed: until Python 3.13
    a `TaskGroup` raises the failure alone, until 3.12 `asyncio.wait_for` returns its result.

    again_s: until a task that runs is cancelled again; longer than it needs to clean up.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=again_s)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # retrieved: whoever ends a task does not need its result
