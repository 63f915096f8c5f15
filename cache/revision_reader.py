"""Reads revisions from the truth: one statement for all who wait, begun after the last one came.

The order that makes it right: (1) a request arrives and joins the batch that has not begun;
(2) the statement under way, if any, ends; (3) that batch's statement begins. So no request gets a
revision that was read before it asked.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Generic, Protocol, TypeVar

from cachetools import LRUCache

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

REMEMBERED_MAX = 100_000  # tenants; about 20 MB, and 20 more for each that changes all the time
_EARLIER_MAX = 8  # answers of the truth about one tenant: a starting value, not measured


class RevisionSource(Protocol[T_co]):
    async def revisions(self, tenants: Collection[str], /) -> Mapping[str, T_co]: ...


class RevisionReader(Generic[T]):
    """T is whatever the truth says of one tenant; of an unknown tenant it says nothing."""

    def __init__(self, truth: RevisionSource[T], clock_s: Callable[[], float]) -> None:
        self._truth = truth
        self._clock_s = clock_s
        # Each with the time at which it was last read; the newest comes last.
        self._remembered: LRUCache[str, tuple[tuple[float, T], ...]] = LRUCache(REMEMBERED_MAX)
        self._next: _Batch[T] | None = None
        self._runner: asyncio.Task[None] | None = None

    async def read(self, tenants: Collection[str]) -> Mapping[str, T]:
        """What the truth says, read after this call."""
        if self._next is None:
            self._next = _Batch()
        waiter = self._next.join(tenants)
        if self._runner is None:
            self._runner = self._next.loop.create_task(self._run())
        return await waiter

    def latest(self, tenant: str, age_max_s: float) -> T | None:
        """What the truth last said of the tenant, if it was read that lately."""
        history = self._remembered.get(tenant)
        if history is None or history[-1][0] < self._clock_s() - age_max_s:
            return None
        return history[-1][1]

    def oldest(self, tenants: Collection[str], age_max_s: float) -> Mapping[str, T] | None:
        """The oldest that the truth said of each within that age; None if one was not read."""
        begun_after_s = self._clock_s() - age_max_s
        found = {}
        for tenant in tenants:
            for read_at_s, truth in self._remembered.get(tenant, ()):
                if read_at_s >= begun_after_s:
                    found[tenant] = truth
                    break
            else:
                return None
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
            history = self._remembered.get(tenant, ())
            earlier = history[:-1] if history and history[-1][1] == truth else history
            self._remembered[tenant] = (*earlier[1 - _EARLIER_MAX :], (begun_at_s, truth))
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
