"""Excuses the errors that a fault causes until all gateways are ready again."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from random import Random
from typing import TypeAlias

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call
from loadtests.servers.faults import Fault
from loadtests.soak.connections import connect
from loadtests.soak.work.context import SoakContext

WarmUp: TypeAlias = Callable[[SoakContext], Awaitable[None]]

_READY_S_MAX = 30.0
_POLL_S = 0.1
_OK = 200


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


async def lasting(
    context: SoakContext,
    fault: Fault,
    random: Random,
    lasts_s: tuple[float, float],
    warm_up: WarmUp | None = None,
) -> None:
    """The fault from its beginning to its end; one that may cause no error excuses none."""
    async with nullcontext() if fault.is_silent else excused(context, warm_up):
        await fault.begin()
        await asyncio.sleep(random.uniform(*lasts_s))
        await fault.mend()


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
