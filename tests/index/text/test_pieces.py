"""What is remembered by piece of text, between spaces, adds up to what the whole text gives."""

import string
from collections.abc import Collection
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index.text import dates, language_detection, lexical, phrases, spelling, tokens
from index.text.lexical import Terms
from index.text.word_lists import analysed_languages
from index.text.word_lists.building import RAREST

LANGUAGES = ("en", "pt-BR", "ja", "und")
DOCS = Path(__file__).parents[3] / "docs"

SPACES = " \t\n\r\x0b\x0c\x1c\x85\u00a0\u2003\u2028\u3000"
WORDS = "The lighthouse lihgthouse férias, well-known e-mail snakeCase C++ x9y's ... ™ und \u0301a"
DATES = (
    "5 March 2025 1º de março 05 May 2, 2024, 2025-03-05 \uff12\uff10\uff12\uff15 v2.10.3 1,000.50 "
    "05/03/2025 20250305 2025年3月5日 Q1"
)
PHRASES = "log in, sign up wi-fi twenty five two hundred and fifty vinte e cinco 12 500"
SPANS = "+49 (030) 123 4567 89012 123456789 /usr/local/bin https://a.example/b 東京都 東 한국어 ไทย"
PIECES = [*f"{WORDS} {DATES} {PHRASES} {SPANS}".split(), "x" * 200, "1" * 200]

any_text = (
    st.lists(
        st.sampled_from(PIECES) | st.sampled_from(SPACES) | st.text(max_size=6), max_size=60
    ).map("".join)
    | st.lists(st.sampled_from(PIECES), max_size=90).map(" ".join)
    | st.text(string.digits + " ()-+/", max_size=40)
)
some_languages = st.lists(st.sampled_from(LANGUAGES), min_size=1, max_size=3, unique=True)


def terms_of_whole(text: str, languages: Collection[str]) -> Terms:
    """`lexical.query`, from one reading of the whole text."""
    read = tokens.read(text)
    named = dates.named(text)
    weights: dict[int, float] = {}
    chances: dict[int, float] = {}
    for language in sorted(map(analysed_languages.base_language, languages)):
        terms_of = lexical._terms  # noqa: SLF001  of a token, which is no piece of a text
        of_language = dict(term for token in read.words for term in terms_of(token, language))
        rarest_chance = lexical._chance(RAREST)  # noqa: SLF001
        index_of = lexical._index  # noqa: SLF001
        of_language |= {index_of(span, language): rarest_chance for span in read.spans}
        kept = dict(
            sorted(of_language.items(), key=lambda term: term[1])[: lexical.QUERY_TERMS_MAX]
        )
        names = [*named, *phrases.named(text.split(), language)]
        weights |= lexical._weigh(kept, {}, names, language)  # noqa: SLF001
        chances |= kept
    return Terms(weights, chances)


def rare_words_of_whole(text: str, languages: Collection[str]) -> list[str]:
    """`spelling.doubtful`, from one reading of the whole text."""
    least = spelling.LISTED_SHARE_MIN
    rare = [
        word
        for word in dict.fromkeys(lexical.words(text))
        if word.isalpha() and word.islower()
        if spelling.LETTERS_MIN <= len(word) <= spelling.LETTERS_MAX
        if all(lexical.word_share(word, language) < least for language in languages)
    ]
    return rare[: spelling.QUERY_WORDS_MAX]


def assert_pieces_add_up(text: str, languages: Collection[str]) -> None:
    by_piece, of_whole = lexical.query(text, languages), terms_of_whole(text, languages)

    assert [*by_piece.weights.items()] == [*of_whole.weights.items()]
    assert [*by_piece.chances.items()] == [*of_whole.chances.items()]
    assert spelling.doubtful(text, languages) == rare_words_of_whole(text, languages)
    of_words = language_detection.detect_from_words(lexical.words(text))
    assert (language_detection.detect(text) or "") == of_words


@given(any_text, some_languages)
@example("meet on 5 March 2025", ["en"])
@example("call 030 12345 67", ["pt-BR", "en"])
def test_any_text_gives_the_terms_the_rare_words_and_the_language_of_its_pieces(
    text: str, languages: list[str]
) -> None:
    assert_pieces_add_up(text, languages)


@pytest.mark.parametrize("languages", [("en",), ("en", "de")])
def test_so_does_real_text(languages: tuple[str, ...]) -> None:
    lines = [line for page in DOCS.rglob("*.md") for line in page.read_text().splitlines()]

    for line in Random(0).sample(lines, 300):  # noqa: S311  no secret
        assert_pieces_add_up(line[: language_detection.CHARACTERS_MAX], languages)
