"""The capacity of a gateway: the greatest rate at which answers still come in time."""

from dataclasses import replace

from rich.console import Console

from loadtests.bench.measurement import drive, percentile_ms
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.workload.agents import Agents

P99_MS_MAX = 250.0  # beyond it requests queue up
ERRORS_MAX = 0.001
_FIRST, _GROWTH = 100.0, 1.5
_HALVINGS = 3  # of the gap between a rate that it bears and one that it does not
_STEP_S, _WARM_UP_S = 6.0, 2.0
_RATE_MAX = 20_000.0


async def find(scene: LoadEnvironment, load: Load, agents: Agents, console: Console) -> float:
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
