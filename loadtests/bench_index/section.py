"""A section of the report: what was measured, in words and in figures, and whether it is enough."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from loadtests.bench_index import machine


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure has to be: at least the limit, or at most."""

    what: str
    figure: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def held(self) -> bool:
        enough = self.at_least is None or self.figure >= self.at_least
        return enough and (self.at_most is None or self.figure <= self.at_most)

    @property
    def limit(self) -> str:
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return f"at most {self.at_most:g}"


@dataclass(frozen=True, slots=True)
class Section:
    """text: Markdown, without a heading. figures: the same for machines, as JSON takes it."""

    title: str
    text: str
    figures: dict[str, Any]
    bars: Sequence[Bar]
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d}")
    machine: str = field(default_factory=machine.description)

    @property
    def held(self) -> bool:
        return all(bar.held for bar in self.bars)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Section":
        bars = [Bar(**bar) for bar in stored["bars"]]
        return cls(**(stored | {"bars": bars}))


@dataclass(frozen=True, slots=True)
class Bench:
    """What every section is given.

    data:      the folder of the sets.
    questions: how many of a set are asked, drawn by a fixed seed; 0 is all of them.
    rounds:    how often systems that are timed take turns.
    """

    data: Path
    console: Console
    questions: int
    rounds: int


Measure = Callable[[Bench], Section]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are numbers, to the right."""
    ruler = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ruler, *rows))
