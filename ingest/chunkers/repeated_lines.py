"""The lines that a chunk repeats of a table, list or code that began in an earlier chunk."""

import re

from ingest.chunkers.segments import segments
from ingest.chunkers.word_count import count_words
from ingest.parse.markdown import Block

SHARE = 4  # a chunk keeps one word of so many for repeated lines; a starting value, not measured

_SPACES = re.compile(r"(?<=\S)[ \t]+")
_TABLE_MARKS = "|-: \t\n\r>"
_DASHES = re.compile(r"-{4,}")


def repeated_lines(text: str, block: Block, start: int, words_max: int) -> str:
    """What precedes the text of a chunk that begins within the block, at `start`.

    If all lines are too long, the outermost are left out, and the last one is shortened.
    """
    lines = [_normalise(text[first:last]) for first, last in block.repeated if last <= start]
    while len(lines) > 1 and count_words("".join(lines)) > words_max // SHARE:
        del lines[0]
    repeated = _shorten("".join(lines).lstrip(), words_max // SHARE)
    return repeated and repeated + _indentation(text, start)


def _normalise(lines: str) -> str:
    """Without the spaces that align the columns of a table; empty if the columns have no names."""
    if not lines.strip(_TABLE_MARKS):
        return ""
    return f"{_DASHES.sub('---', _SPACES.sub(' ', lines.rstrip()))}\n"


def _shorten(lines: str, words_max: int) -> str:
    """As many of the first words as fit, as one line; the lines themselves if all fit."""
    if count_words(lines) <= words_max:
        return lines
    words = end = 0
    for segment in segments(lines, 0, len(lines), rank=0, words_max=1):
        words += segment.words
        if words > words_max:
            break
        end = segment.end
    return f"{lines[:end].rstrip()}\n" if end else ""


def _indentation(text: str, start: int) -> str:
    """The spaces before `start`, if its line begins with them."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line if line.isspace() else ""
