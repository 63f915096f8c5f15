"""Servers that are asked in turns: a round is a turn of each in a closed loop.

Other work on the machine affects all of them, so ratios are taken within a round.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TypeAlias

import uvloop
from rich.progress import Progress

from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.load.latencies import Latencies
from loadtests.servers import service

Figure: TypeAlias = Callable[[ClosedLoopResult], float]


@dataclass(frozen=True, slots=True)
class Case:
    """requests: called for each turn. pids: of the processes whose processor time counts."""

    url: str
    requests: Callable[[], Iterator[bytes]]
    pids: Callable[[], Iterable[int]] = tuple


@dataclass(slots=True)
class Turns:
    """The turns of one case, without the first round. processor_s: of the servers, by turn."""

    results: list[ClosedLoopResult] = field(default_factory=list)
    processor_s: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        return median(map(per_second, self.results))

    @property
    def hits(self) -> float:
        """The share of the requests that a cache answered."""
        results = self.results
        return sum(result.hits for result in results) / sum(result.count for result in results)

    @property
    def processor_us(self) -> float:
        """For one request."""
        turns = zip(self.processor_s, self.results, strict=True)
        return median(spent_s / result.count * 1e6 for spent_s, result in turns)

    def percentile_ms(self, percentile: float) -> float:
        """Of the requests of all turns."""
        latencies = Latencies()
        for result in self.results:
            latencies.merge(result.latencies)
        return latencies.percentile_ms(percentile)

    def median_ms(self, percentile: float) -> float:
        """The median of the turns' percentiles."""
        return median(map(percentile_ms(percentile), self.results))

    def ratio_to(self, other: "Turns", figure: Figure | None = None) -> float:
        """The median over the rounds of this one's figure, or requests a second, to the other's."""
        of = figure or per_second
        return median(
            of(own) / of(its) for own, its in zip(self.results, other.results, strict=True)
        )


def per_second(result: ClosedLoopResult) -> float:
    return result.per_second


def percentile_ms(percentile: float) -> Figure:
    return lambda result: result.percentile_ms(percentile)


def take(
    cases: Mapping[str, Case], progress: Progress, *, rounds: int, seconds: float, connections: int
) -> dict[str, Turns]:
    """By case; a first round more warms up. seconds: of each turn."""
    turns = {name: Turns() for name in cases}
    for number in progress.track(range(rounds + 1), description="rounds"):
        for name, case in cases.items():
            before_s = {pid: service.processor_s(pid) for pid in case.pids()}
            run = closed_loop.run(
                case.url, case.requests(), connections=connections, seconds=seconds
            )
            result = uvloop.run(run)
            if number:
                turns[name].results.append(result)
                turns[name].processor_s.append(_spent_s(before_s))
    return turns


def _spent_s(before_s: Mapping[int, float]) -> float:
    """What the processes have spent since `before_s` was taken; of those that still run."""
    spent = (service.processor_s(pid) - started_s for pid, started_s in before_s.items())
    return sum(seconds for seconds in spent if seconds >= 0)
