"""The function words of a question that change its answer, in six languages.

Words are as the index compares them: without accents and case, split at apostrophes. The lists are
in the folder `words`; they are read at import.
"""

from collections.abc import Sequence
from itertools import pairwise

from gateway.extensions.similar_questions.words import word_lists
from gateway.extensions.similar_questions.words.word_lists import WordLists


def asks(words: Sequence[str], language: str) -> str:
    """What the first question word asks for; `thing` if there is none."""
    kinds, phrase_kinds = _KIND_BY_WORD.get(language, {}), _KIND_BY_PHRASE.get(language, {})
    for word, next_word in pairwise((*words, "")):
        if kind := phrase_kinds.get((word, next_word)) or kinds.get(word):
            return kind
    first_word_kinds = _KIND_BY_FIRST_WORD.get(language, {})
    return first_word_kinds.get(words[0], "thing") if words else "thing"


def numbers(words: Sequence[str], language: str) -> list[str]:
    """The numbers that are words, as digits; not 1, whose word is also an article."""
    digits = _DIGITS_BY_WORD.get(language, {})
    return [digits[word] for word in words if word in digits]


def units(words: Sequence[str]) -> frozenset[str]:
    """The units of measurement among the words, of any language."""
    return frozenset(_UNIT_BY_WORD[word] for word in words if word in _UNIT_BY_WORD)


def dates(words: Sequence[str], language: str) -> frozenset[str]:
    """Months, days of the week, and days relative to today."""
    date_names = _DATE_BY_WORD.get(language, {})
    return frozenset(
        date_names[word]
        for previous, word, following in zip(("", *words), words, (*words[1:], ""), strict=False)
        if word in date_names and _is_date(previous, word, following, language)
    )


def negations(words: Sequence[str], language: str) -> tuple[str, ...]:
    """The kinds of all negations, sorted: not, without, except."""
    kinds = _NEGATION_BY_WORD.get(language, {})
    contracted = _CONTRACTED.get(language, frozenset())
    return tuple(
        sorted(
            [kinds[word] for word in words if word in kinds]
            + [
                "not"
                for word, following in pairwise(words)
                if word in contracted and following == "t"
            ]
        )
    )


def ignored_words(language: str) -> frozenset[str]:
    """Words that do not change the question, and numbers, which are compared separately."""
    return _IGNORED.get(language, frozenset())


def _is_date(previous: str, word: str, following: str, language: str) -> bool:
    """False for an ambiguous month, such as `may`, without a sign of a date beside it."""
    return (
        word not in _AMBIGUOUS_MONTHS[language]
        or previous in _BEFORE_MONTHS[language]
        or previous.isdigit()
        or following.isdigit()
    )


def _phrases(lists: WordLists) -> dict[tuple[str, str], str]:
    sides = ((kind, line.split("/")) for kind, line in lists.keyed("question phrases"))
    return {
        (first, second): kind
        for kind, (left, right) in sides
        for first in left.split()
        for second in right.split()
    }


def _dates(lists: WordLists) -> dict[str, str]:
    return {
        word: f"{kind}{number}"
        for kind, words in (("month", lists.words("months")), ("day", lists.words("days")))
        for number, word in enumerate(words, start=1)
    }


_LISTS = word_lists.of_languages()
_KIND_BY_WORD = {code: lists.keys("question words") for code, lists in _LISTS.items()}
_KIND_BY_PHRASE = {code: _phrases(lists) for code, lists in _LISTS.items()}
_KIND_BY_FIRST_WORD = {code: lists.keys("first question words") for code, lists in _LISTS.items()}
_NEGATION_BY_WORD = {code: lists.keys("negations") for code, lists in _LISTS.items()}
_CONTRACTED = {code: frozenset(lists.words("contractions")) for code, lists in _LISTS.items()}
_DIGITS_BY_WORD = {code: lists.keys("numbers") for code, lists in _LISTS.items()}
_DATE_BY_WORD = {code: _dates(lists) for code, lists in _LISTS.items()}
_AMBIGUOUS_MONTHS = {
    code: frozenset(lists.words("ambiguous months")) for code, lists in _LISTS.items()
}
_BEFORE_MONTHS = {code: frozenset(lists.words("before months")) for code, lists in _LISTS.items()}
_UNIT_BY_WORD = {
    word: line.split()[0] for line in word_lists.load("any").lines("units") for word in line.split()
}
_IGNORED = {
    code: frozenset(lists.words("courtesies")) | _DIGITS_BY_WORD[code].keys()
    for code, lists in _LISTS.items()
}
