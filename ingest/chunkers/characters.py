"""The chunker by characters: overlapping chunks, cut at the coarsest separator in reach."""

from collections.abc import Iterator

from ingest.chunkers.chunk import Chunk, chunk_of

SEPARATORS = ("\n\n", "\n", ". ", "。", " ")  # the coarsest first


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Chunks of at most `size` characters, in order.

    A chunk ends after the last occurrence of the coarsest separator in the second half of its new
    characters; without a separator there, it has its full size. The next chunk repeats the last
    `overlap` characters, from the first word that begins among them.
    """
    chunks = (chunk_of(text, start, end) for start, end in _spans(text, size, overlap))
    return [chunk for chunk in chunks if chunk]


def _spans(text: str, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    start = previous_end = 0
    while len(text) - start > size:
        limit = start + size
        end = _find_end(text, (previous_end + limit) // 2, limit)
        yield start, end
        start, previous_end = _find_start(text, end - overlap, end), end
    yield start, len(text)


def _find_end(text: str, least: int, limit: int) -> int:
    for separator in SEPARATORS:
        position = text.rfind(separator, least, limit)
        if position >= 0:
            return position + len(separator)
    return limit


def _find_start(text: str, position: int, end: int) -> int:
    """Where the first word of text[position:end] begins; `position` if no word begins there."""
    if position == end or text[position - 1].isspace():
        return position
    return next((index + 1 for index in range(position, end) if text[index].isspace()), position)
