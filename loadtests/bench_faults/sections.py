"""The sections: faults of the servers, and of a hosted embedding service."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import uvloop
from rich.console import Console

from loadtests.bench import measurement, phases
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench_faults import embeddings
from loadtests.bench_faults.slow_connections import CONNECTIONS, SlowConnections
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.servers import server_set
from loadtests.servers.faults import fault
from loadtests.servers.faults.fault import Fault
from loadtests.servers.processes import raise_file_limit
from loadtests.servers.server_set import ServerSet
from loadtests.workload.agents import Agents

BEFORE_S, LASTS_S, AFTER_S = 6.0, 5.0, 12.0
LOAD = Load(rate=100.0, writes=2.0, warm_up_s=3.0, timeout_s=5.0, connections=256)
RECOVERED_S_MAX = 5.0  # a starting value, not measured
_LASTS_S = {"gateway killed": 0.0}  # by fault, if not LASTS_S
_WRONG = ("stale", "leaked")
_COLUMNS = {
    **phases.COLUMNS,
    "during_errors": ("errors during", ",d"),
    "after_errors": ("after", ",d"),
    "write_errors": ("of writes", ",d"),
    "recovered_s": ("s to recover", ".1f"),
    **{name: (name, ",d") for name in _WRONG},
}
Results: TypeAlias = Mapping[str, Mapping[str, Any]]  # by fault, its figures
_SERVERS_TEXT = (
    "PostgreSQL crashes when one of its processes is killed: it closes all connections and "
    "recovers by itself. Paused, it keeps its connections and answers nothing. A killed gateway is "
    "started again at once; its recovery is its start. *Cut off* means that a relay between the "
    "gateway and Redis ends; Redis keeps its memory. While its disk is full, Redis can save no "
    "snapshot and refuses all writes until one succeeds."
)
_EMBEDDER_TEXT = (
    "The service answers in 20 ms. During the fault it accepts requests and drops them: searches "
    "use words alone, and writes that need embeddings are queued or rejected, and repeated."
)


def measure_servers(run: Run) -> Section:
    """Redis, PostgreSQL and the gateway."""
    raise_file_limit()
    servers = server_set.running(1, SETTINGS, wired=True)
    results = measurement.on(servers, run, partial(_measure_all, run))
    return _section("Servers", _SERVERS_TEXT, results)


async def _measure_all(run: Run, started: ServerSet, environment: LoadEnvironment) -> Results:
    agents = environment.agents(LOAD)
    return {
        name: await _measure_fault(
            *(environment, fault, agents, run.console), lasts_s=_LASTS_S.get(name, LASTS_S)
        )
        for name, fault in _faults(started).items()
    }


def measure_embedder(run: Run) -> Section:
    """A hosted embedding service that becomes unavailable."""
    return uvloop.run(_measure_embedder(run))


async def _measure_embedder(run: Run) -> Section:
    async with embeddings.serving() as service:
        settings = {
            "NEARHIT_EMBEDDER": "openai:words",
            "NEARHIT_OPENAI_BASE_URL": service.url,
            "NEARHIT_OPENAI_API_KEY": "none",
            "NEARHIT_OPENAI_DIMENSIONS": str(embeddings.WIDTH),
        }
        with ExitStack() as stack:
            running = server_set.running(1, {**SETTINGS, **settings})
            started = await asyncio.to_thread(stack.enter_context, running)
            way, admin_key = started.ways[0], started.admin_key
            async with measurement.environment(way, admin_key, run) as environment:
                agents = environment.agents(LOAD)
                fault = Fault(service.leave, service.come_back, is_silent=True)
                result = await _measure_fault(environment, fault, agents, run.console)
            await asyncio.to_thread(stack.close)  # while the service still answers
    return _section("A hosted embedder", _EMBEDDER_TEXT, {"embedding service away": result})


def _faults(started: ServerSet) -> dict[str, Fault]:
    """All but those of a worker, which the load does without."""
    crowd = SlowConnections(started.ways[0])
    simple = dict(fault.of(started, started.gateways[0]))
    del simple["worker killed"]
    slow = Fault(crowd.come, crowd.go, is_silent=True)
    return simple | {f"{CONNECTIONS:,} slow connections": slow}


async def _measure_fault(
    environment: LoadEnvironment,
    fault: Fault,
    agents: Agents,
    console: Console,
    *,
    lasts_s: float = LASTS_S,
) -> dict[str, Any]:
    counts = environment.judge.counts
    before = {name: counts[name] for name in _WRONG}
    load = replace(LOAD, seconds=BEFORE_S + lasts_s + AFTER_S)
    disturb = partial(fault.last, lasts_s)
    measured, figures = await phases.measure(environment, load, agents, disturb, quiet_s=BEFORE_S)
    result = {
        **measured,
        "write_errors": sum(
            count for what, count in figures.errors.items() if what.startswith("write")
        ),
        **{name: counts[name] - before[name] for name in _WRONG},
        "is_silent": fault.is_silent,
    }
    console.print(str(result), markup=False)
    return result


def _section(title: str, text: str, results: Results) -> Section:
    every = results.values()
    errors = sum(
        result[f"{name}_errors"] for result in every if result["is_silent"] for name in phases.NAMES
    )
    longest_s = max(result["recovered_s"] for result in every)
    bars = [
        *(
            Bar(f"{name} answers", sum(result[name] for result in every), at_most=0)
            for name in _WRONG
        ),
        Bar("errors from faults that may cause none", errors, at_most=0),
        Bar("seconds to recover, at most", longest_s, at_most=RECOVERED_S_MAX),
    ]
    return rows_section(title, text, "fault", results, _COLUMNS, bars)
