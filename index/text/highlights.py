"""Highlights: where a text holds the words of a query, as the lexical leg compares them.

Pure.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from index.text import lexical, tokens
from index.text.word_lists import analysed_languages

# Starting values, not measured. In most texts the second is not reached: chunks are shorter.
HIGHLIGHTS_MAX = 100  # in one text
CHARACTERS_MAX = 20_000  # that are read of a text

_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Highlight:
    """text[start:end], in Unicode code points."""

    start: int
    end: int


def find(text: str, language: str, terms: Collection[int]) -> tuple[Highlight, ...]:
    """The first `HIGHLIGHTS_MAX` words that a query matches, in order, of `CHARACTERS_MAX`.

    language: in which the text was analysed. terms: of the query, as `lexical.query` numbers them.
    A word is highlighted whole, also if a part of it matches; words that only punctuation
    separates are one highlight.
    """
    base = analysed_languages.base_language(language)
    if not lexical.are_loaded({base}):  # so no term is of this language
        return ()
    found = (
        Highlight(piece.start() + start, piece.start() + end)
        for piece in _PIECE.finditer(text, 0, CHARACTERS_MAX)
        if lexical.has_term(piece[0], base, terms)
        for start, end in _spans(piece[0], base, terms)
    )
    return tuple(islice(found, HIGHLIGHTS_MAX))


def in_utf16(text: str, highlights: Iterable[Highlight]) -> tuple[Highlight, ...]:
    """The same places, in code units of UTF-16, as JavaScript indexes its strings."""
    pairs = [place for place, character in enumerate(text) if character > "\uffff"]
    return tuple(
        Highlight(one.start + bisect_left(pairs, one.start), one.end + bisect_left(pairs, one.end))
        for one in highlights
    )


def _spans(piece: str, language: str, terms: Collection[int]) -> list[tuple[int, int]]:
    """The matching words of a piece without whitespace; the whole piece if they are not all."""
    spans: list[tuple[int, int]] = []
    rest: list[str] = []
    end_before = 0
    for start, end in _matching_words(piece, language, terms):
        if spans and not tokens.has_word(piece[end_before:start]):
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
        rest.append(piece[end_before:start])
        end_before = end
    rest.append(piece[end_before:])
    is_missing_some = lexical.has_term(" ".join(rest), language, terms)
    return [(0, len(piece))] if is_missing_some else spans


def _matching_words(piece: str, language: str, terms: Collection[int]) -> Iterator[tuple[int, int]]:
    """A token whose whole is a term, else those of its words that match."""
    for start, end in tokens.places(piece):
        token = piece[start:end]
        if lexical.is_term(token, language, terms):
            yield start, end
            continue
        for word_start, word_end in tokens.word_places(token):
            if lexical.has_term(token[word_start:word_end], language, terms):
                yield start + word_start, start + word_end
