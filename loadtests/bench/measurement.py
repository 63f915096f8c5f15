"""A scenario of load on servers that are started for it, and how its figures are shown."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TypeVar

import uvloop
from rich.console import Console

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, figure_table
from loadtests.load.figures import Figures
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import Deployment, LoadEnvironment, load_environment
from loadtests.servers.server_set import ServerSet
from loadtests.servers.service import Service
from loadtests.workload.agents import Agents

_COLUMNS = {
    "count": ("answers", ",d"),
    "p50_ms": ("P50 ms", ".2f"),
    "p95_ms": ("P95 ms", ".2f"),
    "p99_ms": ("P99 ms", ".2f"),
    "p999_ms": ("P99.9 ms", ".2f"),
    "max_ms": ("longest ms", ".2f"),
}

S = TypeVar("S", Service, ServerSet)
T = TypeVar("T")


def seconds(run: Run) -> float:
    """Of each steady load."""
    return run.sized(60.0, 5.0)


def on(
    servers: AbstractContextManager[S],
    run: Run,
    measure: Callable[[S, LoadEnvironment], Awaitable[T]],
    *,
    writes: bool = True,
) -> T:
    """What is measured on these servers, with the tenants and documents of a load."""

    async def measured(started: S) -> T:
        way, admin_key = started.ways[0], started.admin_key
        async with environment(way, admin_key, run, writes=writes) as prepared:
            return await measure(started, prepared)

    with servers as started:
        return uvloop.run(measured(started))


def environment(
    url: str, admin_key: str, run: Run, *, writes: bool = True
) -> AbstractAsyncContextManager[LoadEnvironment]:
    """Tenants and documents on a deployment, of real histories if the run has some."""
    target = Deployment(url, admin_key=admin_key, data=run.data_folder, public=True)
    return load_environment(target, seed=1, writes=writes)


async def drive(scene: LoadEnvironment, load: Load, agents: Agents, console: Console) -> Figures:
    """Run one load and print its figures in one line."""
    async with scene.drive(load, agents) as running:
        figures = await running.run()
    console.print(
        f"{load.rate:7,.0f} per second: P50 {percentile_ms(figures, 50):.1f} ms, "
        f"P99 {percentile_ms(figures, 99):.1f} ms, {figures.errors.total()} errors",
        markup=False,
    )
    return figures


def percentile_ms(figures: Figures, percentile: float) -> float:
    """Of all answers; NaN if there are none."""
    if not figures.count("all"):
        return float("nan")
    return figures.latencies["all"].percentile_ms(percentile)


def latency_table(rows: Mapping[str, tuple[Figures, str]]) -> str:
    """By label, the answers and percentiles of a group of figures."""
    shown = {
        label: figures.latencies[group].as_json() if figures.count(group) else {"count": 0}
        for label, (figures, group) in rows.items()
    }
    return figure_table("", shown, _COLUMNS)


def correct(scene: LoadEnvironment, of: str = "") -> Sequence[Bar]:
    """The targets of every run: no stale and no leaked answers. of: begins their names."""
    return [
        Bar(f"{of}{fault} answers", scene.judge.counts[fault], at_most=0)
        for fault in ("stale", "leaked")
    ]
