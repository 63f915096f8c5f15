"""Segments: the stretches of a text between the positions where it may be cut."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import resources
from itertools import groupby, pairwise
from typing import NamedTuple

from ingest.chunkers.word_count import WORD_CHARACTERS_MAX, count_words

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
# No space has to follow the stops of Chinese and Japanese, Hindi, Arabic and Urdu, Burmese, Khmer,
# Tibetan and Ethiopic.
_STOPS = (
    "\u3002\uff61\uff0e\uff01\uff1f\u0964\u0965\u061f\u06d4\u104b\u17d4\u17d5\u0f0d\u1362\u1367"
)
SENTENCE_END = re.compile(
    rf"""[.!?…{_STOPS}](?:
        (?<=[{_STOPS}])(?<!\uff0e(?=\d))[.!?…{_STOPS}]*["'”’»」』）】》]*\s*
      | (?<![{_STOPS}]){_ABBREVIATED}{_INITIAL}["'”’»)\]*_]*\s+ )""",  # noqa: RUF001
    re.VERBOSE,
)
CLAUSE_END = re.compile("[\uff0c\u3001\uff1b\uff1a\u060c\u061b\u104a]\\s*")
# Where no space parts words, one begins with a kanji after hiragana, and a syllable of Thai or Lao
# with a vowel that is written first. An edit does not move these, as it moves the ends of runs.
WORD_END = re.compile(
    r"\s+|(?<=[\u3041-\u3096])(?=[\u4e00-\u9fff])|(?=[\u0e40-\u0e44\u0ec0-\u0ec4])"
)
_MARKS = (  # that follow their letter
    "\u0300-\u036f\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
    "\u200d\u3099\u309a\ufe0f"
)
RUN_END = re.compile(
    rf"(?s:.){{{WORD_CHARACTERS_MAX // 2},{WORD_CHARACTERS_MAX}}}(?![{_MARKS}])"
    rf"|(?s:.){{{WORD_CHARACTERS_MAX}}}"
)

Ends = Callable[[str, int, int], Iterable[int]]  # the positions in text[start:end] to cut at


class Segment(NamedTuple):  # one for each sentence; created in a third of the time of a dataclass
    """text[start:end], with its number of words.

    rank: how good it is to cut at `start`: the higher, the better.
    """

    start: int
    end: int
    words: int
    rank: int


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
    then between clauses and words, and at last anywhere.

    rank: of the first segment; of the others it is 1 at the first ends, 0 at finer ones.
    """
    all_ends: Sequence[Ends] = (*ends, *_FINER_ENDS)
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


_FINER_ENDS = tuple(partial(_ends, pattern) for pattern in (CLAUSE_END, WORD_END, RUN_END))
