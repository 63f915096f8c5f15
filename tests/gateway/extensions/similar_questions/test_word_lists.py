"""The word lists of the semantic tier: complete, and in the form in which words are compared."""

from importlib import resources

import pytest

from gateway.extensions.similar_questions.words import word_lists
from index.text import lexical

WORDS = ("months", "days", "courtesies", "directions")
KEYED = ("question words", "negations", "numbers")


def test_every_file_is_loaded() -> None:
    folder = resources.files("gateway.extensions.similar_questions") / "words"

    files = {path.name for path in folder.iterdir() if path.name.endswith(".txt")}

    assert files == {"any.txt", *(f"{language}.txt" for language in word_lists.LANGUAGES)}


@pytest.mark.parametrize("language", word_lists.LANGUAGES)
def test_every_language_has_the_lists_that_all_need(language: str) -> None:
    lists = word_lists.load(language)

    assert all(lists.lines(name) for name in (*WORDS, *KEYED, "antonyms"))
    assert (len(lists.words("months")), len(lists.words("days"))) == (12, 10)


@pytest.mark.parametrize("language", word_lists.LANGUAGES)
def test_words_are_listed_as_they_are_compared(language: str) -> None:
    lists = word_lists.load(language)
    pairs = [line.split("/") for line in lists.lines("antonyms")]
    words = [word for name in WORDS for word in lists.words(name)]
    words += [word for name in KEYED for word in lists.keys(name)]
    words += [word for pair in pairs for side in pair for word in side.split()]

    assert [word for word in words if lexical.words(word) != [word]] == []
    assert all(len(pair) == 2 for pair in pairs)


@pytest.mark.parametrize("language", word_lists.LANGUAGES)
def test_no_word_of_a_list_has_two_keys(language: str) -> None:
    lists = word_lists.load(language)

    for name in KEYED:
        words = [word for _, line in lists.keyed(name) for word in line.split()]
        assert len(words) == len(set(words)), name


def test_comments_and_unknown_lists() -> None:
    lists = word_lists.load("en")

    assert not any("#" in word for word in lists.words("contractions"))
    with pytest.raises(AssertionError):
        lists.lines("contraction")
