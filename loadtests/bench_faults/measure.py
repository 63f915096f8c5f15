"""One fault under load: some quiet seconds, the fault, and some seconds after it."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

from loadtests.bench.section import Bar, Section, table
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.loadtest.phases import NAMES, measure
from loadtests.servers.faults import Fault
from loadtests.workload.agents import Agents

BEFORE_S, LASTS_S, AFTER_S = 6.0, 5.0, 12.0
LOAD = Load(rate=100.0, writes=2.0, warm_up_s=3.0, timeout_s=5.0, connections=256)
RECOVERED_S_MAX = 5.0  # a starting value, not measured
_FAULTS = ("stale", "leaked")


@dataclass(frozen=True, slots=True)
class FaultResult:
    """A fault and its effects. wrong: the number of stale and of leaked answers."""

    fault: str
    phases: Mapping[str, Any]
    write_errors: int
    wrong: Mapping[str, int]
    is_silent: bool

    @property
    def errors(self) -> int:
        errors: int = sum(self.phases[name]["errors"] for name in NAMES)
        return errors

    def row(self) -> Sequence[str]:
        phases = self.phases
        return (
            self.fault,
            *(_ms(phases[name]["p99_ms"]) for name in NAMES),
            *(f"{phases[name]['errors']:,}" for name in NAMES[1:]),
            f"{self.write_errors:,}",
            f"{phases['recovered_s']:.1f}",
            *(f"{self.wrong[name]:,}" for name in _FAULTS),
        )

    def as_json(self) -> dict[str, Any]:
        return {**self.phases, "write_errors": self.write_errors, **self.wrong}


async def measure_fault(
    environment: LoadEnvironment,
    name: str,
    fault: Fault,
    agents: Agents,
    console: Console,
    *,
    lasts_s: float = LASTS_S,
) -> FaultResult:
    counts = environment.judge.counts
    before = {name: counts[name] for name in _FAULTS}
    load = replace(LOAD, seconds=BEFORE_S + lasts_s + AFTER_S)

    async def disturb() -> None:
        begun_s = time.monotonic()
        await fault.begin()
        await asyncio.sleep(lasts_s - (time.monotonic() - begun_s))
        await fault.mend()

    phases, figures = await measure(environment, load, agents, disturb, quiet_s=BEFORE_S)
    writes = sum(count for what, count in figures.errors.items() if what.startswith("write"))
    wrong = {name: counts[name] - before[name] for name in _FAULTS}
    results = FaultResult(name, phases.as_json(), writes, wrong, fault.is_silent)
    console.print(" · ".join(results.row()), markup=False)
    return results


def section(title: str, text: str, results: Sequence[FaultResult]) -> Section:
    head = (
        *("fault", "P99 ms before", "during", "after", "errors during", "after"),
        *("of writes", "s to recover", "stale", "leaked"),
    )
    return Section(
        title,
        f"{text}\n\n{table(head, [result.row() for result in results])}",
        {result.fault: result.as_json() for result in results},
        _bars(results),
    )


def _bars(results: Sequence[FaultResult]) -> Sequence[Bar]:
    return [
        *(
            Bar(f"{name} answers", sum(result.wrong[name] for result in results), at_most=0)
            for name in _FAULTS
        ),
        Bar(
            "errors from faults that may cause none",
            sum(result.errors for result in results if result.is_silent),
            at_most=0,
        ),
        Bar(
            "seconds to recover, at most",
            max(result.phases["recovered_s"] for result in results),
            at_most=RECOVERED_S_MAX,
        ),
    ]


def _ms(value: float | None) -> str:
    return "none" if value is None else f"{value:,.1f}"
