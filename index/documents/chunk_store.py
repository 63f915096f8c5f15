"""The rows of a write's chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


async def add_chunks(
    session: Session, tenant: str, keyed_chunks: Sequence[tuple[int, AddedChunk]]
) -> Iterator[int]:
    """Insert chunks, each given with the key of its document; return their ids in that order."""
    if not keyed_chunks:
        return iter(())
    rows = await session.rows(
        "documents.add_chunks",
        tenant,
        [key for key, _ in keyed_chunks],
        [chunk.dense for _, chunk in keyed_chunks],
        [chunk.lexical for _, chunk in keyed_chunks],
        [chunk.digest for _, chunk in keyed_chunks],
        [chunk.start for _, chunk in keyed_chunks],
        [chunk.end for _, chunk in keyed_chunks],
        [chunk.text for _, chunk in keyed_chunks],
        [chunk.kind == "summary" for _, chunk in keyed_chunks],
    )
    return (row["chunk_id"] for row in rows)


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
