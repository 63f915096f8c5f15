"""Points in time as callers write them."""

from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime
from pydantic_core import PydanticCustomError


def is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie within the years 1 to 9999") from None


def _instant(text: str) -> str:
    """The day or the time with its zone; both are of UTC if they name none."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        detail = "must be a day such as 2025-01-31, or a time such as 2025-01-31T12:00:00Z"
        raise PydanticCustomError("time", detail) from None


def _day_or_instant(text: str) -> str:
    return text if is_day(text) else _instant(text)


Instant = Annotated[AwareDatetime, AfterValidator(_utc)]
InstantOrDay = Annotated[str, AfterValidator(_instant)]  # a day is its midnight
DayOrInstant = Annotated[str, AfterValidator(_day_or_instant)]
