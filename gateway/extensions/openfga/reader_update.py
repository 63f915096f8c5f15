"""The readers that relation tuples give to one document, and the change that brings them to it."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.extensions.openfga.errors import TuplesMoved
from index.documents import ended_readers
from index.postgres.session import Row, Session
from ingest.errors import DocumentContended


@dataclass(frozen=True, slots=True)
class ReaderUpdate:
    """A change of a document's readers, planned from these rows.

    granted: readers that the tuples give. removed: readers that they gave before.
    """

    document_id: str
    granted: tuple[str, ...]
    removed: tuple[str, ...]

    @classmethod
    def of(cls, document_id: str, rows: Sequence[Row]) -> "ReaderUpdate":
        return cls(
            document_id,
            tuple(row["reader"] for row in rows if not row["is_removed"]),
            tuple(row["reader"] for row in rows if row["is_removed"]),
        )

    def readers(self, readers: Sequence[str], readers_max: int) -> tuple[str, ...]:
        """The document's readers after the change; further ones than `readers_max` are left out."""
        kept = [reader for reader in readers if reader not in self.removed]
        granted = [reader for reader in self.granted if reader not in kept]
        return (*kept, *granted)[: max(readers_max, len(kept))]

    async def settle(self, session: Session, tenant: str) -> None:
        """Record, in a transaction that has locked the document, that it follows the tuples.

        What they have ended, no earlier write gives again.
        Raises `TuplesMoved` if the tuples have changed since the update was planned, and
        `DocumentContended` if another writer has given the document a removed reader.
        """
        rows = await session.rows("openfga.lock_readers", tenant, self.document_id)
        if ReaderUpdate.of(self.document_id, rows) != self:
            raise TuplesMoved(tenant)
        if not self.removed:
            return
        await ended_readers.end(session, tenant, self.document_id, self.removed)
        forgotten = await session.rows("openfga.forget_removed", tenant, self.document_id)
        if len(forgotten) < len(self.removed):
            raise DocumentContended(self.document_id)
