"""Highlights: what the analyser matches is marked, and nothing else."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from index.text import highlights, lexical
from index.text.highlights import CHARACTERS_MAX, HIGHLIGHTS_MAX
from index.text.word_lists import analysed_languages
from tests.index.support import worlds
from tests.sampling import examples


def marked(text: str, query: str, language: str = "en", **corrections: list[str]) -> list[str]:
    terms = lexical.query(query, [language], corrections).weights
    return [text[one.start : one.end] for one in highlights.find(text, language, terms)]


@pytest.mark.parametrize(
    ("language", "query", "text", "words"),
    [
        ("en", "travel policies", "Our policy: they travelled by train.", ["policy", "travelled"]),
        ("pt", "férias trabalhadas", "As ferias (trabalho) do ano.", ["ferias", "trabalho"]),
        ("de", "Häuser", "Das Haus, die HÄUSER.", ["Haus", "HÄUSER"]),
        ("fr", "voyages", "Un voyage, il a voyagé.", ["voyage", "voyagé"]),
        ("es", "canciones", "La canción canta.", ["canción"]),
        ("it", "ragazze", "Una ragazza.", ["ragazza"]),
        ("fi", "majakka", "Vanha majakka.", ["majakka"]),
        ("ja", "東京", "私は東京に住む", ["東京"]),
        ("hi", "किताब", "यह किताब है", ["किताब"]),
        ("en", "art", "A state-of-the-art probe.", ["art"]),
        ("en", "user", "call getUserName(x)", ["getUserName"]),
        ("en", "AB-1234", "Part AB-1234, not AB-99.", ["AB-1234", "AB"]),
        ("pt", "1000.50", "Custa 1.000,50 euros.", ["1.000,50"]),
        ("en", "e\u0301tude", "An e\u0301tude, one \u00e9tude.", ["e\u0301tude", "\u00e9tude"]),
        ("en", "C++", "C++ and C#.", ["C++", "C"]),
        ("en", "leave", "nothing of it", []),
    ],
)
def test_words_are_marked_in_every_form_and_spelling_that_the_analyser_matches(
    language: str, query: str, text: str, words: list[str]
) -> None:
    assert marked(text, query, language) == words


def test_the_correction_of_a_typo_is_marked() -> None:
    assert marked("The lighthouse is red.", "lighthuose") == []
    assert marked("The lighthouse is red.", "lighthuose", lighthuose=["lighthouse"]) == [
        "lighthouse"
    ]


def test_so_many_words_are_marked_and_no_more() -> None:
    assert len(marked("leave " * 300, "leave")) == HIGHLIGHTS_MAX
    assert marked("x " * (CHARACTERS_MAX // 2) + "leave", "leave") == []
    assert marked("\u6771" * CHARACTERS_MAX, "\u6771", "ja") == ["\u6771" * CHARACTERS_MAX]


known = st.sampled_from(
    [word for words in worlds.WORDS.values() for word in words]
    + ["1.000,50", "e-mail", "getUserName", "東京", "手机iPhone", "℃", "½", "C++", "ﬁne"]
)
texts = st.lists(known | st.text(max_size=8), max_size=12).map(" ".join) | st.text(max_size=60)


@settings(max_examples=examples(300))
@given(
    text=texts,
    query=st.lists(known, min_size=1, max_size=3).map(" ".join),
    language=st.sampled_from(["en", "pt-BR", "fi"]),
)
@example("20℃", "C", "en")
def test_each_mark_matches_and_what_is_not_marked_does_not(
    text: str, query: str, language: str
) -> None:
    terms = lexical.query(query, [language]).weights
    base = analysed_languages.base_language(language)

    found = highlights.find(text, language, terms)

    rest, end = list(text), 0
    for one in found:
        assert end <= one.start < one.end <= len(text)
        assert lexical.has_term(text[one.start : one.end], base, terms)
        rest[one.start : one.end] = " " * (one.end - one.start)
        end = one.end
    pieces = "".join(rest).split()
    assert not any(lexical.has_term(piece, base, terms) for piece in pieces)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "plain ",
        "Ünïcödé ",
        "中文 ",
        "😀",
        "😀😀 ",
        "𐍈𐍈𐍈 ",
        "🇵🇹 ",
        "👩🏽\u200d💻 ",
        "e\u0301 ",
        "\uffff ",
    ],
)
def test_places_in_utf16_are_those_of_strings_in_a_browser(before: str) -> None:
    text = f"{before}travel {before} and travel{before}"
    places = [text.index("travel"), text.rindex("travel")]
    found = [highlights.Highlight(start, start + len("travel")) for start in places]

    units = text.encode("utf-16-le")

    for one in highlights.in_utf16(text, found):
        assert units[2 * one.start : 2 * one.end].decode("utf-16-le") == "travel"


@given(st.text(), st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50))))
def test_any_slice_has_its_place_in_utf16(text: str, places: list[tuple[int, int]]) -> None:
    found = [highlights.Highlight(*sorted(place)) for place in places]
    found = [one for one in found if one.end <= len(text)]

    units = text.encode("utf-16-le", "surrogatepass")

    for one, counted in zip(found, highlights.in_utf16(text, found), strict=True):
        part = units[2 * counted.start : 2 * counted.end].decode("utf-16-le", "surrogatepass")
        assert part == text[one.start : one.end]
