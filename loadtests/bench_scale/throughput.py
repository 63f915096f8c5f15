"""The capacity of one, two and three gateways behind one balancer."""

import os

import uvloop

from loadtests.bench.frame import SETTINGS, NoOptions, Run
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_load import capacity, measurement
from loadtests.loadtest.driver import Load
from loadtests.servers import server_set
from loadtests.servers.server_set import ServerSet

_COUNTS = (1, 2, 3)
_LOAD = Load(writes=2.0, connections=256)


def measure(run: Run[NoOptions]) -> Section:
    borne: dict[int, float] = {}
    bars: list[Bar] = []
    judged = 0
    for count in _COUNTS:
        run.console.print(f"{count} gateways")
        with server_set.running(count, SETTINGS, balanced=True) as started:
            borne[count], faults, answers = uvloop.run(_borne(started, run))
        bars += [Bar(f"{count} gateways: {bar.what}", bar.figure, at_most=0) for bar in faults]
        judged += answers
    rows = [(str(count), f"{rate:,.0f}", f"{rate / borne[1]:.2f}") for count, rate in borne.items()]
    text = (
        "The mix of [the benchmark of load](load.md), through HAProxy, and its capacity as defined "
        f"there. All processes, the load generator too, share {os.cpu_count()} cores: this shows "
        "that gateways do not hinder each other, not what more machines would bear. "
        f"{judged:,} answers were judged.\n\n"
        f"{table(('gateways', 'searches per second', 'to one'), rows)}"
    )
    return Section("Throughput by number of gateways", text, {"borne": borne}, bars)


async def _borne(started: ServerSet, run: Run[NoOptions]) -> tuple[float, list[Bar], int]:
    way, admin_key = started.ways[0], started.admin_key
    async with measurement.environment(way, admin_key, run) as environment:
        rate = await capacity.find(environment, _LOAD, environment.agents(_LOAD), run.console)
        return rate, list(measurement.correct(environment)), environment.judge.counts["judged"]
