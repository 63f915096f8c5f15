"""What two spell in different ways is one thing: each spelling finds the other."""

import pytest

from index.text import lexical, phrases


def score(asked: str, held: str, language: str) -> float:
    chunk = lexical.chunk(held, language)
    weights = lexical.query(asked, [language]).weights
    return sum(weight * chunk.get(term, 0.0) for term, weight in weights.items())


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "twenty-five", "25"),
        ("en", "twenty five", "25"),
        ("en", "Nineteenth", "19th"),
        ("en", "a dozen", "12"),
        ("en", "two hundred", "200"),
        ("pt", "vinte e cinco", "25"),
        ("de", "fünfundzwanzig", "25"),
        ("es", "treinta y cinco", "35"),
        ("fr", "quatre-vingt-dix", "90"),
        ("it", "ventiquattro", "24"),
        ("en", "log in", "login"),
        ("en", "logged in", "login"),
        ("en", "log-in", "login"),
        ("en", "set up,", "setup"),
        ("en", "wi fi", "wifi"),
        ("en", "wi-fi", "wifi"),
        ("en", "web sites", "website"),
        ("en", "time stamps", "timestamp"),
        ("en", "work flow", "workflow"),
        ("en", "e-mail", "email"),
        ("de", "E-Mail", "Email"),
        ("en", "1,000", "1000"),
        ("en", "1\u2019000", "1'000"),
        ("en", "12 500", "12,500"),
        ("fr", "12\u202f500", "12500"),
        ("de", "12.500", "12 500"),
        ("en", "50 %", "50%"),
        ("en", "v1.10", "1.10"),
        ("en", "V1.10", "v1.10"),
        ("und", "電腦學習", "电脑学习"),
    ],
)
def test_each_spelling_finds_the_other(language: str, one: str, other: str) -> None:
    for asked, held in ((one, other), (other, one)):
        assert score(asked, held, language) > 0.6 * score(asked, asked, language)


@pytest.mark.parametrize(
    ("asked", "held", "language"),
    [
        ("one", "1", "en"),
        ("a second of time", "2", "en"),
        ("2", "wait a second", "en"),
        ("dozens", "12", "en"),
        ("login", "log out", "en"),
        ("login", "log and sign", "en"),
        ("login", "the log. In it", "en"),
        ("timeout", "the time. Out of it", "en"),
        ("1.5", "15", "en"),
        ("1.000", "1000", "en"),
        ("1,000", "1000", "de"),
        ("5000", "the five. Thousand more", "en"),
        ("12500", "of 12, 500 were", "en"),
        ("5011", "5'11", "en"),
    ],
)
def test_what_is_something_else_is_not_found(asked: str, held: str, language: str) -> None:
    assert score(asked, held, language) == 0


def test_another_version_is_another_term() -> None:
    assert score("v1.1", "1.10", "en") < 0.5 * score("v1.1", "1.1", "en")


def test_what_several_words_name_weighs_as_much_as_they() -> None:
    log, login = (next(iter(lexical.query(word, ["en"]).weights)) for word in ("log", "login"))

    weights = lexical.query("log in", ["en"]).weights

    assert weights[login] == 2 * weights[log]
    assert sum(weights.values()) == pytest.approx(1 / (lexical.K1 + 1))


def test_a_text_counts_what_several_words_name_as_often_as_it_does() -> None:
    once, twice = "log in here", "log in here, log in there"

    assert score("login", twice, "en") > score("login", once, "en")


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Log in, or sign up twice", "en", ["login", "signup"]),
        ("two hundred and fifty of 12 500", "en", ["250", "12500"]),
        ("vinte e", "pt", []),
        ("two and three", "en", []),
        ("hundred hundred", "en", []),
        ("a page of the web, page two", "en", []),
    ],
)
def test_the_longest_phrases_are_named(text: str, language: str, terms: list[str]) -> None:
    assert [term for one in phrases.named(text.split(), language) for term in one.terms] == terms
