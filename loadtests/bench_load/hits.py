"""Exact hits only, at the rate of a busy tenant."""

from dataclasses import asdict, replace

import uvloop
from rich.console import Console

from loadtests.bench.frame import SETTINGS
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_load import measurement
from loadtests.bench_load.options import LoadBenchRun
from loadtests.load.connection_pool import ConnectionPool
from loadtests.load.figures import Figures
from loadtests.load.request import Call
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import Deployment, LoadEnvironment, load_environment
from loadtests.loadtest.judge import StalenessJudge
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload.agents import Agents

_RATE = 500.0
_P99_MS_MAX = 2.0
_HITS_MIN = 0.999


def measure(run: LoadBenchRun) -> Section:
    with service.nearhit(SETTINGS) as gateway:
        return uvloop.run(_measured(run, gateway))


async def _measured(run: LoadBenchRun, gateway: Service) -> Section:
    target = Deployment(gateway.url, admin_key=gateway.admin_key, data=run.data_folder, public=True)
    load = Load(
        rate=_RATE, writes=0, repeats=1, strangers=0, connections=256, seconds=run.options.seconds
    )
    async with load_environment(target, seed=1, writes=False) as environment:
        agents = environment.agents(load)
        figures = await measurement.drive(environment, load, agents, run.console)
        bare = await _of_bare(environment, load, agents, run.console)
    rows = [measurement.row("from when it was due", figures, "all")]
    rows.append(measurement.row("from when it was sent", figures, "sent"))
    rows.append(measurement.row("a bare app, from when it was due", bare, "all"))
    rows.append(measurement.row("a bare app, from when it was sent", bare, "sent"))
    text = (
        f"{_RATE:g} requests per second for {load.seconds:g} s, Poisson arrivals, no writes: each "
        f"of {len(environment.world.subjects)} agents repeats its one question.\n\n"
        f"{table(('', 'answers', *measurement.HEAD), rows)}\n\n"
        "The bare app is a Starlette app that parses the body and returns the bytes of such an "
        "answer: its latency is the share of the machine and of the load generator.\n"
        f"The load generator itself was late by {figures.late.percentile_ms(99):.1f} ms at P99, on "
        "cores that it shares with the servers."
    )
    return Section(
        "Exact hits",
        text,
        {"load": asdict(load), "hits": figures.as_json(), "bare": bare.as_json()},
        [
            Bar("P99 ms", measurement.percentile(figures, "p99_ms"), at_most=_P99_MS_MAX),
            Bar("share of hits", 1 - figures.share("tier.miss"), at_least=_HITS_MIN),
            Bar("errors", figures.errors.total(), at_most=0),
        ],
    )


async def _of_bare(
    environment: LoadEnvironment, load: Load, agents: Agents, console: Console
) -> Figures:
    """The same load on an app that returns a fixed answer."""
    request = agents.ask()
    connections = ConnectionPool(
        environment.target.url, connections_max=1, timeout_s=load.timeout_s
    )
    key = environment.keys.readers[request.who]
    answer = await connections.send(Call("POST", "/v1/search", request.question.body), key)
    await connections.close()
    with service.bare(answer.body) as (url, _):
        elsewhere = replace(
            environment,
            target=replace(environment.target, url=url),
            judge=StalenessJudge("no documents"),
        )
        return await measurement.drive(elsewhere, load, agents, console)
