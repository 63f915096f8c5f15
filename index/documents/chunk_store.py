"""The rows of a write's chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pgvector import HalfVector, SparseVector

from index.model.chunk_kind import Kind
from index.postgres.session import Session


@dataclass(frozen=True, slots=True)
class AddedChunk:
    """A new chunk; start and end count characters of the document's text.

    dense: zero if the embedder could not embed the text.
    lexical: as a vector, or as encoded bytes; see `vectors.sparse`.
    """

    digest: bytes
    start: int
    end: int
    text: str
    dense: HalfVector
    lexical: SparseVector | bytes
    kind: Kind = "text"

    @property
    def has_vector(self) -> bool:
        return bool(self.dense.to_numpy().any())


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """A stored chunk at its new position; `lexical` only if its words' weights have changed."""

    chunk_id: int
    digest: bytes
    start: int
    end: int
    text: str
    lexical: SparseVector | bytes | None


def to_columns(placed_chunks: Sequence[tuple[int, AddedChunk]]) -> tuple[list[Any], ...]:
    """The last arguments of `documents.put`. Each chunk is given with the place of its document."""
    chunks = [chunk for _, chunk in placed_chunks]
    return (
        [place for place, _ in placed_chunks],
        [chunk.dense for chunk in chunks],
        [chunk.lexical for chunk in chunks],
        [chunk.digest for chunk in chunks],
        [chunk.start for chunk in chunks],
        [chunk.end for chunk in chunks],
        [chunk.text for chunk in chunks],
        [chunk.kind == "summary" for chunk in chunks],
    )


async def keep_chunks(session: Session, tenant: str, chunks: Sequence[KeptChunk]) -> frozenset[int]:
    """Update kept chunks; return the ids of those whose position has changed."""
    if not chunks:
        return frozenset()
    rows = await session.rows(
        "documents.reposition_chunks",
        [chunk.chunk_id for chunk in chunks],
        [chunk.start for chunk in chunks],
        [chunk.end for chunk in chunks],
    )
    lexical_by_id = {chunk.chunk_id: chunk.lexical for chunk in chunks if chunk.lexical is not None}
    if lexical_by_id:
        await session.rows(
            "documents.put_lexical",
            tenant,
            list(lexical_by_id),
            list(lexical_by_id.values()),
        )
    return frozenset(row["chunk_id"] for row in rows)
