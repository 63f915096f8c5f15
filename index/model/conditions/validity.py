"""Documents that are valid on all of some days, or at all of some instants, as their metadata says.

`valid_from` and `valid_to` are texts that begin with a date of ISO 8601, such as 2025-06-01: the
first and the last day. A time of UTC, such as 2025-06-01T12:00:00Z, bounds instants to the second;
days it bounds by its date, as does a time without a zone. Times of other zones are stored in UTC.
A document without the one or the other has no such bound.
"""

import re
from datetime import UTC, date, datetime
from typing import Any

from index.model.conditions import names
from index.model.conditions.condition import FilterCondition, FilteredChunk, ToolArgument
from index.model.conditions.names import Names
from index.model.conditions.times import DayOrInstant, Instant, is_day

_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_TIME = f"^{_DAY}T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]([.][0-9]+)?(Z|[+]00:00)$"
_SECONDS = len("2025-06-01T12:00:00")


def _is_valid_on(days: Names, chunk: FilteredChunk) -> bool:
    first, last = _date(chunk.metadata.get("valid_from")), _date(chunk.metadata.get("valid_to"))
    return (first is None or first <= min(days)) and (last is None or last >= max(days))


def _is_valid_at(instants: Names, chunk: FilteredChunk) -> bool:
    first, last = _bound(chunk.metadata.get("valid_from")), _bound(chunk.metadata.get("valid_to"))
    return (first is None or first <= min(instants)[: len(first)]) and (
        last is None or last >= max(instants)[: len(last)]
    )


def _bound(value: Any) -> str | None:
    """A day, or an instant as `_instant_text` writes it."""
    if isinstance(value, str) and re.fullmatch(_TIME, value):
        return value[:_SECONDS]
    return _date(value)


def _date(value: Any) -> str | None:
    found = re.match(_DAY, value) if isinstance(value, str) else None
    return None if found is None else found[0]


def _sql_day(bound: str) -> str:
    return f"""substring(metadata ->> '{bound}' FROM '^{_DAY}') COLLATE "C\""""


def _sql_at(bound: str, compares: str, instant: str) -> str:
    return f"""coalesce(
        CASE
            WHEN metadata ->> '{bound}' ~ '{_TIME}'
                THEN left(metadata ->> '{bound}', {_SECONDS}) COLLATE "C" {compares} {instant}
            ELSE {_sql_day(bound)} {compares} left({instant}, 10)
        END,
        true
    )"""


def _instant_text(instant: datetime) -> str:
    """The instant to the second, in UTC; texts are in the order of their instants."""
    return instant.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()


def _first_and_last(times: Names) -> list[str]:
    return [min(times), max(times)]


VALID_ON: FilterCondition[Names] = FilterCondition(
    field=date,
    description="day on which the document is valid, from `valid_from` to `valid_to` of its "
    "metadata; a missing one is no bound",
    canonical=lambda day: (day.isoformat(),),
    sql=f"""coalesce({_sql_day("valid_from")} <= (:value ->> 0), true)
    AND coalesce({_sql_day("valid_to")} >= (:value ->> 1), true)""",
    argument=_first_and_last,
    admits=_is_valid_on,
    mask=None,  # as of `metadata`
    both=names.union,
)
AS_OF: FilterCondition[Names] = FilterCondition(
    field=Instant,
    description="instant at which the document is valid, to the second; a bound with a time of "
    "UTC counts to the second, any other one as a whole day",
    canonical=lambda instant: (_instant_text(instant),),
    sql=f"""{_sql_at("valid_from", "<=", "(:value ->> 0)")}
    AND {_sql_at("valid_to", ">=", "(:value ->> 1)")}""",
    argument=_first_and_last,
    admits=_is_valid_at,
    mask=None,
    both=names.union,
    tool=ToolArgument(
        "as_of",
        "Search only documents that are valid on this day or at this time.",
        DayOrInstant,
        lambda time: {"valid_on" if is_day(time) else "as_of": time},
    ),
)
