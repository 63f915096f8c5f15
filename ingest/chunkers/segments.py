"""Segments: the stretches of a text between the positions where it may be cut."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import resources
from itertools import groupby, pairwise
from typing import NamedTuple

WORD_CHARACTERS_MAX = 16  # a longer word counts as several; not measured

# A full stop that ends no sentence, in English and Portuguese: after an abbreviation, after an
# initial (also in e.g. and U.S.), or after the number of a list item.
_ABBREVIATIONS = [
    word
    for line in (resources.files(__package__) / "abbreviations.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    for word in line.partition("#")[0].split()
]
_ABBREVIATED = "".join(
    rf"(?<!\b(?i:{'|'.join(words)})\.)"
    for _, words in groupby(sorted(_ABBREVIATIONS, key=len), key=len)
)
_INITIAL = r"(?<!\b[^\W\d_]\.)"
ITEM_STOP = re.compile(r"^[ \t]*\d{1,9}\.\Z", re.MULTILINE)
ITEM_STOP_CHARACTERS_MAX = 12

LINE_END = re.compile(r"\n")
# Chinese and Japanese put no space after a sentence.
SENTENCE_END = re.compile(
    r"""[.!?…。！？](?: (?<=[。！？])["'”’」』）]*\s* """  # noqa: RUF001
    rf"""| (?<![。！？]){_ABBREVIATED}{_INITIAL}["'”’»)\]*_]*\s+ )""",  # noqa: RUF001
    re.VERBOSE,
)
WORD_END = re.compile(r"\s+")
RUN_END = re.compile(rf"(?s:.){{{WORD_CHARACTERS_MAX}}}")

Ends = Callable[[str, int, int], Iterable[int]]  # the positions in text[start:end] to cut at


class Segment(NamedTuple):  # one for each sentence; created in a third of the time of a dataclass
    """text[start:end], with its number of words.

    rank: how good it is to cut at `start`: the higher, the better.
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
        end_at = match.end()
        if not text[end_at : end_at + 1].islower() and not _ends_number(text, start, match.start()):
            yield end_at


def segments(
    text: str, start: int, end: int, *ends: Ends, rank: int, words_max: int
) -> Iterator[Segment]:
    """text[start:end] split at the first of `ends`; a segment that is too long at the next ones,
    then between words, and at last anywhere.

    rank: of the first segment; of the others it is 1 at the first ends, 0 at finer ones.
    """
    all_ends: Sequence[Ends] = (*ends, partial(_ends, WORD_END), partial(_ends, RUN_END))
    return _split_to_fit(text, start, end, all_ends, ranks=(rank, 1), words_max=words_max)


def _split_to_fit(
    text: str, start: int, end: int, ends: Sequence[Ends], *, ranks: tuple[int, int], words_max: int
) -> Iterator[Segment]:
    """ranks: of the first segment, and of the others."""
    coarsest, *finer = ends
    rank, later_rank = ranks
    for first, last in _split(text, start, end, coarsest):
        words = count_words(text[first:last])
        if words <= words_max or not finer:
            yield Segment(first, last, words, rank)
        else:
            yield from _split_to_fit(text, first, last, finer, ranks=(rank, 0), words_max=words_max)
        rank = later_rank


def _ends_number(text: str, start: int, stop: int) -> bool:
    """Whether the full stop at `stop` follows the number of a list item."""
    if not text[stop - 1 : stop].isdecimal():
        return False
    first = max(start, stop + 1 - ITEM_STOP_CHARACTERS_MAX)
    return ITEM_STOP.search(text, first, stop + 1) is not None


def _split(text: str, start: int, end: int, ends: Ends) -> Iterator[tuple[int, int]]:
    inner = (position for position in ends(text, start, end) if start < position < end)
    return pairwise((start, *inner, end))


def _ends(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text, start, end))
