"""The capacity of one, two and three gateways behind one balancer."""

import os

from loadtests.bench import capacity, measurement
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.servers import server_set
from loadtests.servers.server_set import ServerSet

_COUNTS = (1, 2, 3)
_COLUMNS = {"per_second": ("searches per second", ",.0f"), "to_one": ("to one", ".2f")}
_LOAD = Load(writes=2.0, connections=256)


def measure(run: Run) -> Section:
    borne: dict[int, float] = {}
    bars: list[Bar] = []
    judged = 0

    async def measured(started: ServerSet, environment: LoadEnvironment) -> int:
        agents, count = environment.agents(_LOAD), len(started.gateways)
        borne[count] = await capacity.find(environment, _LOAD, agents, run.console)
        bars.extend(measurement.correct(environment, f"{count} gateways: "))
        return environment.judge.counts["judged"]

    for count in _COUNTS:
        run.console.print(f"{count} gateways")
        judged += measurement.on(server_set.running(count, SETTINGS, balanced=True), run, measured)
    rows = {
        str(count): {"per_second": rate, "to_one": rate / borne[1]} for count, rate in borne.items()
    }
    notes = (
        "The mix of [the benchmark of load](load.md), through HAProxy, and its capacity as defined "
        f"there. All processes, the load generator too, share {os.cpu_count()} cores: this shows "
        "that gateways do not hinder each other, not what more machines would bear. "
        f"{judged:,} answers were judged."
    )
    title = "Throughput by number of gateways"
    return rows_section(title, notes, "gateways", rows, _COLUMNS, bars)
