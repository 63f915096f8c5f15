"""The page of a benchmark: each section as it was last measured.

A JSON file beside the Markdown holds the sections, for a later run that measures only some of them.
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
    """path: of the Markdown. head: its first lines. packages: the page names their versions."""

    path: Path
    head: str
    packages: Sequence[str]

    def read(self) -> dict[str, Section]:
        """The sections by name; empty if there is no page yet."""
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


def _rendered(section: Section) -> str:
    rows = [(bar.what, f"{bar.figure:.4g}", bar.limit, bar.verdict) for bar in section.bars]
    bars = [table(("target", "measured", "limit", "met"), rows)] if rows else []
    provenance = f"Measured on {section.date}: {section.machine}."
    return "\n\n".join([f"## {section.title}", section.text, *bars, provenance]) + "\n"
