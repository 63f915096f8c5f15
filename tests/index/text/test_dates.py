"""A date in words finds the documents that hold it in digits."""

import pytest

from index.text import dates, lexical, tokens


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("What was decided on 5 March 2025?", "2025-03-05"),
        ("the meeting of March 5th, 2025", "2025-03-05"),
        ("the 31st of Dec 1999", "1999-12-31"),
        ("5 de março de 2025", "2025-03-05"),
        ("el 05 de marzo del 2025", "2025-03-05"),
        ("am 5. März 2025", "2025-03-05"),
        ("le 1er février 2024", "2024-02-01"),
        ("1º de maio de 2024", "2024-05-01"),
        ("l'8 agosto 2024", "2024-08-08"),
        ("29 February 2024", "2024-02-29"),
    ],
)
def test_a_date_in_words_is_read_in_six_languages(text: str, digits: str) -> None:
    assert [named.digits for named in dates.named(tokens.read(text).words)] == [digits]


@pytest.mark.parametrize(
    "text",
    [
        "29 February 2025",
        "March 2025",
        "5 March",
        "5 2025 March",
        "32 May 2025",
        "\u0665 March 2025",
    ],
)
def test_what_is_no_whole_date_is_none(text: str) -> None:
    assert not list(dates.named(tokens.read(text).words))


def test_two_dates_side_by_side_are_two() -> None:
    words = tokens.read("from 30 April 2024 to May 2, 2024").words

    assert [named.digits for named in dates.named(words)] == ["2024-04-30", "2024-05-02"]


def test_a_date_in_digits_scores_as_the_one_in_words() -> None:
    asked = lexical.query("What was decided on 5 March 2025?", ["en"])

    def score(chunk: str) -> float:
        held = lexical.chunk(chunk, "en")
        return sum(weight * held.get(term, 0.0) for term, weight in asked.weights.items())

    in_words = score("Decided in the meeting of 5 March 2025.")
    assert score("Decided in the meeting of 2025-03-05.") == pytest.approx(in_words, rel=0.02)
    assert score("Decided in the meeting of 2025-03-06.") < 0.7 * in_words
    assert asked.chances.keys() == asked.weights.keys()
