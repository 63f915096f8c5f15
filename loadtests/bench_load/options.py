"""The options of the benchmark of load."""

from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option


@dataclass(frozen=True, slots=True)
class LoadOptions:
    seconds: float = option(60.0, "seconds of each steady load", quick=5.0)


LoadBenchRun: TypeAlias = Run[LoadOptions]
