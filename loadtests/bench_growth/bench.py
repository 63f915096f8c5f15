"""What every section is given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from loadtests.bench.section import Section


@dataclass(frozen=True, slots=True)
class Bench:
    """Sizes, each section's, smallest first.

    seconds: of each probe. pictures: the folder that plots go into.
    """

    console: Console
    chunks: Sequence[int]
    tenants: Sequence[int]
    entries: Sequence[int]
    writers: Sequence[int]
    seconds: float
    pictures: Path


Measure = Callable[[Bench], Section]
"""A section of the report."""
