"""When a document is valid, as its metadata says.

`valid_from` and `valid_to` are texts that begin with a date of ISO 8601, such as 2025-06-01: the
first and the last day. A time of UTC, such as 2025-06-01T12:00:00Z, bounds instants to the second;
days it bounds by its date, as does a time without a zone. Times of other zones are stored in UTC.
A document without the one or the other has no such bound.

Pure.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

VALID_FROM, VALID_TO = "valid_from", "valid_to"

_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"  # as in visibility.sql
TIME_PATTERN = f"^{_DAY}T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]([.][0-9]+)?(Z|[+]00:00)$"  # there too

_DATE = re.compile(_DAY)
_TIME = re.compile(TIME_PATTERN)
_SECONDS = len("2025-06-01T12:00:00")


def is_valid_on(metadata: Mapping[str, Any], days: Sequence[str]) -> bool:
    """Whether a document is valid on all of the days, which are dates of ISO 8601."""
    first, last = _date(metadata.get(VALID_FROM)), _date(metadata.get(VALID_TO))
    return (first is None or first <= min(days)) and (last is None or last >= max(days))


def is_valid_at(metadata: Mapping[str, Any], instants: Sequence[str]) -> bool:
    """Whether a document is valid at all of the instants, which `instant_text` has made."""
    first, last = _bound(metadata.get(VALID_FROM)), _bound(metadata.get(VALID_TO))
    return (first is None or first <= min(instants)[: len(first)]) and (
        last is None or last >= max(instants)[: len(last)]
    )


def instant_text(instant: datetime) -> str:
    """The instant to the second, in UTC; texts are in the order of their instants."""
    return instant.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()


def _bound(value: Any) -> str | None:
    """A day, or an instant as `instant_text` writes it."""
    if isinstance(value, str) and _TIME.fullmatch(value):
        return value[:_SECONDS]
    return _date(value)


def _date(value: Any) -> str | None:
    found = _DATE.match(value) if isinstance(value, str) else None
    return None if found is None else found[0]
