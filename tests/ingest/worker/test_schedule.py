from datetime import UTC, datetime

import pytest

from ingest.worker.schedule import checked, next_run

AFTER = datetime(2026, 2, 28, 23, 59, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 3 * * *", datetime(2026, 3, 1, 3, 0, tzinfo=UTC)),
        ("* * * * *", datetime(2026, 3, 1, 0, 0, tzinfo=UTC)),
        ("30 6 * * mon-fri", datetime(2026, 3, 2, 6, 30, tzinfo=UTC)),
        ("0 0 29 2 *", datetime(2028, 2, 29, 0, 0, tzinfo=UTC)),
    ],
)
def test_the_next_date_is_the_first_one_after_now(schedule: str, expected: datetime) -> None:
    assert next_run(schedule, AFTER) == expected


@pytest.mark.parametrize(
    "schedule",
    ["", "soon", "* * * *", "* * * * * *", "61 * * * *", "0 0 30 2 *", "@daily", "* " * 60],
)
def test_what_is_no_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(ValueError, match="cron"):
        next_run(schedule, AFTER)
    with pytest.raises(ValueError, match="cron"):
        checked(schedule)


def test_what_is_one_is_itself() -> None:
    assert checked("0 4 * * 0") == "0 4 * * 0"
