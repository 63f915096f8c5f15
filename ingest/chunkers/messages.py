"""The chunker by messages: windows of consecutive messages of a conversation."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.chunkers import characters
from ingest.chunkers.chunk import Chunk, chunk_of

BETWEEN = re.compile(r"\n[ \t]*\n\s*")
CHARACTERS_MAX = 8_000  # of a window, about the tokens that an embedding model reads; not measured


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Windows of `size` messages, which are separated by blank lines.

    A window repeats the last `overlap` messages of the window before it. A window of more than
    CHARACTERS_MAX is made of fewer messages, with less overlap; `characters` chunks a longer
    message.
    """
    chunks = []
    for start, end in _windows(_messages(text), size, overlap):
        if end - start > CHARACTERS_MAX:
            pieces = characters.chunks(text[start:end], CHARACTERS_MAX, 0)
            chunks += [chunk_of(text, start + piece.start, start + piece.end) for piece in pieces]
        else:
            chunks.append(chunk_of(text, start, end))
    return [chunk for chunk in chunks if chunk]


def _messages(text: str) -> list[tuple[int, int]]:
    bounds = (0, *(match.end() for match in BETWEEN.finditer(text)), len(text))
    return [(start, end) for start, end in pairwise(bounds) if text[start:end].strip()]


def _windows(
    messages: Sequence[tuple[int, int]], size: int, overlap: int
) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(messages):
        last = min(first + size, len(messages))
        end = _window_end(messages, first, last)
        yield messages[first][0], messages[end - 1][1]
        if end == len(messages):
            return
        first = end - overlap if end == last else end
        while first < end and _window_end(messages, first, min(first + size, len(messages))) == end:
            first += 1


def _window_end(messages: Sequence[tuple[int, int]], first: int, last: int) -> int:
    """The end of the longest window within CHARACTERS_MAX, at most `last`; one message at least."""
    start = messages[first][0]
    while last > first + 1 and messages[last - 1][1] - start > CHARACTERS_MAX:
        last -= 1
    return last
