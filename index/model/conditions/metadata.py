"""Documents whose metadata contains given keys and values, as PostgreSQL's `@>` says."""

from collections.abc import Mapping
from typing import Any

from index.model.conditions.condition import FilterCondition, NothingMeetsBoth
from index.model.document import Metadata


def _contains(value: Any, part: Any) -> bool:
    """Whether a value contains another; the order of lists is ignored."""
    if isinstance(part, Mapping):
        return isinstance(value, Mapping) and all(
            key in value and _contains(value[key], inner) for key, inner in part.items()
        )
    if isinstance(part, list | tuple):
        return isinstance(value, list | tuple) and all(
            any(_contains(element, inner) for element in value) for inner in part
        )
    return isinstance(value, bool) == isinstance(part, bool) and bool(value == part)


def _both(value: Any, other: Any) -> Any:
    """A value that `_contains` accepts exactly where it accepts both."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        shared = value.keys() & other.keys()
        return {**value, **other} | {key: _both(value[key], other[key]) for key in shared}
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return [*value, *other]
    if not _contains(value, other) or not _contains(other, value):
        raise NothingMeetsBoth
    return value


METADATA: FilterCondition[dict[str, Any]] = FilterCondition(
    field=Metadata,
    description="keys and values that the document's metadata must contain",
    canonical=lambda metadata: dict(metadata) or None,
    sql="metadata @> :value",
    admits=lambda wanted, chunk: _contains(chunk.metadata, wanted),
    mask=None,  # metadata would take much memory in a shard
    both=_both,
)
