"""Ends tasks in the background, also those that a first cancellation does not end."""

import asyncio
from typing import Any


async def end(*tasks: "asyncio.Task[Any]", again_s: float = 5.0) -> None:
    """Cancel the tasks and return when they have ended; what they raise is not raised here.

    A task can lose its cancellation. Before Python 3.13 a `TaskGroup` whose child fails at that
    moment raises the failure alone; before 3.12 `asyncio.wait_for` may return its result instead.
    A loop that catches the failure then goes on, so this function cancels it again.

    again_s: until a task that runs is cancelled again; longer than it needs to clean up.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=again_s)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # else asyncio logs that nobody has looked at it
