"""Slots shared by tenants: none holds more than its share, and waiting tenants take turns.

1. A request takes a slot at once if one is free and its tenant holds less than its share.
2. Otherwise it waits in the queue of its tenant.
3. A slot that becomes free goes to the waiting tenant that holds the fewest slots and is below its
   share; of several such tenants, to the one that has waited longest since its last turn.

So no slot is free while a request that may have it waits, and step 1 overtakes no request.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common.errors import Saturated


class FairSlots:
    """Belongs to one event loop.

    slots: the number of slots in use at once.
    tenant_slots_max: those that one tenant holds at most; half of all unless given.
    waiting_max: the most requests of one tenant that wait.
    wait_s_max: the longest time that a request waits.
    """

    def __init__(
        self,
        slots: int,
        *,
        waiting_max: int,
        wait_s_max: float,
        tenant_slots_max: int | None = None,
    ) -> None:
        self._free = slots
        self._share = tenant_slots_max or max(1, (slots + 1) // 2)
        self._waiting_max = waiting_max
        self._wait_s_max = wait_s_max
        self._slots_in_use: dict[str, int] = {}
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
        """Take a slot, which `release` returns. Raises `Saturated`."""
        if not self._take(tenant):
            await self._wait(tenant)

    def release(self, tenant: str) -> None:
        slots_in_use = self._slots_in_use[tenant] - 1
        if slots_in_use:
            self._slots_in_use[tenant] = slots_in_use
        else:
            del self._slots_in_use[tenant]
        self._free += 1
        self._serve()

    def _take(self, tenant: str) -> bool:
        slots_in_use = self._slots_in_use.get(tenant, 0)
        if not self._free or slots_in_use >= self._share:
            return False
        self._free -= 1
        self._slots_in_use[tenant] = slots_in_use + 1
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
            by_itself = self._slots_in_use.get(tenant, 0) >= self._share
            self._give_up(tenant, turn)
            raise Saturated(tenant, by_itself=by_itself) from None
        except asyncio.CancelledError:
            self._give_up(tenant, turn)
            raise

    def _give_up(self, tenant: str, turn: asyncio.Future[None]) -> None:
        """Leave the queue; a slot granted at the same moment goes to the next request."""
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
            tenant = min(self._queues, key=lambda name: self._slots_in_use.get(name, 0))
            if not self._take(tenant):
                return  # every waiting tenant already holds its share
            queue = self._queues.pop(tenant)
            turn = queue.popleft()
            if queue:
                self._queues[tenant] = queue  # behind the others
            if turn.done():  # its request was cancelled and has not run since
                self.release(tenant)
                return
            turn.set_result(None)
