"""Today, asked for when it is needed: a run may go on past midnight."""

from datetime import UTC, date, datetime


def today() -> date:
    return datetime.now(UTC).date()
