"""Searches before a disturbance of the servers, during it and after it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loadtests.load.figures import Figures
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.workload.agents import Agents

SLOW_S = 0.25  # a slower search counts as not recovered; a starting value, not measured
NAMES = ("before", "during", "after")


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

    def as_json(self) -> Mapping[str, Any]:
        edges = (0.0, self.begun_s, self.mended_s, float("inf"))
        phases: dict[str, Any] = {"recovered_s": round(self.recovered_s, 3)}
        for name, since_s, until_s in zip(NAMES, edges, edges[1:], strict=False):
            searches = [seconds for due_s, seconds in self._searches if since_s <= due_s < until_s]
            answered = [seconds for seconds in searches if seconds is not None]
            phases[name] = {
                "searches": len(searches),
                "errors": len(searches) - len(answered),
                "p50_ms": _percentile_ms(answered, 50),
                "p99_ms": _percentile_ms(answered, 99),
            }
        return phases


def _percentile_ms(seconds: list[float], percentile: float) -> float | None:
    return round(float(np.percentile(seconds, percentile)) * 1000, 3) if seconds else None


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
