"""What a turn says of time relative to its day, in English and in Portuguese."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions.conversations.relative_dates import RESOLVED_MAX, with_dates

MONDAY = date(2023, 7, 17)


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("today", "2023-07-17"),
        ("This morning", "2023-07-17"),
        ("last night", "2023-07-16"),
        ("the day before yesterday", "2023-07-15"),
        ("tomorrow", "2023-07-18"),
        ("two days ago", "2023-07-15"),
        ("a couple of weeks ago", "2023-07-03 to 2023-07-09"),
        ("two weekends ago", "2023-07-08 to 2023-07-09"),
        ("last week", "2023-07-10 to 2023-07-16"),
        ("this past weekend", "2023-07-15 to 2023-07-16"),
        ("last Fri", "2023-07-14"),
        ("last Monday", "2023-07-10"),
        ("next Monday", "2023-07-24"),
        ("in 3 days", "2023-07-20"),
        ("last month", "2023-06"),
        ("7 months ago", "2022-12"),
        ("next year", "2024"),
        ("ontem", "2023-07-16"),
        ("há três dias", "2023-07-14"),
        ("uma semana atrás", "2023-07-10 to 2023-07-16"),
        ("semana passada", "2023-07-10 to 2023-07-16"),
        ("sexta-feira passada", "2023-07-14"),
        ("mês que vem", "2023-08"),
        ("próximo sábado", "2023-07-22"),
    ],
)
def test_a_relative_time_is_resolved_against_the_day(words: str, meaning: str) -> None:
    assert with_dates(f"So, {words}, again.", MONDAY) == f"So, {words} [{meaning}], again."


@pytest.mark.parametrize(
    "text", ["the next day", "at last", "Theo last spoke", "lasting week", "I may go", "todayish"]
)
def test_other_words_stay_as_they_are(text: str) -> None:
    assert with_dates(text, MONDAY) == text


def test_a_time_that_no_calendar_has_stays_as_it_is() -> None:
    assert with_dates("900 years ago", date(800, 1, 1)) == "900 years ago"


def test_no_more_than_so_many_are_resolved() -> None:
    assert with_dates("today " * 1_000, MONDAY).count("[") == RESOLVED_MAX


@given(st.text(st.sampled_from("last week2 ago yesterday\n.") | st.characters(), max_size=200))
def test_the_text_is_what_remains_without_the_brackets(text: str) -> None:
    written = with_dates(text, MONDAY)

    kept = iter(written)
    assert all(character in kept for character in text)
