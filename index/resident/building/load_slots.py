"""Which partition is loaded next: of those that wait, the one that is searched most often."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class LoadSlots:
    """Belongs to one event loop.

    slots:    the number of loads at once.
    searches: how often a partition was searched lately.
    """

    def __init__(self, slots: int, searches: Callable[[str], int]) -> None:
        self._free = slots
        self._searches = searches
        self._waiting: dict[asyncio.Future[None], str] = {}

    @asynccontextmanager
    async def slot(self, partition: str) -> AsyncIterator[None]:
        """A slot for the body, once no free one belongs to a partition that is searched more."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(partition)
        try:
            yield
        finally:
            self._release()

    async def _wait(self, partition: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[turn] = partition
        try:
            await turn
        except asyncio.CancelledError:
            if self._waiting.pop(turn, None) is None:  # it got the slot just before
                self._release()
            raise

    def _release(self) -> None:
        waiting = [turn for turn in self._waiting if not turn.cancelled()]
        if not waiting:
            self._free += 1
            return
        turn = max(waiting, key=lambda each: self._searches(self._waiting[each]))
        del self._waiting[turn]
        turn.set_result(None)
