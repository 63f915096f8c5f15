"""Searches before a disturbance of the servers, during it and after it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from loadtests.bench.section import Columns
from loadtests.load import latencies
from loadtests.load.figures import CountedSearch, Figures
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
    for name, since_s, until_s in zip(NAMES, edges, edges[1:], strict=False):
        due = [each for each in searches if since_s <= each.at_s < until_s]
        answered_s = [each.seconds for each in due if each.is_answered and each.seconds is not None]
        figures |= {
            f"{name}_searches": len(due),
            f"{name}_errors": len(due) - len(answered_s),
            f"{name}_p50_ms": latencies.percentile_ms(answered_s, 50),
            f"{name}_p99_ms": latencies.percentile_ms(answered_s, 99),
        }
    return figures


async def measure(
    environment: LoadEnvironment,
    load: Load,
    agents: Agents | None,
    disturb: Callable[[], Awaitable[None]],
    *,
    quiet_s: float,
) -> tuple[dict[str, float | None], Figures]:
    """Disturb the servers under load. quiet_s: how long the load runs before."""
    async with environment.drive(load, agents) as run:
        running = asyncio.create_task(run.run())
        while run.elapsed_s < quiet_s:
            await asyncio.sleep(0.05)
        begun_s = run.elapsed_s
        await disturb()
        mended_s = run.elapsed_s
        figures = await running
        return by_phase(figures.searches, begun_s, mended_s), figures
