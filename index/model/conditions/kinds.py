"""Chunks of these kinds: pieces of the text, summaries, or both."""

from typing import Annotated, TypeAlias

from pydantic import Field

from index.model.chunk_kind import Kind
from index.model.conditions.condition import FilterCondition, Rows, ShardColumns

Kinds: TypeAlias = tuple[Kind, ...]


def kind_left_out(kinds: Kinds) -> bool | None:
    """The argument of `is_of_kind`: True for summaries, False for texts, None for neither."""
    return None if len(kinds) > 1 else "text" in kinds


def _mask(kinds: Kinds, _columns: ShardColumns) -> Rows:
    if len(kinds) > 1:
        return lambda _segment: True
    is_summary = "text" not in kinds
    return lambda segment: (
        (segment.ids < 0) == is_summary if segment.has_summaries else not is_summary
    )


KINDS: FilterCondition[Kinds] = FilterCondition(
    field=Annotated[tuple[Kind, ...], Field(min_length=1)],
    description="whether hits are chunks of the text, summaries, or both",
    # `is_of_kind` of `search.sql`: a scan of chunks reads it first, and knows no document yet.
    sql=None,
    admits=lambda kinds, chunk: chunk.kind in kinds,
    mask=_mask,
    both=None,  # it belongs to a search
)
