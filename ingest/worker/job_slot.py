"""The slot of a running job: others have it while the job only waits, and after each of its turns.

A command has no slot, and works without turns.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from common import background_tasks
from ingest.worker.job_turn import JobTurn

T = TypeVar("T")


class Slots(Protocol):
    """Of a worker. `leave` says whether another job may have the job's slot now."""

    def leave(self, job_no: int, /) -> bool: ...
    def lend(self, job_no: int, /) -> None: ...

    async def take_back(self, job_no: int, /) -> None:
        """Wait for a free slot, behind the jobs that wait already."""


class JobSlot:
    """Of one job, whose first turn begins now. turn_s: of each turn."""

    def __init__(self, slots: Slots, job_no: int, turn_s: float) -> None:
        self._slots = slots
        self._job_no = job_no
        self._turn_s = turn_s
        self._turn = JobTurn(turn_s)
        self._has_left = False
        self._limit: asyncio.Timeout | None = None

    def leave(self) -> None:
        self._has_left = self._has_left or self._slots.leave(self._job_no)

    async def in_turns(self, work: Awaitable[T]) -> T:
        working = asyncio.ensure_future(work)
        try:
            await asyncio.wait([working], timeout=self._turn.left_s)
            if self._turn.is_over and not self._has_left:
                self._slots.lend(self._job_no)
                await asyncio.wait([working])
                await self._take_back()
                self._turn = JobTurn(self._turn_s)
            return await working
        finally:
            await background_tasks.end(working)

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
        async with asyncio.timeout(seconds) as limit:
            self._limit = limit
            try:
                yield limit
            finally:
                self._limit = None

    async def _take_back(self) -> None:
        now_s, limit = asyncio.get_running_loop().time, self._limit
        ends_s = None if limit is None else limit.when()
        began_s = now_s()
        if limit is not None and ends_s is not None:
            limit.reschedule(None)
        await self._slots.take_back(self._job_no)
        if limit is not None and ends_s is not None:
            limit.reschedule(ends_s + now_s() - began_s)


_slot: ContextVar[JobSlot | None] = ContextVar("_slot", default=None)


@contextmanager
def held(slot: JobSlot) -> Iterator[None]:
    """What the block does, it does in this slot."""
    token = _slot.set(slot)
    try:
        yield
    finally:
        _slot.reset(token)


def leave() -> None:
    """Let another job have the slot of the job that calls this, until it has ended.

    What the job still does takes shares of its own, or no time of a processor. It keeps its slot if
    the worker has as many such jobs as it may have.
    """
    if (slot := _slot.get()) is not None:
        slot.leave()


async def in_turns(work: Awaitable[T]) -> T:
    """The result of the work, of which a job has much: call this for each part of it.

    Once the job's turn is over, waiting jobs have its slot: this part still ends, and then the job
    waits until it has a slot again.
    """
    slot = _slot.get()
    return await (work if slot is None else slot.in_turns(work))


def timeout(seconds: float | None) -> AbstractAsyncContextManager[asyncio.Timeout]:
    """As `asyncio.timeout`, but the time in which the job waits for its slot does not count."""
    slot = _slot.get()
    return asyncio.timeout(seconds) if slot is None else slot.timeout(seconds)
