"""The SQL statements of this package by name: `search.exact` is in `sql/search.sql`.

A file may define fragments beside its statements. `:name` includes a fragment in a later fragment
or a statement, so that statements that must agree on a condition share its text.
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
        for name, statement in _statements_of(file.read_text(encoding="utf-8"))
    }


def _statements_of(text: str) -> Iterator[tuple[str, str]]:
    fragments: dict[str, str] = {}
    _, *pieces = _HEADING.split(text)
    for kind, name, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        statement = _FRAGMENT.sub(lambda mention: fragments[mention[1]], body.strip())
        if kind == "name":
            yield name, statement
        else:
            fragments[name] = statement
