"""Times in metadata have one form, whose order as text is the order in time."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.model.attributes import Comparing, Condition, meets
from index.model.instant import normal_form, spellings

FIRST, LAST = (datetime.fromisoformat(day) for day in ("0001-01-03", "9999-12-29"))
NEAR = datetime.fromisoformat("2025-02-03")

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(FIRST, LAST) | st.datetimes(FIRST, LAST, timezones=zones)
near = st.datetimes(NEAR, NEAR + timedelta(days=1), timezones=zones)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("2025-02-03T12:45:46Z", "2025-02-03T12:45:46+00:00"),
        ("2025-02-03t12:45:46z", "2025-02-03T12:45:46+00:00"),
        ("2025-02-03 12:45:46 UTC", "2025-02-03T12:45:46+00:00"),
        ("2025-02-03T12:45:46.000Z", "2025-02-03T12:45:46+00:00"),
        ("2025-02-03T12:45:46,5Z", "2025-02-03T12:45:46.5+00:00"),
        ("2025-02-03T12:45:46.123456789Z", "2025-02-03T12:45:46.123456789+00:00"),
        ("2025-02-03T23:30:00-05:00", "2025-02-04T04:30:00+00:00"),
        ("2025-02-03 13:45+0100", "2025-02-03T12:45:00+00:00"),
        ("2025-02-03 13:45+01", "2025-02-03T12:45:00+00:00"),
        ("2025-02-03 12:45:46", "2025-02-03T12:45:46"),
        ("2025-02-03T12:45", "2025-02-03T12:45:00"),
    ],
)
def test_a_time_has_one_normal_form(written: str, normal: str) -> None:
    assert normal_form(written) == normal
    assert normal_form(normal) == normal


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-03",
        "12:30:45",
        "2025-02-30T00:00:00Z",
        "2025-02-03T24:00:00Z",
        "2025-02-03T12:45:60Z",
        "0001-01-01T00:00:00+01:00",
        "2025-02-03T12:45:46+99:00",
        "2025-02-03T12:45.5Z",
        "20250203T124546Z",
        "on 2025-02-03T12:45:46Z",
        "2025-02-03T12:45:46." + "1" * 100 + "Z",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert normal_form(text) == text


@given(near, near)
def test_the_order_of_normal_forms_is_the_order_in_time(one: datetime, other: datetime) -> None:
    texts = normal_form(one.isoformat()), normal_form(other.isoformat())

    assert (texts[0] < texts[1]) == (one < other)
    assert (texts[0] == texts[1]) == (one == other)


@given(times)
def test_a_time_is_one_of_its_own_spellings_which_are_in_order(time: datetime) -> None:
    same = spellings(time.isoformat())

    assert normal_form(time.isoformat()) in same
    assert list(same) == sorted(same)


@pytest.mark.parametrize("other", ["2025-02-03", "2025-02-03T00:00", "2025-02-03T01:00+01:00"])
@pytest.mark.parametrize("stored", ["2025-02-03", "2025-02-03T00:00:00Z", "2025-02-03 00:00"])
def test_spellings_of_a_time_are_equal_in_every_comparison(stored: str, other: str) -> None:
    metadata = {"at": normal_form(stored)}

    fulfilled = {
        name
        for name in ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin")
        if meets(metadata, Condition(name, "at", (other,)))
    }

    assert fulfilled == {"eq", "gte", "lte", "in"}


@given(near, near, st.sampled_from(["gt", "gte", "lt", "lte", "eq", "ne"]))
def test_times_are_compared_as_times(stored: datetime, bound: datetime, name: Comparing) -> None:
    metadata = {"at": normal_form(stored.isoformat())}
    expected = {
        "gt": stored > bound,
        "gte": stored >= bound,
        "lt": stored < bound,
        "lte": stored <= bound,
        "eq": stored == bound,
        "ne": stored != bound,
    }

    assert meets(metadata, Condition(name, "at", (bound.isoformat(),))) == expected[name]
