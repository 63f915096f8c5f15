"""The figures of a benchmark: each section as it was last measured, and the page made of them.

The JSON file is what is kept; `make docs` makes the page of it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from loadtests.bench import machine
from loadtests.bench.section import Bar, Section, table

_HEAD = "head"  # in the file, beside the sections by name


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """path: of the JSON. head: the page's first lines. packages: the page names their versions."""

    path: Path
    head: str
    packages: Sequence[str]

    def read(self) -> dict[str, Section]:
        """The sections by name; empty if nothing was measured yet."""
        return _read(self.path)[1] if self.path.exists() else {}

    def write(self, sections: Mapping[str, Section]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        measured = {name: section.as_json() for name, section in sections.items()}
        stored = json.dumps({_HEAD: self.head} | measured, indent=1, ensure_ascii=False)
        self.path.write_text(stored + "\n")

    def measure(
        self,
        measures: Mapping[str, Callable[[], Section]],
        only: Sequence[str],
        console: Console,
    ) -> list[Bar]:
        """Measure the named sections, or all, and return the missed targets."""
        sections = self.read()
        missed: list[Bar] = []
        for name in only or measures:
            console.rule(name)
            made_on = machine.description(self.packages)
            sections[name] = replace(measures[name](), machine=made_on)
            # Written at once, so that a later section that fails loses nothing.
            self.write({name: sections[name] for name in measures if name in sections})
            missed += [bar for bar in sections[name].bars if not bar.held]
        for bar in missed:
            console.print(f"[red]missed:[/] {bar.what}: {bar.figure:.4g}, target {bar.limit}")
        return missed


def page(figures: Path) -> str:
    """The page of a report, in Markdown."""
    head, sections = _read(figures)
    return "\n".join([head, *map(_rendered, sections.values())])


def _read(figures: Path) -> tuple[str, dict[str, Section]]:
    stored = json.loads(figures.read_text())
    head = stored.pop(_HEAD, None)
    if head is None:
        raise SystemExit(f"{figures} is no report of this version: delete it, and measure again")
    return head, {name: Section.from_json(section) for name, section in stored.items()}


def _rendered(section: Section) -> str:
    rows = [(bar.what, f"{bar.figure:.4g}", bar.limit, bar.verdict) for bar in section.bars]
    bars = [table(("target", "measured", "limit", "met"), rows)] if rows else []
    provenance = f"Measured on {section.date}: {section.machine}."
    return "\n\n".join([f"## {section.title}", section.text, *bars, provenance]) + "\n"
