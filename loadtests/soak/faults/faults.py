"""Each fault from its beginning to its end.

Errors are excused during a fault of PostgreSQL or of a gateway; a fault of Redis or of the worker
may cause none.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import TypeAlias

import orjson

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call
from loadtests.soak.connections import connect
from loadtests.soak.work.context import SoakContext

Fault: TypeAlias = Callable[[SoakContext, Random], Awaitable[None]]

_LASTS_S = (0.2, 3.0)
_TAIL_S = (2.0, 6.0)  # in which writes are made after a copy, and lost
_FULL = "2mb"
_READY_S_MAX = 30.0
_POLL_S = 0.1
_OK = 200


async def redis_killed(context: SoakContext, random: Random) -> None:
    redis = context.servers.redis
    redis.forget()
    await asyncio.to_thread(redis.kill)
    await _while(random)
    redis.start()


async def redis_older(context: SoakContext, random: Random) -> None:
    """Redis starts again with its contents of some seconds before."""
    redis = context.servers.redis
    await asyncio.to_thread(redis.save)
    await asyncio.sleep(random.uniform(*_TAIL_S))
    await asyncio.to_thread(redis.kill)
    redis.start()


async def redis_paused(context: SoakContext, random: Random) -> None:
    context.servers.redis.pause()
    await _while(random)
    context.servers.redis.resume()


async def redis_full(context: SoakContext, random: Random) -> None:
    redis = context.servers.redis
    await asyncio.to_thread(redis.limit, _FULL)
    await _while(random)
    await asyncio.to_thread(redis.limit, "0")


async def worker_killed(context: SoakContext, random: Random) -> None:
    context.servers.worker.kill()
    await _while(random)
    context.servers.worker.start()


async def gateway_killed(context: SoakContext, random: Random) -> None:
    gateway = random.choice(context.servers.gateways)
    async with _excused(context):
        await asyncio.to_thread(gateway.kill)
        await _while(random)
        await asyncio.to_thread(gateway.start)


async def postgres_crashed(context: SoakContext, _: Random) -> None:
    """One process is killed; PostgreSQL closes all connections and recovers by itself."""
    async with _excused(context):
        await asyncio.to_thread(context.servers.postgres.crash)


async def postgres_restarted(context: SoakContext, random: Random) -> None:
    postgres = context.servers.postgres
    async with _excused(context):
        await asyncio.to_thread(postgres.stop, random.choice(("fast", "immediate")))
        await _while(random)
        await asyncio.to_thread(postgres.start)


async def postgres_restored(context: SoakContext, random: Random) -> None:
    """PostgreSQL comes back with a copy of its data some seconds old; all else goes on."""
    postgres = context.servers.postgres
    await _to_an_older_history(context, random, postgres.copy, postgres.restore)


async def postgres_failed_over(context: SoakContext, random: Random) -> None:
    """An asynchronous standby takes over, which lacks the last commits."""
    postgres = context.servers.postgres
    await _to_an_older_history(context, random, postgres.standby, postgres.fail_over)


async def budget_spent(context: SoakContext, random: Random) -> None:
    """A tenant's budget is spent, so that writes that need embeddings wait; then it is raised."""
    await _set_budget(context, 0.0)
    await asyncio.sleep(random.uniform(*_TAIL_S))
    await _set_budget(context, None)


FAULTS: Mapping[str, Fault] = {
    "redis killed": redis_killed,
    "redis paused": redis_paused,
    "redis full": redis_full,
    "redis started with an older memory": redis_older,
    "worker killed": worker_killed,
    "gateway killed": gateway_killed,
    "postgres crashed": postgres_crashed,
    "postgres restarted": postgres_restarted,
    "postgres restored": postgres_restored,
    "postgres failed over": postgres_failed_over,
    "budget spent": budget_spent,
}


async def _to_an_older_history(
    context: SoakContext,
    random: Random,
    copy: Callable[[], Path],
    take_over: Callable[[Path], None],
) -> None:
    state, postgres = context.state, context.servers.postgres
    async with context.at_rest():
        copied = state.copy()
        data = await asyncio.to_thread(copy)
    await asyncio.sleep(random.uniform(*_TAIL_S))
    async with _excused(context):
        state.leave()
        await asyncio.to_thread(postgres.kill)
        await asyncio.to_thread(take_over, data)
        state.go_back(copied)
        context.oracle.forget()


@asynccontextmanager
async def _excused(context: SoakContext) -> AsyncIterator[None]:
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


async def _set_budget(context: SoakContext, budget: float | None) -> None:
    body = orjson.dumps({"budget_month": budget})
    for gateway in context.servers.gateways:  # each caches it for some seconds
        connection = connect(gateway.url)
        for tenant in context.admins:
            call = Call("PUT", f"/v1/tenants/{tenant}/budget", body)
            await context.send(connection, call, context.servers.admin_key, "budget")
        await connection.close()


async def _while(random: Random) -> None:
    await asyncio.sleep(random.uniform(*_LASTS_S))
