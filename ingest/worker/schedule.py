"""Cron schedules: five fields, in UTC."""

from datetime import UTC, datetime

from croniter import CroniterBadCronError, CroniterBadDateError, croniter

_CHARACTERS_MAX = 100
_FIELDS = 5
_ANY_DATE = datetime(2000, 1, 1, tzinfo=UTC)


def next_run(schedule: str, after: datetime) -> datetime:
    """The next date of the schedule. Raises `ValueError` if it is invalid or has no next date.

    Five fields give at most one date a minute.
    """
    if len(schedule) > _CHARACTERS_MAX or len(schedule.split()) != _FIELDS:
        raise ValueError("must be five fields, as cron has them: `0 3 * * *`")
    try:
        date: datetime = croniter(schedule, after).get_next(datetime)
    except (CroniterBadCronError, CroniterBadDateError):
        raise ValueError("is not a valid cron schedule") from None
    return date


def checked(schedule: str) -> str:
    """The schedule itself. Raises `ValueError` as `next_run` does."""
    next_run(schedule, _ANY_DATE)
    return schedule
