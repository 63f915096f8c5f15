"""The cuts by their names."""

from collections.abc import Iterable, Sequence

from index.model import chunking_config
from ingest.chunkers import characters, messages, structure, tokens, whole
from ingest.chunkers.chunk import Chunk, chunk_of


def chunks(text: str, name: str) -> list[Chunk]:
    """The chunks of a text by the cut of this name; what a model would cut, by `structure`."""
    named = chunking_config.parse(name)
    match named.kind:
        case "characters":
            return characters.chunks(text, named.size, named.overlap)
        case "tokens":
            return tokens.chunks(text, named.size, named.overlap)
        case "messages":
            return messages.chunks(text, named.size, named.overlap)
        case "whole":
            return whole.chunks(text)
        case "structure" | "model":
            return structure.chunks(text)


def load(names: Iterable[str]) -> None:
    """Read now what the cuts of these names need."""
    if any(chunking_config.parse(name).kind == "tokens" for name in names):
        tokens.load()


def rebuild_chunks(text: str, name: str, places: Sequence[tuple[int, int]]) -> list[Chunk]:
    """The chunks of a text that is stored cut so: where it has been cut, or would be cut again.

    places: of the stored chunks, ascending. A model would not cut a text the same way twice.
    """
    if name != chunking_config.MODEL:
        return chunks(text, name)
    headings = structure.headings_at(text, [start for start, _ in places])
    found = (
        chunk_of(text, start, end, above)
        for (start, end), above in zip(places, headings, strict=True)
    )
    return [chunk for chunk in found if chunk]
