"""Pieces: what a text is made of between the places where it may be cut."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

WORD_CHARACTERS_MAX = 16  # a longer word counts as several; not measured

# A full stop that ends no sentence, in English and Portuguese: after an abbreviation or an initial
# (e.g. and U.S. end in one too), or behind the number of a list item.
_ABBREVIATIONS = (
    "mr mrs ms dr prof st vs etc cf al fig vol no inc ltd co ed eds pp approx",
    "sr sra srta dra profa eng av art arts pág págs ex cap obs tel cia núm séc nº",
)
_ABBREVIATED = "".join(
    rf"(?<!\b(?i:{'|'.join(words)})\.)"
    for _, words in groupby(sorted(" ".join(_ABBREVIATIONS).split(), key=len), key=len)
)
_INITIAL = r"(?<!\b[^\W\d_]\.)"
ITEM_STOP = re.compile(r"^[ \t]*\d{1,9}\.\Z", re.MULTILINE)
ITEM_STOP_CHARACTERS_MAX = 12

LINE_END = re.compile(r"\n")
# Chinese and Japanese put no space behind a sentence.
SENTENCE_END = re.compile(
    r"""[.!?…。！？](?: (?<=[。！？])["'”’」』）]*\s* """  # noqa: RUF001
    rf"""| (?<![。！？]){_ABBREVIATED}{_INITIAL}["'”’»)\]*_]*\s+ )""",  # noqa: RUF001
    re.VERBOSE,
)
WORD_END = re.compile(r"\s+")
RUN_END = re.compile(rf"(?s:.){{{WORD_CHARACTERS_MAX}}}")

Ends = Callable[[str, int, int], Iterable[int]]  # the places in text[start:end] to cut at


class Segment(NamedTuple):  # one a sentence: made in a third of a frozen dataclass's time
    """text[start:end], of so many words.

    rank: how good a place its beginning is to cut at: the higher, the better.
    """

    start: int
    end: int
    words: int
    rank: int


def count_words(text: str) -> int:
    return max(len(text.split()), -(-len(text) // WORD_CHARACTERS_MAX))


def line_ends(text: str, start: int, end: int) -> Iterator[int]:
    return _ends(LINE_END, text, start, end)


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    for match in SENTENCE_END.finditer(text, start, end):
        at = match.end()
        if not text[at : at + 1].islower() and not _ends_number(text, start, match.start()):
            yield at


def segments(
    text: str, start: int, end: int, *ends: Ends, rank: int, words_max: int
) -> Iterator[Segment]:
    """text[start:end] parted at the first of these ends; what is still too long at the next ones,
    then between words, and at last anywhere.

    rank: of the first one; the others' is 1 at the first ends, 0 at finer ones.
    """
    every: Sequence[Ends] = (*ends, partial(_ends, WORD_END), partial(_ends, RUN_END))
    return _fitting(text, start, end, every, ranks=(rank, 1), words_max=words_max)


def _fitting(
    text: str, start: int, end: int, ends: Sequence[Ends], *, ranks: tuple[int, int], words_max: int
) -> Iterator[Segment]:
    """ranks: of the first one, and of the others."""
    first, *finer = ends
    rank, others = ranks
    for at, until in _parted(text, start, end, first):
        words = count_words(text[at:until])
        if words <= words_max or not finer:
            yield Segment(at, until, words, rank)
        else:
            yield from _fitting(text, at, until, finer, ranks=(rank, 0), words_max=words_max)
        rank = others


def _ends_number(text: str, start: int, stop: int) -> bool:
    """Whether the full stop stands behind the number of a list item."""
    if not text[stop - 1 : stop].isdecimal():
        return False
    first = max(start, stop + 1 - ITEM_STOP_CHARACTERS_MAX)
    return ITEM_STOP.search(text, first, stop + 1) is not None


def _parted(text: str, start: int, end: int, ends: Ends) -> Iterator[tuple[int, int]]:
    inner = (place for place in ends(text, start, end) if start < place < end)
    return pairwise((start, *inner, end))


def _ends(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text, start, end))
