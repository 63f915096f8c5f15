"""Chunks of these kinds: pieces of the text, summaries, or both."""

from typing import Annotated, TypeAlias

from pydantic import Field

from index.model.chunk_kind import Kind, kind_of
from index.model.conditions.condition import FilterCondition, Rows, ShardColumns

Kinds: TypeAlias = tuple[Kind, ...]


def _left_out(kinds: Kinds) -> bool | None:
    """True for summaries, False for texts, None for neither."""
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
    table="chunks",
    # No index has this form, and the planner's estimate for it depends on no statistics.
    sql="(chunk_id < 0) IS DISTINCT FROM :value",
    parameter="boolean",
    argument=_left_out,
    admits=lambda kinds, chunk: kind_of(chunk.chunk_id) in kinds,
    mask=_mask,
    both=None,
)
