"""The SQL statements of this package by name: `search.exact` is in `sql/search.sql`.

A file may define fragments beside its statements. `:name` includes a fragment in a later fragment
or a statement, so that statements that must agree on a condition share its text. `-- uses: file`
makes the fragments of another file known; those of filters are known to all.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from index.postgres import filter_sql

_FOLDER = Path(__file__).parents[1] / "sql"
_HEADING = re.compile(r"^-- (name|fragment|uses): (\w+)$", re.MULTILINE)
_FRAGMENT = re.compile(r"(?<!:):([a-z]\w*)")  # a cast has two colons


def load() -> Mapping[str, str]:
    """Every statement of `index/sql`, comments included, by `file.name`."""
    return {
        f"{file.name.removesuffix('.sql')}.{name}": statement
        for file in _FOLDER.iterdir()
        if file.name.endswith(".sql")
        for kind, name, statement in _parse(file.name)
        if kind == "name"
    }


def _parse(file_name: str) -> Iterator[tuple[str, str, str]]:
    """Kind, name and text of each fragment and statement of a file, with fragments included."""
    fragments = dict(filter_sql.FRAGMENTS)
    _, *pieces = _HEADING.split((_FOLDER / file_name).read_text(encoding="utf-8"))
    for kind, name, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if kind == "uses":
            parts = _parse(f"{name}.sql")
            fragments.update((part, text) for kind, part, text in parts if kind == "fragment")
            continue
        text = _FRAGMENT.sub(lambda mention: fragments[mention[1]], body.strip())
        if kind == "fragment":
            fragments[name] = text
        yield kind, name, text
