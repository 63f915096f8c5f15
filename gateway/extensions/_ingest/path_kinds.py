"""The kinds of sources that a path may be, but a folder, by name."""

from collections.abc import Mapping
from functools import cache

from gateway.extension import rows
from gateway.extensions._sources.kinds import PathKind


@cache
def path_kinds(names_off: str) -> Mapping[str, PathKind]:
    """Of all extensions; those of one that is off can't be read. Raises `CommandError`.

    names_off: the setting `extensions_off`.
    """
    return rows(names_off, "path_kinds", PathKind, lambda kind: (kind.name,), {})
