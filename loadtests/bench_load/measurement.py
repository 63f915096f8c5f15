"""One load on an environment, and how its figures are shown."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from rich.console import Console

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar
from loadtests.load.figures import Figures
from loadtests.load.latencies import PERCENTILES
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import Deployment, LoadEnvironment, load_environment
from loadtests.workload.agents import Agents

SHOWN = ("p50_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")
HEAD = ("P50 ms", "P95 ms", "P99 ms", "P99.9 ms", "longest ms")


def environment(
    url: str, admin_key: str, run: Run[Any], *, writes: bool = True
) -> AbstractAsyncContextManager[LoadEnvironment]:
    """Tenants and documents on a deployment, of real histories if the run has some."""
    target = Deployment(url, admin_key=admin_key, data=run.data_folder, public=True)
    return load_environment(target, seed=1, writes=writes)


async def drive(scene: LoadEnvironment, load: Load, agents: Agents, console: Console) -> Figures:
    """Run one load and print its figures in one line."""
    async with scene.drive(load, agents) as running:
        figures = await running.run()
    console.print(
        f"{load.rate:7,.0f} per second: P50 {percentile(figures, 'p50_ms'):.1f} ms, "
        f"P99 {percentile(figures, 'p99_ms'):.1f} ms, {figures.errors.total()} errors",
        markup=False,
    )
    return figures


def percentile(figures: Figures, name: str, group: str = "all") -> float:
    """NaN if the group has no answers."""
    if not figures.count(group):
        return float("nan")
    return figures.latencies[group].percentile_ms(PERCENTILES[name])


def row(label: str, figures: Figures, group: str) -> Sequence[str]:
    return (
        label,
        f"{figures.count(group):,}",
        *(f"{percentile(figures, name, group):.2f}" for name in SHOWN),
    )


def correct(scene: LoadEnvironment) -> Sequence[Bar]:
    """The targets of every run: no stale and no leaked answers."""
    return [
        Bar(f"{fault} answers", scene.judge.counts[fault], at_most=0)
        for fault in ("stale", "leaked")
    ]
