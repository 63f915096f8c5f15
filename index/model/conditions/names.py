"""Conditions on names: of sources, tags, languages and documents."""

from typing import Annotated, TypeAlias

from pydantic import Field

from index.model.document import Line

VALUES_MAX = 256  # a starting value, not measured

Names: TypeAlias = tuple[str, ...]
Values = Annotated[tuple[Line, ...], Field(min_length=1, max_length=VALUES_MAX)]


def intersection(names: Names, others: Names) -> Names:
    return tuple(sorted({*names} & {*others}))


def union(names: Names, others: Names) -> Names:
    return tuple(sorted({*names, *others}))
