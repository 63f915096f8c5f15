"""Causes faults at random moments, shuffled in each round, and excuses their errors."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from random import Random
from typing import TypeAlias, TypeVar

from loadtests.load.connection_pool import ConnectionPool, Unanswered, connect
from loadtests.load.request import Call
from loadtests.servers.faults.fault import Fault
from loadtests.soak.work.context import SoakContext

S = TypeVar("S")
WarmUp: TypeAlias = Callable[[SoakContext], Awaitable[None]]
SoakFault: TypeAlias = Callable[[SoakContext, Random], Awaitable[None]]
ServersFault: TypeAlias = Callable[[S, SoakContext, Random], Awaitable[None]]

_STALL_EVERY_S = (0.5, 3.0)
_STALLED_S = (0.1, 1.0)
_READY_S_MAX = 30.0
_POLL_S = 0.1
_OK = 200


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


def lasting(
    names: Iterable[str],
    faults_of: Callable[[S, Random], Mapping[str, Fault]],
    lasts_s: tuple[float, float],
    warm_up: WarmUp | None = None,
) -> dict[str, ServersFault[S]]:
    """Faults that last a while; one that may cause no error excuses none.

    faults_of: those of servers, of which some may be drawn.
    """

    async def last(name: str, servers: S, context: SoakContext, random: Random) -> None:
        fault = faults_of(servers, random)[name]
        async with nullcontext() if fault.is_silent else excused(context, warm_up):
            await fault.last(random.uniform(*lasts_s))

    return {name: partial(last, name) for name in names}


@asynccontextmanager
async def excused(context: SoakContext, warm_up: WarmUp | None = None) -> AsyncIterator[None]:
    """Excuse errors until all gateways are ready, and warm."""
    context.outages.begin(time.monotonic())
    try:
        yield
        if warm_up is not None:
            await warm_up(context)
        await _ready(context)
    finally:
        context.outages.end(time.monotonic())


async def _ready(context: SoakContext) -> None:
    deadline_s = time.monotonic() + _READY_S_MAX
    for gateway in context.servers.gateways:
        connection = connect(gateway.url)
        while not await _is_ready(connection):
            if time.monotonic() > deadline_s:
                context.audit.failed(f"{gateway.url} is not ready after {_READY_S_MAX:.0f} s")
                return
            await asyncio.sleep(_POLL_S)
        await connection.close()


async def _is_ready(connection: ConnectionPool) -> bool:
    try:
        return (await connection.send(Call("GET", "/readyz"), "")).status == _OK
    except Unanswered:
        return False
