"""The order and the moments of the faults: shuffled in each round, at random moments."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import TypeAlias

from loadtests.soak.work.context import SoakContext

SoakFault: TypeAlias = Callable[[SoakContext, Random], Awaitable[None]]

_STALL_EVERY_S = (0.5, 3.0)
_STALLED_S = (0.1, 1.0)


class FaultSchedule:
    """faults: by name. every_s: from the end of a fault to the next one, on average.

    happened: how often each fault has happened.
    """

    def __init__(
        self, context: SoakContext, faults: Mapping[str, SoakFault], every_s: float, random: Random
    ) -> None:
        self.happened: Counter[str] = Counter()
        self._context = context
        self._faults = faults
        self._every_s = every_s
        self._random = random

    async def cause_faults(self) -> None:
        while True:
            for name in self._random.sample(list(self._faults), len(self._faults)):
                await asyncio.sleep(self._every_s * self._random.uniform(0.5, 1.5))
                async with self._context.calm:
                    self.happened[name] += 1
                    self._context.audit.fault = name
                    await self._faults[name](self._context, self._random)

    async def stall_worker(self) -> None:
        """So that queued writes wait long enough to be overtaken."""
        worker = self._context.servers.worker
        while True:
            await asyncio.sleep(self._random.uniform(*_STALL_EVERY_S))
            worker.pause()
            try:
                await asyncio.sleep(self._random.uniform(*_STALLED_S))
            finally:
                worker.resume()
