"""What every section is given."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from loadtests.bench.section import Section


@dataclass(frozen=True, slots=True)
class Bench:
    """data:   the folder of the sets.
    questions: how many of a set are asked, drawn by a fixed seed; 0 is all of them.
    rounds:    how often systems that are timed take turns.
    """

    data: Path
    console: Console
    questions: int
    rounds: int


Measure = Callable[[Bench], Section]
