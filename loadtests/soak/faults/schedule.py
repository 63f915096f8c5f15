"""The order and the moments of the faults: shuffled in each round, at random moments."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from random import Random

from loadtests.soak.faults.faults import FAULTS
from loadtests.soak.work.context import SoakContext

_STALL_EVERY_S = (0.5, 3.0)
_STALLED_S = (0.1, 1.0)


class FaultSchedule:
    """names: of the faults. every_s: from the end of a fault to the next one, on average.

    happened: how often each fault has happened.
    """

    def __init__(
        self, context: SoakContext, names: Sequence[str], every_s: float, random: Random
    ) -> None:
        self.happened: Counter[str] = Counter()
        self._context = context
        self._names = names
        self._every_s = every_s
        self._random = random

    async def cause_faults(self) -> None:
        while True:
            for name in self._random.sample(self._names, len(self._names)):
                await asyncio.sleep(self._every_s * self._random.uniform(0.5, 1.5))
                async with self._context.calm:
                    self.happened[name] += 1
                    self._context.audit.fault = name
                    await FAULTS[name](self._context, self._random)

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
