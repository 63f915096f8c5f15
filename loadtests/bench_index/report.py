"""The report: the sections that have ever been measured, each as of its last time.

Beside the Markdown lies the same as JSON, which is what a later run of other sections keeps.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from loadtests.bench_index.section import Section, table

_HEAD = """# Benchmark of the index

Written by `make bench-index DATA=FOLDER`; `make bench-index DATA=FOLDER ONLY=quality` measures one section anew and leaves the others.
The command fails if a bar is missed.
FOLDER holds public sets of questions, passages and judgements: `SET/corpus.jsonl.gz` {id, title, text}, `SET/queries.jsonl.gz` {id, text} and `SET/qrels.tsv` (query, document, relevance).
The figures of this page are also in [index.json](index.json).
"""  # noqa: E501  a sentence a line


def read(path: Path) -> dict[str, Section]:
    """The sections of the last report by name, none if there is no report."""
    file = path.with_suffix(".json")
    if not file.exists():
        return {}
    stored = json.loads(file.read_text())
    return {name: Section.from_json(section) for name, section in stored.items()}


def write(path: Path, sections: Mapping[str, Section]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = {name: section.as_json() for name, section in sections.items()}
    path.with_suffix(".json").write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    path.write_text("\n".join([_HEAD, *(_rendered(section) for section in sections.values())]))


def _rendered(section: Section) -> str:
    rows = [
        (bar.what, f"{bar.figure:.4g}", bar.limit, "yes" if bar.held else "**no**")
        for bar in section.bars
    ]
    bars = table(("bar", "measured", "wanted", "held"), rows)
    made = f"Measured on {section.date}: {section.machine}."
    return f"## {section.title}\n\n{section.text}\n\n{bars}\n\n{made}\n"
