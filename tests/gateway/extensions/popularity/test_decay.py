"""The decayed number of openings: what it is worth, and when its level falls."""

import math
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions.popularity.decay import HALF_LIFE_DAYS, DecayedCount
from index.model.query_parts.boost import POPULARITY_LEVELS

TODAY = date(2026, 3, 1)
NONE = DecayedCount(0.0, TODAY)

days = st.lists(st.dates(TODAY - timedelta(days=400), TODAY), min_size=1, max_size=30)


def test_each_doubling_of_one_more_than_the_openings_counts_one() -> None:
    levels = [NONE.with_openings([TODAY] * opened, TODAY).level for opened in (0, 1, 3, 7, 15)]

    assert [level / POPULARITY_LEVELS for level in levels] == [0, 1, 2, 3, 4]


@given(days=days, later=st.integers(0, 200))
def test_openings_are_worth_half_after_a_half_life_however_they_are_rolled_up(
    days: list[date], later: int
) -> None:
    end = TODAY + timedelta(days=later)
    at_once = NONE.with_openings(days, end)
    one_by_one = DecayedCount(0.0, min(days))
    for day in sorted(days):
        one_by_one = one_by_one.with_openings([day], day)

    expected = sum(0.5 ** ((end - day).days / HALF_LIFE_DAYS) for day in days)
    assert math.isclose(at_once.openings, expected)
    assert math.isclose(one_by_one.with_openings([], end).openings, expected)


@given(days=days)
def test_a_level_holds_until_the_day_on_which_it_falls(days: list[date]) -> None:
    count = NONE.with_openings(days, TODAY)
    if not count.level:
        return

    before = count.with_openings([], count.falls_on - timedelta(days=1))
    after = count.with_openings([], count.falls_on + timedelta(days=1))

    assert count.falls_on > TODAY
    assert before.level == count.level
    assert after.level < count.level
