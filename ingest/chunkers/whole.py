"""The chunker that keeps a short text whole, such as the answer to a frequent question."""

from ingest.chunkers import structure
from ingest.chunkers.chunk import Chunk, chunk_of

CHARACTERS_MAX = 8_000  # about the tokens that an embedding model reads; not measured


def chunks(text: str) -> list[Chunk]:
    """One chunk; a text over the limit is chunked by `structure`, and its writer is warned."""
    if len(text) > CHARACTERS_MAX:
        return structure.chunks(text)
    chunk = chunk_of(text, 0, len(text))
    return [chunk] if chunk else []
