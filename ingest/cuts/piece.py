"""Pieces: what a text is made of between the places where it may be cut."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil

WORD_CHARACTERS_MAX = 16  # a longer word counts as several; not measured

LINE_END = re.compile(r"\n")
# Chinese and Japanese put no space behind a sentence.
SENTENCE_END = re.compile(r"""[.!?…]["'”’»)\]*_]*\s+|[。！？]["'”’」』）]*\s*""")  # noqa: RUF001
WORD_END = re.compile(r"\s+")
RUN_END = re.compile(rf"(?s:.){{{WORD_CHARACTERS_MAX}}}")

# A full stop that ends no sentence, in English and Portuguese: after an abbreviation, an
# initial (e.g. and U.S. end in one too) or the number of a list item.
INNER_STOP_CHARACTERS_MAX = 12
INNER_STOP = re.compile(
    r"""( \b(mr|mrs|ms|dr|prof|st|vs|etc|cf|al|fig|vol|no|inc|ltd|co|eds?|pp|approx)
        | \b(sr|sra|srta|dra|profa|eng|av|arts?|págs?|ex|cap|obs|tel|cia|núm|séc|nº)
        | \b[^\W\d_]
        | ^[ \t]*\d{1,9}
        ) \.\Z""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

Ends = Callable[[str, int, int], Iterable[int]]  # the places in text[start:end] to cut at


@dataclass(frozen=True, slots=True)
class Piece:
    """text[start:end], of so many words.

    rank: how good a place its beginning is to cut at: the higher, the better.
    """

    start: int
    end: int
    words: int
    rank: int


def count_words(text: str) -> int:
    return max(len(text.split()), ceil(len(text) / WORD_CHARACTERS_MAX))


def line_ends(text: str, start: int, end: int) -> Iterator[int]:
    return _ends(LINE_END, text, start, end)


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    for match in SENTENCE_END.finditer(text, start, end):
        stop = match.start() + 1
        inner = INNER_STOP.search(text, max(start, stop - INNER_STOP_CHARACTERS_MAX), stop)
        if not inner and not text[match.end() : match.end() + 1].islower():
            yield match.end()


def pieces(
    text: str, start: int, end: int, *ends: Ends, rank: int, words_max: int
) -> Iterator[Piece]:
    """text[start:end] parted at the first of these ends; what is still too long at the next ones,
    then between words, and at last anywhere.

    rank: of the first one; the others' is 1 at the first ends, 0 at finer ones.
    """
    every: Sequence[Ends] = (*ends, partial(_ends, WORD_END), partial(_ends, RUN_END))
    for at, until in _parted(text, start, end, every[0]):
        first = rank if at == start else 1
        yield from _fitting(text, at, until, every[1:], rank=first, words_max=words_max)


def _fitting(
    text: str, start: int, end: int, finer: Sequence[Ends], *, rank: int, words_max: int
) -> Iterator[Piece]:
    words = count_words(text[start:end])
    if words <= words_max or not finer:
        yield Piece(start, end, words, rank)
        return
    ends, *finest = finer
    for at, until in _parted(text, start, end, ends):
        first = rank if at == start else 0
        yield from _fitting(text, at, until, finest, rank=first, words_max=words_max)


def _parted(text: str, start: int, end: int, ends: Ends) -> Iterator[tuple[int, int]]:
    inner = (place for place in ends(text, start, end) if start < place < end)
    return pairwise((start, *inner, end))


def _ends(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text, start, end))
