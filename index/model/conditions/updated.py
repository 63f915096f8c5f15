"""Documents that were last written at an instant or later, or before one."""

from datetime import datetime

from index.model.conditions.condition import FilterCondition, ToolArgument
from index.model.conditions.times import Instant, InstantOrDay

UPDATED_AFTER: FilterCondition[datetime] = FilterCondition(
    field=Instant,
    description="inclusive",
    sql="updated_at >= :value",
    parameter="timestamptz",
    admits=lambda bound, chunk: chunk.updated_at >= bound,
    mask=None,  # the time changes for chunks that the change log does not name
    is_dated=True,
    both=max,
    tool=ToolArgument(
        "updated_after",
        "Search only documents changed since this day or time, as 2025-01-31.",
        InstantOrDay,
    ),
)
UPDATED_BEFORE: FilterCondition[datetime] = FilterCondition(
    field=Instant,
    description="exclusive",
    sql="updated_at < :value",
    parameter="timestamptz",
    admits=lambda bound, chunk: chunk.updated_at < bound,
    mask=None,
    is_dated=True,
    both=min,
    tool=ToolArgument(
        "updated_before", "Search only documents changed before this day or time.", InstantOrDay
    ),
)
