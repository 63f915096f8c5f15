"""Points in time within metadata, in a form whose order as text is the order in time.

A time with a zone is stored in UTC, as 2025-06-01T12:00:00.5+00:00: without trailing zeros in its
fraction, and with +00:00 and not Z, which would follow a fraction in the order of characters. A
time without a zone stays without one, and a date a date. Filters take both for UTC, and a date for
its midnight.

Pure.
"""

import re
from datetime import UTC, date, datetime

_UTC = "+00:00"
_MIDNIGHT = "T00:00:00"
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
# RFC 3339, and what YAML, databases and spreadsheets write: a space for T, no seconds, +0100.
_TIME = re.compile(
    f"({_DATE.pattern})[Tt ]([0-9]{{2}}:[0-9]{{2}})(?:(:[0-9]{{2}})(?:[.,]([0-9]+))?)?"
    " ?([Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)
_CHARACTERS_MAX = 64
CHARACTERS_MIN = 16  # of a time, as 2025-06-01T12:00


def normal_form(text: str) -> str:
    """The time in its normal form; any other text, such as 2025-02-30T00:00Z, as it is."""
    return _parse(text) or text


def spellings(text: str) -> tuple[str, ...]:
    """All normal forms of the same time, in their order as text; other text only as it is.

    No other time is between them: `>=` of the first and `>` of the last compare times.
    """
    if _is_date(text):
        return text, text + _MIDNIGHT, text + _MIDNIGHT + _UTC
    time = _parse(text)
    if time is None:
        return (text,)
    local = time.removesuffix(_UTC)
    day = (local.removesuffix(_MIDNIGHT),) if local.endswith(_MIDNIGHT) else ()
    return *day, local, local + _UTC


def _parse(text: str) -> str | None:
    match = _TIME.fullmatch(text) if len(text) <= _CHARACTERS_MAX else None
    if match is None:
        return None
    day, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{minute}{second or ':00'}{_offset(zone)}")
        in_utc = moment if zone is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    digits = (fraction or "").rstrip("0")
    local = in_utc.replace(tzinfo=None).isoformat() + (f".{digits}" if digits else "")
    return local if zone is None else local + _UTC


def _offset(zone: str | None) -> str:
    if zone is None or zone[0] in "+-":
        return zone or ""
    return _UTC


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False
