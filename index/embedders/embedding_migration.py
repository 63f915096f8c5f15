"""A tenant's move from one embedder's space to another's, seen by every search in one instant."""

from dataclasses import dataclass

from index.documents import outbox
from index.documents.outbox import CommitResult
from index.model.scope import PUBLIC
from index.postgres.database import Database, Session


@dataclass(frozen=True, slots=True)
class StoredText:
    """A document, as far as its vectors depend on it.

    places: of its chunks. summaries: where each begins, where it ends, and what it says.
    """

    key: int
    document_id: str
    text: str
    cut: str
    places: tuple[tuple[int, int], ...]
    summaries: tuple[tuple[int, int, str], ...]


class EmbeddingMigration:
    """Its database must grant a statement the time to rewrite a tenant's vectors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tenants(self) -> dict[str, int]:
        """How many documents each has."""
        rows = await self._database.rows("spaces.tenants")
        return {row["tenant"]: row["documents"] for row in rows}

    async def texts(self, tenant: str, *, after: int, limit: int) -> list[StoredText]:
        """The documents whose keys come after this one, by key."""
        rows = await self._database.rows("spaces.documents", tenant, after, limit)
        return [
            StoredText(
                row["document_key"],
                row["document_id"],
                row["text"],
                row["cut"],
                tuple(zip(row["starts"], row["ends"], strict=True)),
                tuple(tuple(summary) for summary in row["summaries_told"] or ()),
            )
            for row in rows
        ]

    async def missing_vectors(self, tenant: str, space: str, *, limit: int) -> list[str]:
        """Documents with a chunk that has no vector in the space."""
        rows = await self._database.rows("spaces.lacking", tenant, space, limit)
        return [row["document_id"] for row in rows]

    async def prepare(self, tenant: str) -> None:
        """Drop the indexes of the tenant's shelf: a switch would write each vector into them."""
        for row in await self._database.rows("spaces.unindex", tenant):
            for statement in ("shelves.drop_graph", "shelves.drop_terms"):
                await self._database.rows(statement, shelf=row["shelf"])

    async def switch(self, tenant: str, space: str) -> CommitResult | None:
        """Give all of the tenant's chunks their vectors in the space, or none of them and None.

        None if a chunk has none there yet. The tenant's writers wait, its searches don't: those
        begun before see the old space alone, those begun after the new one.
        """
        async with self._database.transaction() as session:
            await session.rows("shelves.close", tenant)
            if await session.rows("spaces.lacking", tenant, space, 1):
                return None
            await session.rows("spaces.switch", tenant, space)
            await session.rows("spaces.unindex", tenant)
            await session.rows("spaces.enter", tenant, space)
            return await _touch(session, tenant)

    async def finish(self, tenant: str, space: str, dimensions: int) -> None:
        """Forget the tenant's vectors in other spaces; the last tenant brings the index along."""
        await self._database.rows("spaces.forget", tenant, space)
        await self._database.rows("spaces.settle", space, dimensions)


async def _touch(session: Session, tenant: str) -> CommitResult:
    """Raise the revisions of whoever may have seen one of the vectors."""
    touched = {}
    for partition, public_only in ((tenant, False), (PUBLIC, True)):
        chunk_ids = await session.value("spaces.touched", tenant, public_only)
        if chunk_ids or not public_only:
            touched[partition] = chunk_ids
    return await outbox.touch(session, touched)
