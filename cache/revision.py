"""Reads revisions from the truth: one statement for all who wait, begun after the last one came.

The order that makes it right: (1) a request arrives and joins the batch that has not begun;
(2) the statement under way, if any, ends; (3) that batch's statement begins. So nobody is told a
revision that was read before it asked, unless it said how old it may be.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Generic, Protocol, TypeVar

from cachetools import LRUCache

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

REMEMBERED_MAX = 100_000  # tenants; about 20 MB


class Truth(Protocol[T_co]):
    async def revisions(self, tenants: Collection[str], /) -> Mapping[str, T_co]: ...


class RevisionReader(Generic[T]):
    """T is whatever the truth says of one tenant; of an unknown tenant it says nothing."""

    def __init__(self, truth: Truth[T], clock_s: Callable[[], float]) -> None:
        self._truth = truth
        self._clock_s = clock_s
        self._remembered: LRUCache[str, tuple[float, T]] = LRUCache(REMEMBERED_MAX)
        self._next: _Batch[T] | None = None
        self._runner: asyncio.Task[None] | None = None

    async def read(
        self, tenants: Collection[str], *, max_staleness_s: float = 0.0
    ) -> Mapping[str, T]:
        """What the truth says, read after this call or at most `max_staleness_s` before it."""
        if max_staleness_s > 0:
            remembered = self.remembered(tenants, max_staleness_s)
            if remembered is not None:
                return remembered
        if self._next is None:
            self._next = _Batch()
        waiter = self._next.join(tenants)
        if self._runner is None:
            self._runner = self._next.loop.create_task(self._run())
        return await waiter

    def remembered(self, tenants: Collection[str], age_max_s: float) -> Mapping[str, T] | None:
        """What the truth last said, if it was asked that lately about each."""
        begun_after_s = self._clock_s() - age_max_s
        found = {}
        for tenant in tenants:
            read_at_s, truth = self._remembered.get(tenant, (0.0, None))
            if truth is None or read_at_s < begun_after_s:
                return None
            found[tenant] = truth
        return found

    async def _run(self) -> None:
        while self._next is not None:
            batch, self._next = self._next, None
            await self._read(batch)
        self._runner = None

    async def _read(self, batch: "_Batch[T]") -> None:
        begun_at_s = self._clock_s()
        try:
            found = await self._truth.revisions(batch.tenants)
        except Exception as error:
            for waiter in batch.waiting():
                waiter.set_exception(error)
            return
        for tenant, truth in found.items():
            self._remembered[tenant] = (begun_at_s, truth)
        for waiter in batch.waiting():
            waiter.set_result(found)


class _Batch(Generic[T]):
    """Those who wait for one statement; each has a future of its own to give up on."""

    def __init__(self) -> None:
        self.tenants: set[str] = set()
        self.loop = asyncio.get_running_loop()
        self._waiters: list[asyncio.Future[Mapping[str, T]]] = []

    def join(self, tenants: Collection[str]) -> "asyncio.Future[Mapping[str, T]]":
        self.tenants.update(tenants)
        waiter: asyncio.Future[Mapping[str, T]] = self.loop.create_future()
        self._waiters.append(waiter)
        return waiter

    def waiting(self) -> "list[asyncio.Future[Mapping[str, T]]]":
        return [waiter for waiter in self._waiters if not waiter.done()]
