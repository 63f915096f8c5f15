"""Loads on servers that are started for them: steady, disturbed, or as great as they bear."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import replace
from typing import TypeVar

import uvloop
from rich.console import Console

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Columns, figure_table
from loadtests.load.figures import CountedSearch, Figures, interpolated_ms
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


SLOW_S = 0.25  # a slower search counts as not recovered; a starting value, not measured
PHASES = ("before", "during", "after")
PHASE_COLUMNS: Columns = {
    "before_p99_ms": ("P99 ms before", ",.1f"),
    "during_p99_ms": ("during", ",.1f"),
    "after_p99_ms": ("after", ",.1f"),
}


def by_phase(
    searches: Sequence[CountedSearch], begun_s: float, mended_s: float
) -> dict[str, float | None]:
    """Searches, errors and latencies, each by phase.

    begun_s, mended_s: when the disturbance began and ended, in seconds of the run.
    recovered_s: from its end until the last search that failed or was slow was due.
    """
    edges = (0.0, begun_s, mended_s, float("inf"))
    bad = [each.at_s for each in searches if not each.is_answered or (each.seconds or 0) > SLOW_S]
    recovered_s = max([0.0, *(at_s - mended_s for at_s in bad)])
    figures: dict[str, float | None] = {"recovered_s": round(recovered_s, 3)}
    for name, since_s, until_s in zip(PHASES, edges, edges[1:], strict=False):
        due = [each for each in searches if since_s <= each.at_s < until_s]
        answered_s = [each.seconds for each in due if each.is_answered and each.seconds is not None]
        figures |= {
            f"{name}_searches": len(due),
            f"{name}_errors": len(due) - len(answered_s),
            f"{name}_p50_ms": interpolated_ms(answered_s, 50),
            f"{name}_p99_ms": interpolated_ms(answered_s, 99),
        }
    return figures


async def disturbed(
    environment: LoadEnvironment,
    load: Load,
    agents: Agents | None,
    disturb: Callable[[], Awaitable[None]],
    *,
    quiet_s: float,
) -> tuple[dict[str, float | None], Figures]:
    """Disturb the servers under load. quiet_s: how long the load runs before."""
    async with environment.drive(load, agents) as run:
        async with asyncio.TaskGroup() as tasks:  # a disturbance that fails ends the load
            running = tasks.create_task(run.run())
            while run.elapsed_s < quiet_s:
                await asyncio.sleep(0.05)
            begun_s = run.elapsed_s
            await disturb()
            mended_s = run.elapsed_s
        figures = running.result()
        return by_phase(figures.searches, begun_s, mended_s), figures


P99_MS_MAX = 250.0  # beyond it requests queue up
ERRORS_MAX = 0.001
_FIRST, _GROWTH = 100.0, 1.5
_HALVINGS = 3  # of the gap between a rate that it bears and one that it does not
_STEP_S, _WARM_UP_S = 6.0, 2.0
_RATE_MAX = 20_000.0


async def capacity(scene: LoadEnvironment, load: Load, agents: Agents, console: Console) -> float:
    """The capacity in searches per second; 0 if the gateway does not bear the first rate.

    Each step is half as much again as the one before; then the gap is halved.
    """
    borne, rate = 0.0, _FIRST
    while rate < _RATE_MAX and await _bears(scene, load, rate, agents, console):
        borne, rate = rate, rate * _GROWTH
    too_much = rate
    for _ in range(_HALVINGS if borne else 0):
        rate = (borne + too_much) / 2
        if await _bears(scene, load, rate, agents, console):
            borne = rate
        else:
            too_much = rate
    return borne


async def _bears(
    scene: LoadEnvironment, load: Load, rate: float, agents: Agents, console: Console
) -> bool:
    step = replace(load, rate=rate, seconds=_STEP_S, warm_up_s=_WARM_UP_S)
    figures = await drive(scene, step, agents, console)
    in_time = percentile_ms(figures, 99) <= P99_MS_MAX
    return in_time and figures.error_share <= ERRORS_MAX
