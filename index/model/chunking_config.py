"""The name of a chunking method, which a document stores: how its text is split into chunks.

structure             where its headings, paragraphs and sentences allow
characters:1000/200   of at most 1,000 characters, of which 200 are the end of the one before
tokens:500/50         of 500 tokens, of which 50 are the end of the one before
messages:10           of 10 messages of a conversation
turns                 one message, under the message before it
whole                 one chunk, of a text up to 8,000 characters; a longer one as `structure`
model                 as a language model finds best

A size alone has no overlap; a kind alone has the sizes above. `ingest.chunkers` splits the texts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

Kind = Literal["structure", "characters", "tokens", "messages", "turns", "whole", "model"]

DEFAULT = "structure"
MODEL = "model"
CHUNKER_CHARACTERS_MAX = 32
_NAME = re.compile(r"([a-z]+)(?::([0-9]{1,5})(?:/([0-9]{1,5}))?)?")


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """size_min, size_max: starting values, not measured; an embedding model reads 8,000 tokens."""

    size: int
    overlap: int
    size_min: int
    size_max: int


SIZES: Mapping[Kind, ChunkSizes | None] = {
    "structure": None,
    "characters": ChunkSizes(1_000, 200, 100, 8_000),
    "tokens": ChunkSizes(500, 50, 16, 8_000),
    "messages": ChunkSizes(10, 0, 1, 1_000),
    "turns": None,
    "whole": None,
    "model": None,
}


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """overlap: at most half of the size, so that no text is in more than a few chunks."""

    kind: Kind
    size: int = 0
    overlap: int = 0


def parse(name: str) -> ChunkingConfig:
    """The configuration of this name. Raises `ValueError`, whose message lists the names."""
    match = _NAME.fullmatch(name)
    if match is None or match[1] not in SIZES:
        raise ValueError(
            f"must be one of {', '.join(SIZES)}; sizes may follow, as in tokens:500/50"
        )
    kind = cast("Kind", match[1])
    sizes = SIZES[kind]
    if sizes is None:
        if match[2]:
            raise ValueError(f"{kind} has no size")
        return ChunkingConfig(kind)
    if match[2] is None:
        return ChunkingConfig(kind, sizes.size, sizes.overlap)
    size, overlap = int(match[2]), int(match[3] or 0)
    if not sizes.size_min <= size <= sizes.size_max or overlap > size // 2:
        raise ValueError(
            f"{kind} must have a size from {sizes.size_min:,} to {sizes.size_max:,}, "
            "and an overlap of at most half of it"
        )
    return ChunkingConfig(kind, size, overlap)
