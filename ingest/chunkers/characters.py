"""The cut into overlapping stretches of so many characters, at the coarsest separator at hand."""

from collections.abc import Iterator

from ingest.chunkers.chunk import Chunk, chunk_of

SEPARATORS = ("\n\n", "\n", ". ", " ")  # the coarsest first


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Chunks of at most `size` characters, in order.

    A chunk ends behind the last of the coarsest separators in the second half of what it has new;
    where there is none, it has all of its size. The next one begins with the last `overlap`
    characters of it, less what belongs to a word that begins before them.
    """
    found = (chunk_of(text, start, end) for start, end in _stretches(text, size, overlap))
    return [chunk for chunk in found if chunk]


def _stretches(text: str, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    start = seen = 0
    while len(text) - start > size:
        limit = start + size
        end = _end(text, (seen + limit) // 2, limit)
        yield start, end
        start, seen = _begin(text, end - overlap, end), end
    yield start, len(text)


def _end(text: str, least: int, limit: int) -> int:
    for separator in SEPARATORS:
        place = text.rfind(separator, least, limit)
        if place >= 0:
            return place + len(separator)
    return limit


def _begin(text: str, place: int, end: int) -> int:
    """The first word's beginning from here to the end; here if all is one word."""
    if place == end or text[place - 1].isspace():
        return place
    return next((at + 1 for at in range(place, end) if text[at].isspace()), place)
