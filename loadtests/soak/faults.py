"""Each fault from its beginning to its end.

Errors are excused during a fault of PostgreSQL or of a gateway; a fault of Redis or of the worker
may cause none.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeAlias, TypeVar

import orjson

from loadtests.load.connection_pool import ConnectionPool, Unanswered, connect
from loadtests.load.request import Call
from loadtests.servers.faults import fault
from loadtests.servers.faults.fault import Fault
from loadtests.servers.postgres.postgres_process import PostgresProcess
from loadtests.servers.server_set import ServerSet
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


_LASTS_S = (0.2, 3.0)
_TAIL_S = (2.0, 6.0)  # in which writes are made after a copy, and lost


async def redis_older(servers: ServerSet, _: SoakContext, random: Random) -> None:
    """Redis starts again with its contents of some seconds before."""
    redis = servers.redis
    await asyncio.to_thread(redis.save)
    await asyncio.sleep(random.uniform(*_TAIL_S))
    await asyncio.to_thread(redis.program.kill)
    redis.program.start()


async def postgres_restarted(servers: ServerSet, context: SoakContext, random: Random) -> None:
    postgres = servers.postgres
    async with excused(context):
        await asyncio.to_thread(postgres.stop, random.choice(("fast", "immediate")))
        await asyncio.sleep(random.uniform(*_LASTS_S))
        await asyncio.to_thread(postgres.start)


async def postgres_restored(servers: ServerSet, context: SoakContext, random: Random) -> None:
    """PostgreSQL comes back with a copy of its data some seconds old; all else goes on."""
    postgres = servers.postgres
    await _to_an_older_history(postgres, context, random, postgres.copy, postgres.restore)


async def postgres_failed_over(servers: ServerSet, context: SoakContext, random: Random) -> None:
    """An asynchronous standby takes over, which lacks the last commits."""
    postgres = servers.postgres
    await _to_an_older_history(postgres, context, random, postgres.lost_standby, postgres.fail_over)


async def budget_spent(_: ServerSet, context: SoakContext, random: Random) -> None:
    """A tenant's budget is spent, so that writes that need embeddings wait; then it is raised."""
    await _set_budget(context, 0.0)
    await asyncio.sleep(random.uniform(*_TAIL_S))
    await _set_budget(context, None)


def _lasting(servers: ServerSet, random: Random) -> Mapping[str, Fault]:
    return fault.of(servers, random.choice(servers.gateways))


FAULTS: Mapping[str, ServersFault[ServerSet]] = {
    **lasting(
        (
            *("redis killed", "redis paused", "redis full"),
            *("worker killed", "gateway killed", "postgres crashed"),
        ),
        _lasting,
        _LASTS_S,
    ),
    "redis started with an older memory": redis_older,
    "postgres restarted": postgres_restarted,
    "postgres restored": postgres_restored,
    "postgres failed over": postgres_failed_over,
    "budget spent": budget_spent,
}


async def _to_an_older_history(
    postgres: PostgresProcess,
    context: SoakContext,
    random: Random,
    copy: Callable[[], Path],
    take_over: Callable[[Path], None],
) -> None:
    state = context.state
    async with context.at_rest():
        copied = state.copy()
        data = await asyncio.to_thread(copy)
    await asyncio.sleep(random.uniform(*_TAIL_S))
    async with excused(context):
        state.leave()
        await asyncio.to_thread(postgres.kill)
        await asyncio.to_thread(take_over, data)
        state.go_back(copied)
        context.oracle.forget()


async def _set_budget(context: SoakContext, budget: float | None) -> None:
    body = orjson.dumps({"budget_month": budget})
    for gateway in context.servers.gateways:  # each caches it for some seconds
        connection = connect(gateway.url)
        for tenant in context.admins:
            call = Call("PUT", f"/v1/tenants/{tenant}/budget", body)
            await context.send(connection, call, context.servers.admin_key, "budget")
        await connection.close()
