"""Long work of a job, whose progress is told while it goes on."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from index.jobs.job_queue import JobLease, JobQueue

TELL_S = 1.0  # between two words about how far it is

T = TypeVar("T")


async def report_progress(
    jobs: JobQueue,
    run: JobLease,
    work: Awaitable[T],
    so_far: Callable[[], Mapping[str, Any]],
    is_needless: Callable[[], Awaitable[bool]] | None = None,
) -> T | None:
    """The work's outcome; None if it was given up because it had become needless.

    Raises `JobLost` as soon as the job is another's.
    """
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait((task,), timeout=TELL_S))[0]:
            await jobs.progress(run, so_far())
            if is_needless is not None and await is_needless():
                return None
        return task.result()
    finally:
        task.cancel()
        await asyncio.wait((task,))
