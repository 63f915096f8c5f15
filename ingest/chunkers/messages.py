"""The cut into windows of so many messages of a conversation."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.chunkers import characters
from ingest.chunkers.chunk import Chunk, chunk_of

BETWEEN = re.compile(r"\n[ \t]*\n\s*")
CHARACTERS_MAX = 8_000  # of a window, about the tokens that an embedding model reads; not measured


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Windows of `size` messages, which blank lines part; each begins `overlap` before the last's
    end.

    A window that would have more than CHARACTERS_MAX has fewer messages, and less overlap; a
    message of more than that is cut as by `characters`.
    """
    found = []
    for start, end in _windows(_messages(text), size, overlap):
        if end - start > CHARACTERS_MAX:
            inner = characters.chunks(text[start:end], CHARACTERS_MAX, 0)
            found += [chunk_of(text, start + part.start, start + part.end) for part in inner]
        else:
            found.append(chunk_of(text, start, end))
    return [chunk for chunk in found if chunk]


def _messages(text: str) -> list[tuple[int, int]]:
    bounds = (0, *(match.end() for match in BETWEEN.finditer(text)), len(text))
    return [(start, end) for start, end in pairwise(bounds) if text[start:end].strip()]


def _windows(
    messages: Sequence[tuple[int, int]], size: int, overlap: int
) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(messages):
        last = min(first + size, len(messages))
        fits = _fits(messages, first, last)
        yield messages[first][0], messages[fits - 1][1]
        if fits == len(messages):
            return
        first = fits - overlap if fits == last else fits
        while first < fits and _fits(messages, first, min(first + size, len(messages))) == fits:
            first += 1


def _fits(messages: Sequence[tuple[int, int]], first: int, last: int) -> int:
    """The end of the longest window up to `last` that is short enough, of one message at least."""
    start = messages[first][0]
    while last > first + 1 and messages[last - 1][1] - start > CHARACTERS_MAX:
        last -= 1
    return last
