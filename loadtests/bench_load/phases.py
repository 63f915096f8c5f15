"""Searches before a disturbance of the servers, during it and after it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from loadtests.bench.section import Columns
from loadtests.load import latencies
from loadtests.load.figures import Figures
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.workload.agents import Agents

SLOW_S = 0.25  # a slower search counts as not recovered; a starting value, not measured
NAMES = ("before", "during", "after")
COLUMNS: Columns = {
    "before_p99_ms": ("P99 ms before", ",.1f"),
    "during_p99_ms": ("during", ",.1f"),
    "after_p99_ms": ("after", ",.1f"),
}


@dataclass(slots=True)
class Phases:
    """begun_s, mended_s: when the disturbance began and ended, in seconds of the run."""

    begun_s: float = float("inf")
    mended_s: float = float("inf")
    _searches: list[tuple[float, float | None]] = field(default_factory=list)

    def add(self, due_s: float, seconds: float | None) -> None:
        self._searches.append((due_s, seconds))

    @property
    def recovered_s(self) -> float:
        """From the end of the disturbance until the last search that failed or was slow was due."""
        bad = [due_s for due_s, seconds in self._searches if seconds is None or seconds > SLOW_S]
        return max([0.0, *(due_s - self.mended_s for due_s in bad)])

    def as_json(self) -> dict[str, float | None]:
        """Searches, errors and latencies, each by phase."""
        edges = (0.0, self.begun_s, self.mended_s, float("inf"))
        figures: dict[str, float | None] = {"recovered_s": round(self.recovered_s, 3)}
        for name, since_s, until_s in zip(NAMES, edges, edges[1:], strict=False):
            searches = [seconds for due_s, seconds in self._searches if since_s <= due_s < until_s]
            answered = [seconds for seconds in searches if seconds is not None]
            figures |= {
                f"{name}_searches": len(searches),
                f"{name}_errors": len(searches) - len(answered),
                f"{name}_p50_ms": latencies.percentile_ms(answered, 50),
                f"{name}_p99_ms": latencies.percentile_ms(answered, 99),
            }
        return figures


async def measure(
    environment: LoadEnvironment,
    load: Load,
    agents: Agents | None,
    disturb: Callable[[], Awaitable[None]],
    *,
    quiet_s: float,
) -> tuple[Phases, Figures]:
    """Disturb the servers under load. quiet_s: how long the load runs before."""
    phases = Phases()
    async with environment.drive(load, agents, phases.add) as run:
        running = asyncio.create_task(run.run())
        while run.elapsed_s < quiet_s:
            await asyncio.sleep(0.05)
        phases.begun_s = run.elapsed_s
        await disturb()
        phases.mended_s = run.elapsed_s
        return phases, await running
