"""The report of a benchmark: the sections that were ever measured, each as of its last time.

Beside the Markdown lies the same as JSON, which is what a later run of other sections keeps.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from loadtests.bench import machine
from loadtests.bench.section import Bar, Section, table


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """path: of the Markdown. head: its first lines. packages: whose versions it names."""

    path: Path
    head: str
    packages: Sequence[str]

    def read(self) -> dict[str, Section]:
        """The sections as last measured, by name; none if there is no report."""
        file = self.path.with_suffix(".json")
        if not file.exists():
            return {}
        stored = json.loads(file.read_text())
        return {name: Section.from_json(section) for name, section in stored.items()}

    def write(self, sections: Mapping[str, Section]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        stored = {name: section.as_json() for name, section in sections.items()}
        figures = json.dumps(stored, indent=1, ensure_ascii=False)
        self.path.with_suffix(".json").write_text(figures + "\n")
        self.path.write_text("\n".join([self.head, *map(_rendered, sections.values())]))

    def measure(
        self,
        measures: Mapping[str, Callable[[], Section]],
        only: Sequence[str],
        console: Console,
    ) -> list[Bar]:
        """Measure the sections named, or all, and keep the others' last; the bars missed."""
        sections = self.read()
        missed: list[Bar] = []
        for name in only or measures:
            console.rule(name)
            made_on = machine.description(self.packages)
            sections[name] = replace(measures[name](), machine=made_on)
            # Written at once: a later section that fails takes nothing away.
            self.write({name: sections[name] for name in measures if name in sections})
            missed += [bar for bar in sections[name].bars if not bar.held]
        for bar in missed:
            console.print(f"[red]missed:[/] {bar.what}: {bar.figure:.4g}, wanted {bar.limit}")
        return missed


def _rendered(section: Section) -> str:
    rows = [
        (bar.what, f"{bar.figure:.4g}", bar.limit, "yes" if bar.held else "**no**")
        for bar in section.bars
    ]
    bars = [table(("bar", "measured", "wanted", "held"), rows)] if rows else []
    provenance = f"Measured on {section.date}: {section.machine}."
    return "\n\n".join([f"## {section.title}", section.text, *bars, provenance]) + "\n"
