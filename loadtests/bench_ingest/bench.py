"""What every section is given."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from loadtests.bench.section import Section


@dataclass(frozen=True, slots=True)
class Bench:
    """data: the folder of the sets.
    commits: how many of the history are replayed; 0 is all of them.
    chunks:  how many the long reading has.
    """

    data: Path
    console: Console
    commits: int
    chunks: int


Measure = Callable[[Bench], Section]
