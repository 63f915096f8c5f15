"""The chunkers of conversations: windows of consecutive messages, and single turns."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.chunkers import characters
from ingest.chunkers.chunk import Chunk, chunk_of

BETWEEN = re.compile(r"\n[ \t]*\n\s*")
_ASKS = re.compile("[?\u061f\uff1f]")
CHARACTERS_MAX = 8_000  # of a window, about the tokens that an embedding model reads; not measured
# Of a turn's end, by which the next one is found too: 80 to 300 of a question and 40 to 100 of a
# statement found as many of LoCoMo's turns; longer statements let their replies outrank them.
QUESTION_CHARACTERS_MAX, STATEMENT_CHARACTERS_MAX = 120, 60
REPLACED = "~~"  # around a message that a later one replaces, and which begins with its speaker


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Windows of `size` messages, which are separated by blank lines.

    A window repeats the last `overlap` messages of the window before it. A window of more than
    CHARACTERS_MAX is made of fewer messages, with less overlap; `characters` chunks a longer
    message.
    """
    chunks: list[Chunk | None] = []
    for start, end in _windows(message_spans(text), size, overlap):
        chunks += _pieces(text, start, end)
    return [chunk for chunk in chunks if chunk]


def turns(text: str) -> list[Chunk]:
    """A chunk for each message, under the end of the message before it as its heading.

    So an answer is found by its question. A replaced message is in no chunk, and above none.
    """
    chunks: list[Chunk | None] = []
    before: tuple[str, ...] = ()
    for start, end in message_spans(text):
        message = text[start:end].strip()
        if is_replaced(message):
            before = ()
        else:
            chunks += _pieces(text, start, end, before)
            before = (_ending(message),)
    return [chunk for chunk in chunks if chunk]


def is_replaced(message: str) -> bool:
    return message.startswith(f"{REPLACED}**") and message.endswith(REPLACED)


def _pieces(
    text: str, start: int, end: int, headings: tuple[str, ...] = ()
) -> Iterator[Chunk | None]:
    if end - start <= CHARACTERS_MAX:
        yield chunk_of(text, start, end, headings)
        return
    for piece in characters.chunks(text[start:end], CHARACTERS_MAX, 0):
        yield chunk_of(text, start + piece.start, start + piece.end, headings)


def _ending(message: str) -> str:
    """Its last words: of a question more than of a statement."""
    question = _last_words(message, QUESTION_CHARACTERS_MAX)
    if _ASKS.search(question):
        return question
    return _last_words(message, STATEMENT_CHARACTERS_MAX)


def _last_words(message: str, characters_max: int) -> str:
    if len(message) <= characters_max:
        return message
    ending = message[-characters_max:]
    return ending.partition(" ")[2] or ending


def message_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each message, with the blank lines after it."""
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
