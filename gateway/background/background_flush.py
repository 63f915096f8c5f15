"""Items collect in memory and are stored in the background, so that no request waits for them.

A process that is killed loses what it collected since the last flush.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Generic, TypeVar

import structlog

from common.shares.budget import FairBudget
from index.errors import DatabaseUnavailable

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

log = structlog.get_logger()


class BackgroundFlush:
    """Calls `flush` every `every_s`, at once after `hurry`, and a last time at the end.

    A running flush is not cancelled: nobody would know whether its items are stored.
    name: of the log lines.
    """

    def __init__(self, name: str, flush: Callable[[], Awaitable[None]], *, every_s: float) -> None:
        self._name = name
        self._flush = flush
        self._every_s = every_s
        self._hurry = asyncio.Event()

    def hurry(self) -> None:
        self._hurry.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        over = asyncio.Event()
        flushing = asyncio.create_task(self._flush_until(over))
        try:
            yield
        finally:
            over.set()
            self._hurry.set()
            await flushing
            await self._flush_or_log()

    async def _flush_until(self, over: asyncio.Event) -> None:
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), self._every_s)
            self._hurry.clear()
            await self._flush_or_log()

    async def _flush_or_log(self) -> None:
        try:
            await self._flush()
        except DatabaseUnavailable as error:
            log.warning(self._name, state="not_stored", detail=str(error))
        except Exception:  # the next flush follows all the same
            log.exception(self._name, state="not_stored")


class FlushBuffer(Generic[K, V]):
    """Items by key, until `store` has stored them; items of the same key are merged.

    store:     stores all of the items or none; what it raises leaves them for the next flush.
    merge:     the earlier and the later item of a key into one, of the size of the earlier.
    items_max: further keys are dropped, and the log says how many; so are those of a tenant that
               has half of it. At a quarter of it, a flush begins.
    size_max:  the same, of the sum of `size_of` the items.
    collect:   called before each flush; adds what others hold for the buffer.
    """

    def __init__(
        self,
        name: str,
        store: Callable[[Mapping[K, V]], Awaitable[None]],
        merge: Callable[[V, V], V],
        *,
        every_s: float,
        items_max: int,
        size_of: Callable[[V], int] = lambda _: 0,
        size_max: int = 0,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._collect = collect
        self._store = store
        self._merge = merge
        self._items_max = items_max
        self._size_of = size_of
        self._size_max = size_max
        self._items: dict[K, tuple[str, V]] = {}  # with their tenants
        self._size = 0
        self._shares = self._new_shares()
        self._dropped = 0
        self._storing = asyncio.Lock()
        self._flushes = BackgroundFlush(name, self.flush, every_s=every_s)

    def add(self, tenant: str, key: K, item: V) -> None:
        """Merge the item into that of its key, or count it for the tenant."""
        earlier = self._items.get(key)
        if earlier is not None:  # of the same size afterwards
            self._items[key] = (tenant, self._merge(earlier[1], item))
            return
        was_filling = self._is_filling()
        self._insert(tenant, key, item)
        if self._is_filling() and not was_filling:  # once: the next attempt has its pause
            self._flushes.hurry()

    async def flush(self) -> None:
        """Store all items that were added before the call. Raises what `store` raises."""
        self._collect()
        async with self._storing:
            if self._dropped:
                log.warning(self._name, state="dropped", items=self._dropped)
                self._dropped = 0
            items = self._take()
            if not items:
                return
            try:
                await self._store({key: item for key, (_, item) in items.items()})
            except BaseException:
                self._put_back(items)
                raise

    @asynccontextmanager
    async def background_flush(self) -> AsyncIterator[None]:
        """Flush in the background meanwhile, and a last time at the end."""
        try:
            async with self._flushes.running():
                yield
        finally:
            if lost := len(self._items) + self._dropped:
                log.error(self._name, state="lost", items=lost)

    def _insert(self, tenant: str, key: K, item: V) -> None:
        if key in self._items:
            self._items[key] = (tenant, self._merge(self._items[key][1], item))
            return
        size = self._size_of(item)
        items, sizes = self._shares
        if items.take(tenant) is not None:
            self._dropped += 1
        elif sizes.take(tenant, size) is not None:
            items.give_back(tenant)
            self._dropped += 1
        else:
            self._items[key] = (tenant, item)
            self._size += size

    def _is_filling(self) -> bool:
        return len(self._items) > self._items_max // 4 or self._size > self._size_max // 4

    def _new_shares(self) -> tuple[FairBudget, FairBudget]:
        """Of the items, and of their sizes."""
        items = FairBudget(total_max=self._items_max, tenant_max=(self._items_max + 1) // 2)
        sizes = FairBudget(total_max=self._size_max, tenant_max=(self._size_max + 1) // 2)
        return items, sizes

    def _take(self) -> dict[K, tuple[str, V]]:
        items, self._items, self._size = self._items, {}, 0
        self._shares = self._new_shares()
        return items

    def _put_back(self, items: dict[K, tuple[str, V]]) -> None:
        """What was added meanwhile is merged into them, as far as there is room."""
        later = self._take()
        for key, (tenant, item) in items.items():
            self._insert(tenant, key, item)
        for key, (tenant, item) in later.items():
            self.add(tenant, key, item)
