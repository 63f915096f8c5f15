"""Slots that tenants share: no tenant holds more than its share, and tenants that wait take turns.

1. A request takes a slot at once if one is free and its tenant holds less than its share.
2. Otherwise it waits in the queue of its tenant.
3. A slot that becomes free goes to the waiting tenant that holds the fewest slots and is below its
   share; of several such tenants, to the one that has waited longest since its last turn.

So no slot is free while a request waits that may have it, and step 1 passes nobody over.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from index.errors import Saturated


class FairShare:
    """Belongs to one event loop.

    slots: how many holders there are at once.
    share: how many of them one tenant may be; half of the slots unless it is given.
    waiting_max: how many requests of one tenant wait at most.
    wait_s_max: how long a request waits at most.
    """

    def __init__(
        self, slots: int, *, waiting_max: int, wait_s_max: float, share: int | None = None
    ) -> None:
        self._free = slots
        self._share = max(1, (slots + 1) // 2) if share is None else share
        self._waiting_max = waiting_max
        self._wait_s_max = wait_s_max
        self._held: dict[str, int] = {}
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}  # in the order of their turns

    @asynccontextmanager
    async def slot(self, tenant: str) -> AsyncIterator[None]:
        """A slot for the body. Raises `Saturated`."""
        await self.acquire(tenant)
        try:
            yield
        finally:
            self.release(tenant)

    async def acquire(self, tenant: str) -> None:
        """Take a slot, which `release` gives back. Raises `Saturated`."""
        if not self._take(tenant):
            await self._wait(tenant)

    def release(self, tenant: str) -> None:
        held = self._held[tenant] - 1
        if held:
            self._held[tenant] = held
        else:
            del self._held[tenant]
        self._free += 1
        self._serve()

    def _take(self, tenant: str) -> bool:
        held = self._held.get(tenant, 0)
        if not self._free or held >= self._share:
            return False
        self._free -= 1
        self._held[tenant] = held + 1
        return True

    async def _wait(self, tenant: str) -> None:
        queue = self._queues.setdefault(tenant, deque())
        if len(queue) >= self._waiting_max:
            raise Saturated(tenant, by_itself=True)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            async with asyncio.timeout(self._wait_s_max):
                await turn
        except TimeoutError:
            by_itself = self._held.get(tenant, 0) >= self._share
            self._give_up(tenant, turn)
            raise Saturated(tenant, by_itself=by_itself) from None
        except asyncio.CancelledError:
            self._give_up(tenant, turn)
            raise

    def _give_up(self, tenant: str, turn: asyncio.Future[None]) -> None:
        """The slot may have come at the same moment; then it goes to the next one."""
        if turn.done() and not turn.cancelled():
            self.release(tenant)
            return
        queue = self._queues.get(tenant)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[tenant]

    def _serve(self) -> None:
        while self._free and self._queues:
            tenant = min(self._queues, key=lambda name: self._held.get(name, 0))
            if not self._take(tenant):
                return  # each tenant that waits holds its share
            queue = self._queues.pop(tenant)
            turn = queue.popleft()
            if queue:
                self._queues[tenant] = queue  # behind the others
            if turn.done():  # its request was cancelled and has not run since
                self.release(tenant)
                return
            turn.set_result(None)
