"""Each fault from its beginning to its end.

Errors are excused during a fault of PostgreSQL or of a gateway; a fault of Redis or of the worker
may cause none.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import orjson

from loadtests.load.connection_pool import connect
from loadtests.load.request import Call
from loadtests.servers.faults import fault
from loadtests.servers.faults.fault import Fault
from loadtests.servers.postgres.postgres_process import PostgresProcess
from loadtests.servers.server_set import ServerSet
from loadtests.soak.faults.injector import ServersFault, excused, lasting
from loadtests.soak.work.context import SoakContext

_LASTS_S = (0.2, 3.0)
_TAIL_S = (2.0, 6.0)  # in which writes are made after a copy, and lost


async def redis_older(servers: ServerSet, _: SoakContext, random: Random) -> None:
    """Redis starts again with its contents of some seconds before."""
    redis = servers.redis
    await asyncio.to_thread(redis.save)
    await asyncio.sleep(random.uniform(*_TAIL_S))
    await asyncio.to_thread(redis.kill)
    redis.start()


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
