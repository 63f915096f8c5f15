"""A worker that kills itself, as `kill -9` would, at a named step of its work.

    python -m tests.gateway.support.crashing_worker STEP [TIMES]

STEP is a statement, before whose transaction is committed if it is in one; `embedded`, when the
embedder has answered; or an event of the cache, such as `drained`. It dies when that has come for
the TIMES-th time, the first unless told.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable

from gateway.configured import configured_embedders
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from tests.gateway.support.workers import worker_services


class Deadly(Metrics):
    """strike: called once, when the step has come."""

    def __init__(self, step: str, strike: Callable[[], None], times: int = 1) -> None:
        super().__init__()
        self._step = step
        self._strike = strike
        self._left = times
        observe = self.statement

        def observe_and_come(name: str, seconds: float) -> None:
            observe(name, seconds)
            self._come_to(name)

        self.statement = observe_and_come

    def embedded(self, kind: str, seconds: float) -> None:
        super().embedded(kind, seconds)
        self._come_to("embedded")

    def cache_event(self, event: str, amount: int = 1) -> None:
        super().cache_event(event, amount)
        self._come_to(event)

    def _come_to(self, step: str) -> None:
        self._left -= step == self._step
        if not self._left:
            self._left = -1
            self._strike()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(step: str, times: int) -> None:
    settings, counted = Settings(), Deadly(step, die, times)
    made = configured_embedders.make_all(settings, counted.embedding_tokens)
    async with worker_services(settings, *made, metrics=counted) as services:
        await worker_loop.make_worker(services.worker).run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1))
