"""The chunkers by name."""

from collections.abc import Iterable, Sequence

from index.model import chunking_config
from ingest.chunkers import characters, messages, structure, tokens, whole
from ingest.chunkers.chunk import Chunk


def chunks(text: str, name: str) -> list[Chunk]:
    """The chunks of a text by the named chunker; `model` falls back to `structure`."""
    config = chunking_config.parse(name)
    match config.kind:
        case "characters":
            return characters.chunks(text, config.size, config.overlap)
        case "tokens":
            return tokens.chunks(text, config.size, config.overlap)
        case "messages":
            return messages.chunks(text, config.size, config.overlap)
        case "turns":
            return messages.turns(text)
        case "whole":
            return whole.chunks(text)
        case "structure" | "model":
            return structure.chunks(text)


def load(names: Iterable[str]) -> None:
    """Load the data that the named chunkers need."""
    if any(chunking_config.parse(name).kind == "tokens" for name in names):
        tokens.load()


def rebuild_chunks(text: str, name: str, spans: Sequence[tuple[int, int]]) -> list[Chunk]:
    """The chunks of a stored text, chunked again, or rebuilt from `spans` for `model`.

    spans: of the stored chunks, ascending. A model does not chunk a text the same way twice.
    """
    if name != chunking_config.MODEL:
        return chunks(text, name)
    return structure.chunks_at(text, spans)
