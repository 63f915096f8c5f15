"""The actual contents of the tables, for an audit of the index."""

from collections.abc import Collection
from dataclasses import dataclass

from index.model.document import Summaries
from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """A stored chunk's text; start and end count characters of the document's text.

    A summary's start and end are those of the text that it summarizes.
    """

    start: int
    end: int
    digest: bytes
    text: str


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """The rows of a document, its chunks in the order of the text.

    text: None if it is lost.
    expected_count: the recorded number of chunks, `summary_chunks` among them.
    wrong_vector_count: chunks without a vector, or with another one than their digest's in the
                        tenant's space.
    strays: chunks that only one of the tables holds, or in a partition that no search reads.
    """

    document_id: str
    text: str | None
    chunker: str
    expected_count: int
    chunks: tuple[StoredPiece, ...]
    summaries: Summaries
    summary_chunks: tuple[StoredPiece, ...]
    is_active: bool
    wrong_vector_count: int
    strays: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConsistencyCounts:
    """Chunks of the tenant, its public ones, and all public ones; its documents, and its bytes.

    As recorded, and as counted.
    """

    recorded: tuple[int, ...]
    counted: tuple[int, ...]


class ConsistencyReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def documents(self, tenant: str, *, after: str, limit: int) -> list[StoredChunks]:
        """Up to `limit` documents whose identifiers come after this one, by identifier."""
        rows = await self._database.rows("consistency.documents", tenant, after, limit)
        return [
            StoredChunks(
                row["document_id"],
                row["text"],
                row["chunker"],
                row["counted"],
                tuple(StoredPiece(*piece) for piece in row["chunks"] or ()),
                row["summaries"],
                tuple(StoredPiece(*piece) for piece in row["summary_chunks"] or ()),
                row["is_active"],
                row["mismatched"],
                tuple(row["strays"]),
            )
            for row in rows
        ]

    async def counts(self, tenant: str) -> ConsistencyCounts | None:
        """None if there is no such tenant."""
        row = await self._database.row("consistency.counts", tenant)
        return (
            None if row is None else ConsistencyCounts(tuple(row["stored"]), tuple(row["actual"]))
        )

    async def recount(self, tenant: str) -> None:
        """Correct the recorded counts; the tenant's writers wait meanwhile."""
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)
            await session.rows("consistency.recount", tenant)
            await session.rows("consistency.lock_public")
            await session.rows("consistency.recount_public")

    async def old_spaces(self, tenant: str, in_use: Collection[str]) -> dict[str, int]:
        """The number of the tenant's vectors in each space that is neither current nor in use."""
        rows = await self._database.rows("consistency.unused_spaces", tenant, list(in_use))
        return {row["embedding_space"]: row["vectors"] for row in rows}

    async def forget_space(self, tenant: str, space: str) -> None:
        await self._database.rows("consistency.delete_space", tenant, space)
