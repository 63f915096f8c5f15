"""The SQL of this package by name: `search.candidates` stands in `sql/search.sql`."""

import re
from collections.abc import Iterator, Mapping
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def load() -> Mapping[str, str]:
    """Every statement of `index/sql`, comments included, by `file.name`."""
    folder = resources.files("index") / "sql"
    return {
        f"{file.name.removesuffix('.sql')}.{name}": statement
        for file in folder.iterdir()
        if file.name.endswith(".sql")
        for name, statement in _named(file.read_text(encoding="utf-8"))
    }


def _named(text: str) -> Iterator[tuple[str, str]]:
    _, *parts = _NAME.split(text)
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        yield name, body.strip()
