"""Numbers in words are those in digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text import numerals, tokens

NUMBERS = {
    "en": "twenty-five 25, nineteenth 19, dozen 12, third 3, eighth 8, ninth 9, seventh 7,"
    " twelfth 12, fortieth 40, twenty-first 21, two hundred and fifty 250, five thousand 5000,"
    " two hundred thousand 200000, fifteen hundred 1500, hundred 100, 19th 19",
    "de": "fünfundzwanzig 25, einundzwanzigste 21, neunzehnten 19, dritte 3, zwölf 12, dreißig 30,"
    " dreihundert 300, zweitausendfünfhundert 2500, Dutzend 12",
    "es": "dieciocho 18, veintidós 22, treinta y cinco 35, doscientos 200, séptimo 7,"
    " quinientos cincuenta 550, ciento veinte 120, mil 1000, 7º 7",
    "fr": "quatorze 14, quatre-vingt-dix 90, quatre-vingts 80, dix-neuvième 19, cinquième 5,"
    " vingt et un 21, soixante et onze 71, deux cents 200, mille quatre cents 1400, 19e 19",
    "it": "ventiquattro 24, ventuno 21, ventotto 28, diciannovesimo 19, ventesimo 20, sesto 6,"
    " duecento 200, centocinquanta 150, duemila 2000, millenovecento 1900",
    "pt": "vinte e quatro 24, dezenove 19, dezanove 19, sétimo 7, cem 100, cento e vinte 120,"
    " duzentos e cinquenta 250, mil e duzentos 1200, dois mil 2000, 7º 7",
}
SPELT = [
    (language, *pair.strip().rsplit(" ", 1))
    for language, pairs in NUMBERS.items()
    for pair in pairs.split(",")
]


def joined(words: str) -> str:
    return tokens.plain(words).casefold().replace(" ", "").replace("-", "")


@pytest.mark.parametrize(("language", "words", "number"), SPELT)
def test_words_name_a_number(language: str, words: str, number: str) -> None:
    assert numerals.digits(joined(words), language) == number


@pytest.mark.parametrize(
    ("word", "language"),
    [
        *((word, "en") for word in ("one", "first", "second", "seconds", "dozens", "hundreds")),
        ("center", "en"),
        *((word, "pt") for word in ("um", "segundo", "cento", "familia", "sexta", "vintee")),
        *((word, "de") for word in ("eine", "ersten", "achten", "viertel", "undzwanzig")),
        ("famille", "fr"),
        ("cento", "it"),
        ("twentyfive", "und"),
        ("twentyfive", "pt"),
        ("thousandmillion", "en"),
        ("thousandthousand", "en"),
        ("25th", "de"),
        ("th", "en"),
        ("", "en"),
    ],
)
def test_what_mostly_means_something_else_is_no_number(word: str, language: str) -> None:
    assert numerals.digits(word, language) is None


@given(
    st.lists(st.sampled_from(["mil", "cento", "vinte", "e", "dois"]), max_size=40),
    st.sampled_from(["pt", "it", "es"]),
)
def test_a_long_word_is_read_in_little_time(words: list[str], language: str) -> None:
    number = numerals.digits("".join(words), language)  # Hypothesis allows 200 ms

    assert number is None or 1 < int(number) < 1_000_000
