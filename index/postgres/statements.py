"""The SQL of this package by name: `search.exact` stands in `sql/search.sql`.

A file may name fragments beside its statements; `:name` stands for one wherever a later one or a
statement needs it, so that two statements that must agree on a condition share its text.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_HEADING = re.compile(r"^-- (name|fragment): (\w+)$", re.MULTILINE)
_FRAGMENT = re.compile(r"(?<!:):([a-z]\w*)")  # a cast has two colons


def load() -> Mapping[str, str]:
    """Every statement of `index/sql`, comments included, by `file.name`."""
    folder = Path(__file__).parents[1] / "sql"
    return {
        f"{file.name.removesuffix('.sql')}.{name}": statement
        for file in folder.iterdir()
        if file.name.endswith(".sql")
        for name, statement in _named(file.read_text(encoding="utf-8"))
    }


def _named(text: str) -> Iterator[tuple[str, str]]:
    fragments: dict[str, str] = {}
    _, *parts = _HEADING.split(text)
    for kind, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        whole = _FRAGMENT.sub(lambda mention: fragments[mention[1]], body.strip())
        if kind == "name":
            yield name, whole
        else:
            fragments[name] = whole
