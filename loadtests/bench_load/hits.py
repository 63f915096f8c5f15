"""Exact hits only, at the rate of a busy tenant."""

from dataclasses import asdict
from functools import partial

from loadtests.bench import measurement
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section
from loadtests.bench_load import bare
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.servers import service
from loadtests.servers.service import Service

_P99_MS_MAX = 2.0
_P99_TO_BARE_MAX = 1.5
_HITS_MIN = 0.999


def measure(run: Run) -> Section:
    servers = service.nearhit(SETTINGS)
    return measurement.on(servers, run, partial(_measured, run), writes=False)


async def _measured(run: Run, _: Service, environment: LoadEnvironment) -> Section:
    load = bare.hits_load(measurement.seconds(run))
    agents = environment.agents(load)
    figures = await measurement.drive(environment, load, agents, run.console)
    yardstick = await bare.drive(environment, load, agents, run.console)
    p99_ms, bare_p99_ms = (measurement.percentile_ms(driven, 99) for driven in (figures, yardstick))
    rows = {
        "from when it was due": (figures, "all"),
        "from when it was sent": (figures, "sent"),
        "a bare app, from when it was due": (yardstick, "all"),
        "a bare app, from when it was sent": (yardstick, "sent"),
    }
    text = (
        f"{load.rate:g} requests per second for {load.seconds:g} s, Poisson arrivals, no writes: "
        f"each of {len(environment.world.subjects)} agents repeats its one question.\n\n"
        f"{measurement.latency_table(rows)}\n\n"
        "The bare app is a Starlette app that parses the body and returns the bytes of such an "
        "answer: its latency is the share of the machine and of the load generator.\n"
        f"The load generator itself was late by {figures.late.percentile_ms(99):.1f} ms at P99, on "
        "cores that it shares with the servers."
    )
    return Section(
        "Exact hits",
        text,
        {"load": asdict(load), "hits": figures.as_json(), "bare": yardstick.as_json()},
        [
            Bar("P99 ms", p99_ms, at_most=_P99_MS_MAX),
            Bar("P99, to the bare app's", p99_ms / bare_p99_ms, at_most=_P99_TO_BARE_MAX),
            Bar("share of hits", 1 - figures.share("tier.miss"), at_least=_HITS_MIN),
            Bar("errors", figures.errors.total(), at_most=0),
        ],
    )
