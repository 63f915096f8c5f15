"""Servers that are asked in turns: a round is a turn of each in a closed loop.

Other work on the machine affects all of them, so ratios are taken within a round.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple, TypeAlias, TypeVar

import uvloop
from rich.progress import Progress

from loadtests.bench.section import Columns
from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.servers.processes import Meter, Processes

Name = TypeVar("Name")
Figure: TypeAlias = Callable[[ClosedLoopResult], float]

COLUMNS: Columns = {
    "per_second": ("requests/s", ",.0f"),
    "processor_us": ("processor µs", ",.0f"),
    "p50_ms": ("P50 ms", ".2f"),
    "p99_ms": ("P99 ms", ".2f"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """requests: they go on from turn to turn. groups: of processes whose processor time counts."""

    url: str
    requests: Iterator[bytes]
    groups: Sequence[Processes] = ()


class TurnSizes(NamedTuple):
    """rounds: after one that warms up. seconds: of each turn."""

    rounds: int
    seconds: float
    connections: int


@dataclass(slots=True)
class Turns:
    """The turns of one case. spent_s: the processor time of each group, by turn."""

    results: list[ClosedLoopResult] = field(default_factory=list)
    spent_s: list[Sequence[float]] = field(default_factory=list)

    @property
    def whole(self) -> ClosedLoopResult:
        """All turns as one."""
        whole = ClosedLoopResult()
        for result in self.results:
            whole.merge(result)
        return whole

    @property
    def whole_spent_s(self) -> Sequence[float]:
        """By group."""
        return [sum(of_group) for of_group in zip(*self.spent_s, strict=True)]

    @property
    def figures(self) -> dict[str, float]:
        """Medians of the turns. hits: the share of the requests that a cache answered.

        processor_us: for one request, of all groups.
        """
        turns = zip(self.spent_s, self.results, strict=True)
        return {
            "per_second": median(map(per_second, self.results)),
            "processor_us": median(sum(spent_s) / one.count * 1e6 for spent_s, one in turns),
            "p50_ms": median(map(percentile_ms(50), self.results)),
            "p99_ms": median(map(percentile_ms(99), self.results)),
            "hits": self.hits,
        }

    @property
    def hits(self) -> float:
        return self.whole.hits / self.whole.count

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


def take(cases: Mapping[Name, Case], progress: Progress, sizes: TurnSizes) -> dict[Name, Turns]:
    """By case, after a round that warms up."""
    tracked = progress.track(range(sizes.rounds + 1), description="rounds")
    turns = take_rounds(cases, tracked, seconds=sizes.seconds, connections=sizes.connections)
    return {name: Turns(of.results[1:], of.spent_s[1:]) for name, of in turns.items()}


def take_rounds(
    cases: Mapping[Name, Case], rounds: Iterable[object], *, seconds: float, connections: int
) -> dict[Name, Turns]:
    turns = {name: Turns() for name in cases}
    for _ in rounds:
        for name, case in cases.items():
            asking = closed_loop.run(
                case.url, case.requests, connections=connections, seconds=seconds
            )
            with Meter(*case.groups) as meter:
                turns[name].results.append(uvloop.run(asking))
            turns[name].spent_s.append(meter.spent_s)
    return turns
