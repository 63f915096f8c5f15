"""Gateways behind one balancer: what they bear, and what a rolling restart costs."""

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

import asyncpg
import uvloop

from loadtests.bench import measurement
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.load.figures import Figures
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.servers import balancer, gateway, processes, server_set, service
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.postgres import pgbouncer
from loadtests.servers.postgres.pgbouncer import PgBouncerProcess
from loadtests.servers.server_set import ServerSet
from loadtests.servers.service import Service

_COUNTS = (1, 2, 3)  # of gateways whose capacity is measured
_RESTARTED = 2
_LOAD = Load(writes=2.0, connections=256)
_RATE, _SECONDS, _QUIET_S = 100.0, 45.0, 5.0  # while gateways restart
_DRAINED = "drained, then restarted"
_COLUMNS = {"per_second": ("searches per second", ",.0f"), "to_one": ("to one", ".2f")}
_RESTART_COLUMNS = {
    **measurement.PHASE_COLUMNS,
    "errors": ("failed", ",d"),
    "requests": ("of requests", ",d"),
}


def measure_throughput(run: Run) -> Section:
    """The capacity of one, two and three gateways behind one balancer."""
    borne: dict[int, float] = {}
    bars: list[Bar] = []
    judged = 0

    async def measured(started: ServerSet, environment: LoadEnvironment) -> int:
        agents, count = environment.agents(_LOAD), len(started.gateways)
        borne[count] = await measurement.capacity(environment, _LOAD, agents, run.console)
        bars.extend(measurement.correct(environment, f"{count} gateways: "))
        return environment.judge.counts["judged"]

    for count in run.sizes(*_COUNTS, quick=_COUNTS[:1]):
        run.console.print(f"{count} gateways")
        judged += measurement.on(server_set.running(count, SETTINGS, balanced=True), run, measured)
    one = next(iter(borne.values()))
    rows = {str(count): {"per_second": rate, "to_one": rate / one} for count, rate in borne.items()}
    notes = (
        "The mix of [the benchmark of load](load.md), through HAProxy, and its capacity as defined "
        f"there. All processes, the load generator too, share {os.cpu_count()} cores: this shows "
        "that gateways do not hinder each other, not what more machines would bear. "
        f"{judged:,} answers were judged."
    )
    title = "Throughput by number of gateways"
    return rows_section(title, notes, "gateways", rows, _COLUMNS, bars)


def measure_restart(run: Run) -> Section:
    """All gateways are restarted one after the other under load; one is killed."""
    servers = server_set.running(_RESTARTED, SETTINGS, balanced=True)
    return measurement.on(servers, run, partial(_measured_restart, run))


async def _measured_restart(run: Run, started: ServerSet, environment: LoadEnvironment) -> Section:
    changes = {
        _DRAINED: partial(_roll, started, drained=True),
        "restarted without draining": partial(_roll, started, drained=False),
        "killed, then started": partial(_kill, started),
    }
    load = replace(_LOAD, rate=_RATE, seconds=run.sized(_SECONDS, 15.0), warm_up_s=3.0)
    rows = {name: await _suffered(environment, load, change) for name, change in changes.items()}
    run.console.print(str(rows), markup=False)
    notes = (
        f"{_RESTARTED} gateways behind HAProxy, {load.rate:g} searches and {load.writes:g} writes "
        "per second. One after the other is drained (`set server … state drain`), stopped "
        "(SIGTERM), started, and used again when `/readyz` succeeds. Then the same without "
        "draining, so that HAProxy has to detect it; then one is killed with its open requests."
    )
    bars = [
        Bar("failed in the rolling restart", rows[_DRAINED]["errors"], at_most=0),
        *measurement.correct(environment),
    ]
    return rows_section("Rolling restart", notes, "", rows, _RESTART_COLUMNS, bars)


async def _suffered(
    environment: LoadEnvironment, load: Load, change: Callable[[], None]
) -> dict[str, Any]:
    disturb = partial(asyncio.to_thread, change)
    measured, figures = await measurement.disturbed(
        environment, load, None, disturb, quiet_s=_QUIET_S
    )
    return {**measured, "errors": figures.errors.total(), "requests": figures.requests}


def _roll(started: ServerSet, *, drained: bool) -> None:
    assert started.balancer is not None, "it was asked for"
    for number, restarted in enumerate(started.gateways):
        if drained:
            started.balancer.drain(number)
        restarted.stop()
        restarted.start()
        started.balancer.bring_back(number)


def _kill(started: ServerSet) -> None:
    assert started.balancer is not None, "it was asked for"
    started.gateways[0].kill()
    started.gateways[0].start()
    started.balancer.bring_back(0)


_GATEWAYS = 50
_STARTED_AT_ONCE = 4
_CONNECTIONS_MAX = "100"
_POOL_SIZE = 20  # of each of the two logins, as docs/operations/load-balancer.md says
_SEARCHES = "nearhit_search"
_FEW = Load(rate=50.0, writes=1.0, seconds=30.0, warm_up_s=30.0, connections=256)
_LOOK_S = 0.2
_CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"""


def measure_many(run: Run) -> Section:
    """Fifty gateways on one small PostgreSQL, through PgBouncer."""
    if pgbouncer.PROGRAM is None:
        raise SystemExit(pgbouncer.MISSING)
    with server_set.running(
        0, SETTINGS, postgres_settings={"max_connections": _CONNECTIONS_MAX}
    ) as shared:
        return uvloop.run(_measured_many(shared.shared, run))


async def _measured_many(shared: Service, run: Run) -> Section:
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
                        environment.agents(_FEW),
                    )
                    async with _looking(shared.database_url) as connections:
                        figures = await measurement.drive(balanced, _FEW, agents, run.console)
                megabytes = processes.megabytes(each.pid for each in gateways)
        faults = measurement.correct(environment, "50 gateways: ")
    return _many_section(figures, faults, max(connections), took_s, megabytes)


def _many_section(
    figures: Figures, faults: Sequence[Bar], connections: int, took_s: float, megabytes: float
) -> Section:
    rows = measurement.latency_table({"all": (figures, "all"), "writes": (figures, "write")})
    text = (
        f"{_GATEWAYS} gateways with one worker each behind HAProxy. Each may open 17 connections "
        "by default and waits a second for Redis. A PgBouncer in transaction mode "
        f"(`default_pool_size = {_POOL_SIZE}`) stands before a PostgreSQL with "
        f"`max_connections = {_CONNECTIONS_MAX}`. {_FEW.rate:g} searches and {_FEW.writes:g} "
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
        "Fifty gateways",
        text,
        {**json_figures, "load": asdict(_FEW), **figures.as_json()},
        bars,
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
