"""All gateways are restarted one after the other under load; one is killed."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from loadtests.bench import measurement, phases
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.servers import server_set
from loadtests.servers.server_set import ServerSet

_GATEWAYS = 2
_LOAD = Load(rate=100.0, writes=2.0, seconds=45.0, warm_up_s=3.0, connections=256)
_QUIET_S = 5.0
_DRAINED = "drained, then restarted"
_COLUMNS = {
    **phases.COLUMNS,
    "errors": ("failed", ",d"),
    "requests": ("of requests", ",d"),
}


def measure(run: Run) -> Section:
    servers = server_set.running(_GATEWAYS, SETTINGS, balanced=True)
    return measurement.on(servers, run, partial(_measured, run))


async def _measured(run: Run, started: ServerSet, environment: LoadEnvironment) -> Section:
    changes = {
        _DRAINED: lambda: _roll(started),
        "restarted without draining": lambda: _roll(started, drained=False),
        "killed, then started": lambda: _kill(started),
    }
    results = {name: await _suffered(environment, change) for name, change in changes.items()}
    run.console.print(str(results), markup=False)
    notes = (
        f"{_GATEWAYS} gateways behind HAProxy, {_LOAD.rate:g} searches and {_LOAD.writes:g} writes "
        "per second. One after the other is drained (`set server … state drain`), stopped "
        "(SIGTERM), started, and used again when `/readyz` succeeds. Then the same without "
        "draining, so that HAProxy has to detect it; then one is killed with its open requests."
    )
    bars = [
        Bar("failed in the rolling restart", results[_DRAINED]["errors"], at_most=0),
        *measurement.correct(environment),
    ]
    return rows_section("Rolling restart", notes, "", results, _COLUMNS, bars)


async def _suffered(environment: LoadEnvironment, change: Callable[[], None]) -> dict[str, Any]:
    measured, figures = await phases.measure(
        environment, _LOAD, None, lambda: asyncio.to_thread(change), quiet_s=_QUIET_S
    )
    return {
        **measured,
        "errors": figures.errors.total(),
        "requests": figures.requests,
    }


def _roll(started: ServerSet, *, drained: bool = True) -> None:
    assert started.balancer is not None, "it was asked for"
    for number, gateway in enumerate(started.gateways):
        if drained:
            started.balancer.drain(number)
        gateway.stop()
        gateway.start()
        started.balancer.bring_back(number)


def _kill(started: ServerSet) -> None:
    assert started.balancer is not None, "it was asked for"
    started.gateways[0].kill()
    started.gateways[0].start()
    started.balancer.bring_back(0)
