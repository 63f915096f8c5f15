"""Excuses the errors that a fault causes until all gateways are ready again."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call
from loadtests.soak.connections import connect
from loadtests.soak.work.context import SoakContext

_READY_S_MAX = 30.0
_POLL_S = 0.1
_OK = 200


@asynccontextmanager
async def excused(context: SoakContext) -> AsyncIterator[None]:
    """Excuse errors until all gateways are ready."""
    context.outages.begin(time.monotonic())
    try:
        yield
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
