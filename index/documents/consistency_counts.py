"""What the tables hold, whatever they should hold: for who audits the index."""

from collections.abc import Collection
from dataclasses import dataclass

from index.model.document import Summaries
from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """A chunk as its text is told; start and end count characters of the document's text.

    Those of a summary are of what it sums up.
    """

    start: int
    end: int
    digest: bytes
    text: str


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """What there is of a document, its chunks in the order of the text.

    text: None if it is lost. counted: how many chunks it is said to have, those of
    its summaries, `told`, among them.
    unlike: how many have no vector, or another than their digest's in the tenant's space.
    strays: chunks that only one of the tables holds, or that stand where nobody looks for them.
    """

    key: int
    document_id: str
    text: str | None
    cut: str
    counted: int
    chunks: tuple[StoredPiece, ...]
    summaries: Summaries
    told: tuple[StoredPiece, ...]
    unlike: int
    strays: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConsistencyCounts:
    """Chunks of a tenant, those of them that are public, and all that are: as told, as found."""

    told: tuple[int, ...]
    found: tuple[int, ...]


class ConsistencyReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def documents(self, tenant: str, *, after: int, limit: int) -> list[StoredChunks]:
        """Those whose keys come after this one, by key."""
        rows = await self._database.rows("inventory.documents", tenant, after, limit)
        return [
            StoredChunks(
                row["document_key"],
                row["document_id"],
                row["text"],
                row["cut"],
                row["counted"],
                tuple(StoredPiece(*piece) for piece in row["chunks"] or ()),
                row["summaries"],
                tuple(StoredPiece(*piece) for piece in row["told"] or ()),
                row["unlike"],
                tuple(row["strays"]),
            )
            for row in rows
        ]

    async def counts(self, tenant: str) -> ConsistencyCounts | None:
        """None if there is no such tenant."""
        row = await self._database.row("inventory.counts", tenant)
        return None if row is None else ConsistencyCounts(tuple(row["told"]), tuple(row["found"]))

    async def recount(self, tenant: str) -> None:
        """Tell what there is; the tenant's writers wait meanwhile."""
        async with self._database.transaction() as session:
            await session.rows("shelves.close", tenant)
            await session.rows("inventory.recount", tenant)
            await session.rows("inventory.close_public")
            await session.rows("inventory.recount_public")

    async def old_spaces(self, tenant: str, in_use: Collection[str]) -> dict[str, int]:
        """How many vectors the tenant has in each space that is neither its own nor in use."""
        rows = await self._database.rows("inventory.old_spaces", tenant, list(in_use))
        return {row["space"]: row["vectors"] for row in rows}

    async def forget_space(self, tenant: str, space: str) -> None:
        await self._database.rows("inventory.forget_space", tenant, space)
