"""Writes rows of a followed relation as documents, and removes those that are gone."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from gateway.extension import Stores
from gateway.extensions._batches.write_batches import CHARACTERS_MAX, DOCUMENTS_MAX
from gateway.extensions._sources.source import Defaults, DocumentOfOtherOrigin, RefusedItem
from gateway.extensions._sources.sync.report import Report
from gateway.extensions.sources_postgres.follower_store import ClaimedFollower
from gateway.extensions.sources_postgres.postgres_schemas import PostgresSource
from gateway.extensions.sources_postgres.server.relation_reader import Row, read_batch
from index.documents.write_causes import Reading
from index.model.document import Document
from index.model.form import composed
from index.model.provenance import SOURCE
from ingest.errors import DocumentTooLong, PublishingRefused
from ingest.write.revision import Put, Written
from ingest.write.writer import Writer

_LOOKED_UP = 1_000  # documents at once


@dataclass(slots=True)
class RowWriter:
    """reading: later ones win. read: the keys of the rows so far."""

    stores: Stores
    writer: Writer
    claimed: ClaimedFollower
    config: PostgresSource
    defaults: Defaults
    reading: Reading
    report: Report = field(default_factory=Report)
    read: set[str] = field(default_factory=set)
    _waiting: list[Row] = field(default_factory=list)
    _room: int = CHARACTERS_MAX

    async def add(self, rows: Iterable[Row]) -> None:
        """Write rows, some of them later: `flush` writes all."""
        for row in rows:
            self._waiting.append(row)
            self._room -= len(row["text"] or "")
            if len(self._waiting) == DOCUMENTS_MAX or self._room < 0:
                await self.flush()

    async def flush(self) -> None:
        rows, self._waiting, self._room = self._waiting, [], CHARACTERS_MAX
        if not rows:
            return
        name, columns = self.claimed.source, self.config.columns.model_dump()
        batch = await self.writer.threads.run(
            self.claimed.tenant, read_batch, rows, name, self.defaults, columns, self.read
        )
        for item in batch.refused:
            self.report.refuse(item)
        self.report.warnings += batch.warnings[: 100 - len(self.report.warnings)]
        await self.remove(batch.gone)  # first: others may read what is stored
        await self._put(batch.documents)

    async def remove(self, keys: Iterable[str]) -> None:
        """Remove the documents of these keys that are stored."""
        tenant, documents = self.claimed.tenant, self.stores.documents
        ids = [composed(f"{self.claimed.source}/{key}") for key in keys]
        for start in range(0, len(ids), _LOOKED_UP):
            some = ids[start : start + _LOOKED_UP]
            stored = await documents.contents(tenant, some)
            if len(stored) < len(some):  # whoever has removed one may not have announced it
                await documents.announce(tenant)
            for document_id in stored:
                await self._remove(document_id)

    async def remove_others(self) -> None:
        """Remove the stored documents that no row was read of."""
        name = self.claimed.source
        for document_id in await self.stores.documents.of_source(self.claimed.tenant, name):
            if document_id.removeprefix(f"{name}/") not in self.read:
                await self._remove(document_id)

    async def _put(self, documents: Sequence[Document]) -> None:
        puts = [
            Put(
                each.document_id,
                _as_read(each),
                may_publish=self.claimed.may_publish,
                author=SOURCE,
            )
            for each in documents
        ]
        outcomes = await self.writer.put_all(self.claimed.tenant, puts, self.reading)
        for document, outcome in zip(documents, outcomes, strict=True):
            match outcome:
                case Written():
                    self.report.count(outcome)
                case DocumentTooLong() | DocumentOfOtherOrigin() | PublishingRefused():
                    key = document.document_id.removeprefix(f"{document.source}/")
                    self.report.refuse(RefusedItem(key, str(outcome), holds=key))
                    await self._remove(document.document_id)
                case _:
                    raise outcome

    async def _remove(self, document_id: str) -> None:
        def permit(stored: Document | None) -> None:
            if stored is not None and stored.source != self.claimed.source:
                raise DocumentOfOtherOrigin(document_id)

        with suppress(DocumentOfOtherOrigin):
            written = await self.writer.remove(
                self.claimed.tenant, document_id, permit, self.reading
            )
            self.report.removed += written.changed


def _as_read(document: Document) -> Callable[[Document | None], Document]:
    return lambda _stored: document
