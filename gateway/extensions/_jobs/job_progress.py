"""Runs a job's work and reports its progress meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from common import background_tasks
from index.jobs.job_queue import JobLease, JobQueue

REPORT_S = 1.0  # between two reports

T = TypeVar("T")


async def report_progress(
    jobs: JobQueue,
    run: JobLease,
    work: Awaitable[T],
    so_far: Callable[[], Mapping[str, Any]],
) -> T:
    """The result of the work. Raises `JobLost` as soon as the run has lost its job."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait((task,), timeout=REPORT_S))[0]:
            await jobs.progress(run, so_far())
        return task.result()
    finally:
        await background_tasks.end(task)
