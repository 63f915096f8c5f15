"""A thread pool with fair shares: a busy tenant leaves threads to the other tenants.

The processor time of a request's functions counts as that of its steps at the event loop.
"""

import asyncio
import contextvars
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from common.shares import turns
from common.shares.slots import FairSlots
from common.shares.turns import TurnTaker, map_in_steps

P = ParamSpec("P")
T = TypeVar("T")

STEP_BYTES_MAX = 16_384  # most texts of as many bytes are parsed in a millisecond


class FairThreads:
    """number: of threads. tenant_threads_max: those of one tenant; half of all unless given."""

    def __init__(
        self,
        number: int,
        *,
        name: str,
        waiting_max: int,
        wait_s_max: float,
        tenant_threads_max: int | None = None,
    ) -> None:
        self._shares = FairSlots(
            number,
            waiting_max=waiting_max,
            wait_s_max=wait_s_max,
            tenant_slots_max=tenant_threads_max,
        )
        self._executor = ThreadPoolExecutor(number, thread_name_prefix=name)

    async def run(
        self, tenant: str, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs
    ) -> T:
        """Run the function in a thread and return its result. Raises `Saturated`.

        Cancelling the caller does not stop the function, which keeps its thread until it ends.
        """
        await self._shares.acquire(tenant)
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        taker, used_s = turns.current_taker(), 0.0

        def call() -> T:
            nonlocal used_s
            began_s = time.thread_time()
            try:
                return context.run(function, *arguments, **keywords)
            finally:
                used_s = time.thread_time() - began_s

        def end(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(self._end, tenant, taker, used_s)

        running = self._executor.submit(call)
        running.add_done_callback(end)
        try:
            return await asyncio.wrap_future(running)
        finally:
            del running  # an error's traceback holds this frame, which must not hold the error

    def _end(self, tenant: str, taker: TurnTaker | None, used_s: float) -> None:
        self._shares.release(tenant)
        if taker is not None:
            taker.turns.charge(tenant, used_s)

    def of(self, tenant: str) -> "TenantThreads":
        return TenantThreads(self, tenant)

    def close(self) -> None:
        """Cancel the calls that have not begun."""
        self._executor.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class TenantThreads:
    """The threads as one tenant uses them."""

    threads: FairThreads
    tenant: str

    async def run(self, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
        """As `FairThreads.run`. Raises `Saturated`."""
        return await self.threads.run(self.tenant, function, *arguments, **keywords)

    async def map(self, function: Callable[[bytes], T], texts: Sequence[bytes]) -> list[T]:
        """The result for each: in steps of the event loop if the texts are short, else in a thread.

        A function that parses what callers send holds the event loop for as long as that is.
        Raises `Saturated`.
        """
        if sum(map(len, texts)) <= STEP_BYTES_MAX:
            return await map_in_steps(function, texts)
        return await self.run(_map, function, texts)


def _map(function: Callable[[bytes], T], texts: Sequence[bytes]) -> list[T]:
    return [function(text) for text in texts]
