"""Fifty gateways on one small PostgreSQL, through PgBouncer."""

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict, replace
from urllib.parse import unquote, urlsplit

import asyncpg
import uvloop

from loadtests.bench import measurement
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section
from loadtests.load.figures import Figures
from loadtests.loadtest.driver import Load
from loadtests.servers import balancer, gateway, processes, server_set, service
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.postgres import pgbouncer
from loadtests.servers.postgres.pgbouncer import PgBouncerProcess
from loadtests.servers.service import Service

_GATEWAYS = 50
_STARTED_AT_ONCE = 4
_CONNECTIONS_MAX = "100"
_POOL_SIZE = 20  # of each of the two logins, as docs/operations/load-balancer.md says
_SEARCHES = "nearhit_search"
_LOAD = Load(rate=50.0, writes=1.0, seconds=30.0, warm_up_s=30.0, connections=256)
_LOOK_S = 0.2
_CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"""


def measure(run: Run) -> Section:
    if pgbouncer.PROGRAM is None:
        raise SystemExit(pgbouncer.MISSING)
    with server_set.running(
        0, SETTINGS, postgres_settings={"max_connections": _CONNECTIONS_MAX}
    ) as shared:
        return uvloop.run(_measured(shared.shared, run))


async def _measured(shared: Service, run: Run) -> Section:
    async with _pooled(shared) as settings:
        with ExitStack() as stack:
            first, *more = gateways = [GatewayProcess(shared, settings) for _ in range(_GATEWAYS)]
            gateway.start_all(stack, [first])
            async with measurement.environment(first.url, shared.admin_key, run) as environment:
                begun_s = time.monotonic()
                # Each gateway loads language models before it serves.
                await asyncio.to_thread(gateway.start_all, stack, more, _STARTED_AT_ONCE)
                took_s = time.monotonic() - begun_s
                run.console.print(f"{len(more)} more gateways started in {took_s:.0f} s")
                with balancer.before([each.port for each in gateways]) as before:
                    target = replace(environment.target, url=before.url)
                    balanced, agents = (
                        replace(environment, target=target),
                        environment.agents(_LOAD),
                    )
                    async with _looking(shared.database_url) as connections:
                        figures = await measurement.drive(balanced, _LOAD, agents, run.console)
                megabytes = processes.megabytes(each.pid for each in gateways)
        faults = measurement.correct(environment, "50 gateways: ")
    return _section(figures, faults, max(connections), took_s, megabytes)


def _section(
    figures: Figures, faults: Sequence[Bar], connections: int, took_s: float, megabytes: float
) -> Section:
    rows = measurement.latency_table({"all": (figures, "all"), "writes": (figures, "write")})
    text = (
        f"{_GATEWAYS} gateways with one worker each behind HAProxy. Each may open 17 connections "
        "by default and waits a second for Redis. A PgBouncer in transaction mode "
        f"(`default_pool_size = {_POOL_SIZE}`) stands before a PostgreSQL with "
        f"`max_connections = {_CONNECTIONS_MAX}`. {_LOAD.rate:g} searches and {_LOAD.writes:g} "
        "write per second, "
        f"on {os.cpu_count()} cores that all of it shares. Counting starts after half a minute, "
        "since the first searches of so many processes wait for each other.\n\n"
        f"{rows}\n\nPostgreSQL had at most {connections} connections. All gateways "
        f"but one took {took_s:.0f} s to start, {_STARTED_AT_ONCE} at a time; each uses "
        f"{megabytes / _GATEWAYS:.0f} MB."
    )
    bars = [
        Bar("failed, of 50 gateways' requests", figures.errors.total(), at_most=0),
        Bar("connections of PostgreSQL", connections, at_most=2 * _POOL_SIZE + 5),
        *faults,
    ]
    json_figures = {"connections": connections, "started_s": took_s, "megabytes": megabytes}
    return Section(
        "Fifty gateways", text, {**json_figures, "load": asdict(_LOAD), **figures.as_json()}, bars
    )


@asynccontextmanager
async def _pooled(shared: Service) -> AsyncIterator[dict[str, str]]:
    """Start PgBouncer; yields the settings of gateways that connect through it."""
    with service.beside(shared):
        pass  # it creates the schema and the role
    password = secrets.token_hex(16)
    connection = await asyncpg.connect(shared.database_url)
    await connection.execute(f"ALTER ROLE {_SEARCHES} LOGIN PASSWORD '{password}'")
    await connection.close()
    owner = urlsplit(shared.database_url)
    name, its_password = owner.username or "", unquote(owner.password or "")
    logins = {name: its_password, _SEARCHES: password}
    async with pgbouncer.pgbouncer_process(
        shared.database_url, logins, default_pool_size=_POOL_SIZE
    ) as bouncer:
        yield _settings(bouncer, shared.database_url, name, logins)


def _settings(
    bouncer: PgBouncerProcess, url: str, owner: str, logins: dict[str, str]
) -> dict[str, str]:
    return {
        **SETTINGS,
        "NEARHIT_POOLER_URL": bouncer.url(url, owner, logins[owner]),
        "NEARHIT_POOLER_SEARCH_URL": bouncer.url(url, _SEARCHES, logins[_SEARCHES]),
        "NEARHIT_REDIS_TIMEOUT_S": "1",  # on two cores, so many processes delay Redis
    }


@asynccontextmanager
async def _looking(database_url: str) -> AsyncIterator[list[int]]:
    """Sample the number of PostgreSQL connections."""
    counts: list[int] = []

    async def look() -> None:
        while True:
            counts.append(await connection.fetchval(_CONNECTIONS))
            await asyncio.sleep(_LOOK_S)

    connection = await asyncpg.connect(database_url)
    looking = asyncio.create_task(look())
    try:
        yield counts
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await connection.close()
