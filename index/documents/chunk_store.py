"""The rows of a write's chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgvector import HalfVector, SparseVector

from index.model.chunk_kind import Kind
from index.postgres.database import Session


@dataclass(frozen=True, slots=True)
class AddedChunk:
    """A new chunk; start and end count characters of the document's text.

    lexical: or as it is sent; see `vectors.sparse`.
    """

    digest: bytes
    start: int
    end: int
    text: str
    dense: HalfVector
    lexical: SparseVector | bytes
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """A stored chunk, where it now stands; `lexical` only if its words' weights have changed."""

    chunk_id: int
    digest: bytes
    start: int
    end: int
    text: str
    lexical: SparseVector | bytes | None


async def add_chunks(
    session: Session, tenant: str, new: Sequence[tuple[int, AddedChunk]]
) -> Iterator[int]:
    """The new chunks' identifiers, in their order; each comes with the key of its document."""
    if not new:
        return iter(())
    rows = await session.rows(
        "documents.add_chunks",
        tenant,
        [key for key, _ in new],
        [chunk.dense for _, chunk in new],
        [chunk.lexical for _, chunk in new],
        [chunk.digest for _, chunk in new],
        [chunk.start for _, chunk in new],
        [chunk.end for _, chunk in new],
        [chunk.text for _, chunk in new],
        [chunk.kind == "summary" for _, chunk in new],
    )
    return (row["chunk_id"] for row in rows)


async def keep_chunks(session: Session, tenant: str, kept: Sequence[KeptChunk]) -> frozenset[int]:
    """Those that stand elsewhere now."""
    if not kept:
        return frozenset()
    moved = await session.rows(
        "documents.move_chunks",
        [chunk.chunk_id for chunk in kept],
        [chunk.start for chunk in kept],
        [chunk.end for chunk in kept],
    )
    changed = {chunk.chunk_id: chunk.lexical for chunk in kept if chunk.lexical is not None}
    if changed:
        await session.rows(
            "documents.put_lexical",
            tenant,
            list(changed),
            list(changed.values()),
        )
    return frozenset(row["chunk_id"] for row in moved)
