"""The options of the benchmark of the index."""

from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option


@dataclass(frozen=True, slots=True)
class IndexOptions:
    questions: int = option(1_000, "questions of each set, drawn by a fixed seed; 0: all")


IndexRun: TypeAlias = Run[IndexOptions]
