"""A tenant's migration from one embedding space to another, atomic for every search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from index.documents import outbox
from index.documents.outbox import CommitResult
from index.model.scope import PUBLIC
from index.postgres.database import Database
from index.postgres.session import Session


@dataclass(frozen=True, slots=True)
class StoredText:
    """The parts of a document that its vectors depend on.

    spans: of its chunks. summaries: start, end and text of each.
    """

    document_id: str
    text: str
    chunker: str
    spans: tuple[tuple[int, int], ...]
    summaries: tuple[tuple[int, int, str], ...]


class MissingVector(NamedTuple):
    """A chunk that has no vector in a space."""

    document_id: str
    digest: bytes


class EmbeddingMigration:
    """The database's statement timeout must allow rewriting all of a tenant's vectors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tenants(self) -> dict[str, int]:
        """The tenants, with their numbers of documents."""
        rows = await self._database.rows("embedding_migration.tenants")
        return {row["tenant"]: row["documents"] for row in rows}

    async def texts(
        self, tenant: str, *, after: str, limit: int, missing_in: str | None = None
    ) -> list[StoredText]:
        """The documents whose identifiers come after this one, by identifier.

        missing_in: only documents with a chunk that has no vector in this space.
        """
        rows = await self._database.rows(
            "embedding_migration.documents", tenant, after, limit, missing_in
        )
        return [
            StoredText(
                row["document_id"],
                row["text"],
                row["chunker"],
                tuple(zip(row["starts"], row["ends"], strict=True)),
                tuple(tuple(summary) for summary in row["summary_rows"] or ()),
            )
            for row in rows
        ]

    async def missing_vectors(self, tenant: str, space: str, *, limit: int) -> list[MissingVector]:
        """Up to `limit` chunks without a vector in the space, in no order."""
        rows = await self._database.rows("embedding_migration.missing", tenant, space, limit)
        return [MissingVector(row["document_id"], row["digest"]) for row in rows]

    async def prepare(self, tenant: str) -> None:
        """Drop the partition's indexes: a switch would write each vector into them."""
        for row in await self._database.rows("embedding_migration.unpublish_index", tenant):
            for statement in ("partitions.drop_graph", "partitions.drop_terms"):
                await self._database.rows(statement, partition_no=row["partition_no"])

    async def switch(self, tenant: str, space: str) -> CommitResult | None:
        """Switch all of the tenant's chunks to their vectors in the space.

        None and no change if a chunk has none there yet. Writers of the tenant wait; a search uses
        the old space or the new one, depending on when it began.
        """
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)
            if await session.rows("embedding_migration.missing", tenant, space, 1):
                return None
            await session.rows("embedding_migration.switch", tenant, space)
            await session.rows("embedding_migration.unpublish_index", tenant)
            await session.rows("embedding_migration.set_space", tenant, space)
            return await _touch(session, tenant)

    async def fill(self, tenant: str, space: str) -> CommitResult | None:
        """Give the tenant's chunks without a vector those of their texts in the space, if stored.

        None if no chunk has got one. Writers of the tenant wait.
        """
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)
            rows = await session.rows("embedding_migration.fill", tenant, space)
            return (
                await _touch(session, tenant, [row["chunk_id"] for row in rows]) if rows else None
            )

    async def finish(self, tenant: str, space: str, dimensions: int) -> None:
        """Forget the tenant's vectors in other spaces; the last tenant brings the index along."""
        await self._database.rows("embedding_migration.delete_old", tenant, space)
        await self._database.rows("embedding_migration.set_index_space", space, dimensions)


async def _touch(
    session: Session, tenant: str, filled: Sequence[int] | None = None
) -> CommitResult:
    """Raise the revisions of the partitions that may have seen one of the vectors.

    filled: the chunks that have got another vector; None: all.
    """
    updated_chunks = {}
    for partition, public_only in ((tenant, False), (PUBLIC, True)):
        chunk_ids = await session.value(
            "embedding_migration.chunk_ids", tenant, public_only, filled
        )
        if chunk_ids or not public_only:
            updated_chunks[partition] = chunk_ids
    return await outbox.mark_updated(session, updated_chunks)
