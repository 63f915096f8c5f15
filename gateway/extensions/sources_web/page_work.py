"""The work that pages take a worker: done by a few processes, which tenants share.

So a reading needs no slot of the worker's jobs, and may wait for its host for hours.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, Protocol, TypeAlias, TypeVar

from common.processes.worker_pool import WorkerPool
from gateway.extensions._files.extract import Extractor
from gateway.extensions._sources.sync.source_sync import READING_S_MAX
from gateway.extensions._web.errors import Unfetchable

T = TypeVar("T")

PROCESSES = 2  # a starting value; one tenant uses half
_WAITING_MAX = 1_000  # of a tenant: each of its readings has one

PagePool: TypeAlias = WorkerPool[Extractor]


class PageWork(Protocol):
    """What reads a source's pages."""

    def run(self, function: Callable[[Extractor], T]) -> T:
        """Call the function in its turn. Raises `Saturated`, and `Unfetchable` after `stop`."""

    def stop(self) -> None:
        """End a `run` of another thread that waits for its turn, and all later ones."""


def page_pool(make: Callable[[], Extractor]) -> PagePool:
    return WorkerPool(
        make,
        PROCESSES,
        name="pages",
        waiting_max=_WAITING_MAX,
        wait_s_max=READING_S_MAX,
    )


class SharedPageWork:
    """Of a reading, whose thread is none of the event loop's."""

    def __init__(self, pool: PagePool, tenant: str, loop: asyncio.AbstractEventLoop) -> None:
        self._pool = pool
        self._tenant = tenant
        self._loop = loop
        self._running: Future[Any] | None = None
        self._is_stopped = False

    def run(self, function: Callable[[Extractor], T]) -> T:
        running = asyncio.run_coroutine_threadsafe(
            self._pool.run(self._tenant, function), self._loop
        )
        self._running = running
        if self._is_stopped:
            running.cancel()
        try:
            return running.result()
        except CancelledError:
            raise Unfetchable("was not read: the reading has ended") from None

    def stop(self) -> None:
        self._is_stopped = True  # first: the other thread may be about to run one
        if self._running is not None:
            self._running.cancel()
