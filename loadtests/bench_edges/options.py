"""The options of the benchmark of regions."""

from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option


@dataclass(frozen=True, slots=True)
class EdgesOptions:
    """rounds: of the questions at each gateway. writes: from each gateway in each arrangement.
    answers, faults: to judge and to cause, in at most `minutes`. mutant_s: for the judge to find a
    broken rule.
    """

    delays: float = option(1.0, "the factor of all delays between regions")
    rounds: int = option(1_000, "hits and new questions at each gateway", quick=60)
    writes: int = option(30, "writes from each gateway in each arrangement", quick=8)
    answers: int = option(200_000, "answers to judge, at least", quick=6_000)
    faults: int = option(45, "faults to cause meanwhile", quick=9)
    fault_every_s: float = option(4.0, "seconds between two faults", quick=1.5)
    minutes: float = option(20.0, "minutes to judge them in, at most", quick=4.0)
    seed: int = option(1, "of the edits, the questions and the faults")
    mutant_s: float = option(180.0, "seconds to find a broken rule in", quick=90.0)


EdgesRun: TypeAlias = Run[EdgesOptions]
