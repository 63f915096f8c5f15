"""A dry run: compares a source with the index and writes nothing."""

from collections.abc import Callable, Sequence

from index.documents.document_store import DocumentStore
from index.documents.stored_document import StoredDocument
from index.documents.write_causes import Reading
from index.model.document import Document
from index.model.write_order import NEVER_SEEN
from ingest.write.revision import Outcome, PlannedUpdate, Put, Written, revision_of
from ingest.write.write_coordination import PipelineLocks


class DryRunWriter:
    """Replaces the writer. behind: documents that differ between the source and the index."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self.behind: set[str] = set()

    async def put_all(
        self, tenant: str, puts: Sequence[Put], _reading: Reading, _locks: PipelineLocks
    ) -> list[Outcome]:
        stored = await self._documents.stored_all(tenant, [put.document_id for put in puts])
        return [self._compare(put, stored.get(put.document_id)) for put in puts]

    async def remove(
        self,
        _tenant: str,
        document_id: str,
        _permit: Callable[[Document | None], object],
        _reading: Reading,
    ) -> Written:
        self.behind.add(document_id)
        return Written(document_id, 0)

    def _compare(self, put: Put, stored: StoredDocument | None) -> Outcome:
        outcome = revision_of(put, stored, NEVER_SEEN, None)
        if not isinstance(outcome, PlannedUpdate):
            return outcome
        if not outcome.is_unchanged:
            self.behind.add(put.document_id)
        return Written(put.document_id, 0, changed=not outcome.is_unchanged)
