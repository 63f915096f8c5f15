"""The days on which a document is valid, as its metadata says.

`valid_from` is the first day and `valid_to` the last one, each a text that begins with a date of
ISO 8601, such as 2025-06-01. A document without the one or the other has no such bound.

Pure.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

VALID_FROM, VALID_TO = "valid_from", "valid_to"

_DATE = re.compile("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]")  # as in visibility.sql


def is_valid_on(metadata: Mapping[str, Any], days: Sequence[str]) -> bool:
    """Whether a document is valid on all of the days, which are dates of ISO 8601."""
    first, last = _date(metadata.get(VALID_FROM)), _date(metadata.get(VALID_TO))
    return (first is None or first <= min(days)) and (last is None or last >= max(days))


def _date(value: Any) -> str | None:
    found = _DATE.match(value) if isinstance(value, str) else None
    return None if found is None else found[0]
