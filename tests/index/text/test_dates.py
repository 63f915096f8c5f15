"""A date finds the documents that hold it, however either of them spells it."""

import re
from itertools import permutations

import pytest

from index.text import dates, lexical

SPELLINGS = (
    "2025-03-07", "2025/3/7", "2025-03-07T10:30:00Z", "20250307", "7 March 2025", "March 7, 2025",
    "Mar. 7th, 2025", "7-Mar-2025", "07.03.2025", "7/3/2025", "03/07/2025", "2025年3月7日",
    "7 de março de 2025",
)  # fmt: skip


def on_day(day: int, spelling: str) -> str:
    """The spelling, on another day than the seventh."""
    return re.sub("0?7", lambda seven: f"{day:0{len(seven[0])}}", spelling)


OTHERS = tuple(tuple(on_day(day, spelling) for spelling in SPELLINGS) for day in (6, 17, 27))


def score(asked: str, held: str) -> float:
    chunk = lexical.chunk(held, "en")
    weights = lexical.query(asked, ["en"]).weights
    return sum(weight * chunk.get(term, 0.0) for term, weight in weights.items())


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("What was decided on 5 March 2025?", "2025-03-05"),
        ("the meeting of March 5th, 2025", "2025-03-05"),
        ("the 31st of Dec 1999", "1999-12-31"),
        ("5 de março de 2025", "2025-03-05"),
        ("el 05 de marzo del 2025", "2025-03-05"),
        ("am 5. März 2025", "2025-03-05"),
        ("5. Maerz 2025", "2025-03-05"),
        ("5. Jänner 2025", "2025-01-05"),
        ("le 1er février 2024", "2024-02-01"),
        ("5 d'août 2024", "2024-08-05"),
        ("1º de maio de 2024", "2024-05-01"),
        ("l'8 agosto 2024", "2024-08-08"),
        ("29 February 2024", "2024-02-29"),
        ("2025 March 5", "2025-03-05"),
        ("5. 3. 2025", "2025-03-05"),
        ("2025.03.05", "2025-03-05"),
        ("2025. 3. 5.", "2025-03-05"),
        ("IMG_20250305_1.jpg", "2025-03-05"),
        ("https://blog.example/2025/03/05/lamps", "2025-03-05"),
        ("March 5\u20139, 2025", "2025-03-05"),
        ("2025년 3월 5일", "2025-03-05"),
        ("2025-Mar-05", "2025-03-05"),
        ("03/25/2025", "2025-03-25"),
        ("March 2025", "2025-03"),
        ("03/2025", "2025-03"),
        ("2025 年 3 月", "2025-03"),
        ("Q1 2025", "2025q1"),
        ("2025-Q1", "2025q1"),
        ("1Q 2025", "2025q1"),
        ("first quarter of 2025", "2025q1"),
        ("1º trimestre de 2024", "2024q1"),
    ],
)
def test_a_day_month_or_quarter_is_one_term(text: str, term: str) -> None:
    assert [named.terms for named in dates.named(text)] == [(term,)]


def test_a_date_in_either_order_is_two_days() -> None:
    assert [named.terms for named in dates.named("05/03/2025")] == [("2025-03-05", "2025-05-03")]


@pytest.mark.parametrize(
    "text",
    [
        "29 February 2025",
        "5 March",
        "32 May 2025",
        "2025-13",
        "fifth quarter of 2025",
        "a total of 1.2025",
        "in 2025. 3 boats sank",
        "at 192.168.2025.1",
        "call 2025 1234",
        "version 2025.14.1",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert dates.named(text) == []


def test_dates_side_by_side_are_several() -> None:
    named = dates.named("from 30 April 2024 to May 2, 2024, and from 05.06.2024 to 2024-06-07")

    assert {term for each in named for term in each.terms} == {
        "2024-04-30", "2024-05-02", "2024-06-05", "2024-06-07",
    }  # fmt: skip


def test_a_date_finds_every_other_spelling_of_it() -> None:
    for asked, held in permutations(range(len(SPELLINGS)), 2):
        question = f"minutes of {SPELLINGS[asked]}"
        right = score(question, f"Minutes of the board, {SPELLINGS[held]}")
        others = [score(question, f"Minutes of the board, {other[held]}") for other in OTHERS]

        assert max(others) < right, (SPELLINGS[asked], SPELLINGS[held])


@pytest.mark.parametrize("asked", ["March 2025", "Q1 2025", "2025-03"])
def test_a_month_or_quarter_finds_its_days(asked: str) -> None:
    right = score(asked, "Minutes of 2025-03-05")

    assert right > 1.5 * score(asked, "Minutes of 2025-04-05")
    assert right > 1.5 * score(asked, "Minutes of 2024-03-05")


@pytest.mark.parametrize("asked", [*SPELLINGS, "March 2025", "Q1 2025"])
def test_what_a_question_asks_for_adds_up_to_one(asked: str) -> None:
    terms = lexical.query(f"minutes of {asked}", ["en", "pt"])

    assert terms.chances.keys() == terms.weights.keys()
    assert sum(terms.weights.values()) == pytest.approx(2 / (lexical.K1 + 1))


def test_the_words_of_a_date_count_less_beside_its_term() -> None:
    right = score("of 5 March 2025", "of 2025-03-05")
    other_year = score("of 5 March 2025", "of 5 March 2024")

    assert 2.5 * other_year < right
    assert score("of 5 March 2025", "of 5 March") > 0.1
