"""The options of the soak as a benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option
from loadtests.mutants.cache_rules import MUTANTS
from loadtests.soak.faults.faults import FAULTS
from loadtests.soak.greedy.neighbour import KINDS


@dataclass(frozen=True, slots=True)
class SoakBenchOptions:
    """fault, mutant, greed: all of them if empty."""

    minutes: float = option(10.0, "minutes of a soak, at most", quick=2.0)
    answers: int = option(100_000, "answers to audit, at least", quick=1_000)
    seed: int = option(1, "of the histories, the questions and the faults")
    fault: Sequence[str] = option(
        (), "cause this fault alone; may be repeated", choices=list(FAULTS)
    )
    fault_every_s: float = option(20.0, "seconds between two faults", quick=1.0)
    mutant: Sequence[str] = option(
        (), "break this rule alone; may be repeated", choices=list(MUTANTS)
    )
    greed: Sequence[str] = option(
        (), "this kind of neighbour alone; may be repeated", choices=KINDS
    )
    seconds: float = option(8.0, "seconds of a period with a neighbour, or without", quick=4.0)
    rounds: int = option(4, "periods with each kind of neighbour", quick=1)


SoakBenchRun: TypeAlias = Run[SoakBenchOptions]
