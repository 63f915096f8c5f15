"""Does what events say: each once, in any order, and together with the record that it was heard.

Nobody holds a lock from looking to writing. Of two workers that hear events of one document, the
one whose commit finds more heard than it has planned from begins again.
"""

from dataclasses import dataclass, replace

from index.documents.event_versions import EventUpdate, EventVersionStore
from index.errors import EventSuperseded
from index.model.document import Document
from index.model.write_order import ALL_PARTS, CONTENT
from ingest.errors import DocumentContended
from ingest.events import event_schemas
from ingest.events.event_schemas import DeleteEvent, Event, PutEvent
from ingest.write.revision import Written
from ingest.write.writer import Writer

_ATTEMPTS_MAX = 20  # each lost attempt means that another event of the document got through


class _DocumentMissing(Exception):
    """The document is not there."""


@dataclass(frozen=True, slots=True)
class EventHandler:
    """language: of documents that name none."""

    writer: Writer
    event_versions: EventVersionStore
    language: str

    async def handle(self, tenant: str, event: Event) -> Written | None:
        """What the event changed; None if it said nothing new, or nothing of what is there.

        Raises what `Writer` does.
        """
        for _ in range(_ATTEMPTS_MAX):
            before = await self.event_versions.get(tenant, event.document_id)
            after = event_schemas.merge_event(before, event)
            if after == before:
                return None
            try:
                return await self._do(tenant, event, EventUpdate(event.document_id, before, after))
            except EventSuperseded:
                continue
        raise DocumentContended(event.document_id)

    async def _do(self, tenant: str, event: Event, hearing: EventUpdate) -> Written | None:
        try:
            return await self._write(tenant, event, hearing)
        except _DocumentMissing:  # what it says is kept for a document to come
            await self.event_versions.keep(tenant, hearing)
            return None

    async def _write(self, tenant: str, event: Event, hearing: EventUpdate) -> Written:
        document_id, after = event.document_id, hearing.after
        is_latest = after.content > hearing.before.content
        says_access = after.access > hearing.before.access
        match event:
            case PutEvent() if is_latest:
                return await self.writer.put(
                    tenant,
                    document_id,
                    lambda stored: event_schemas.document_of(event, stored, hearing, self.language),
                    hearing,
                    ALL_PARTS if says_access else CONTENT,
                )
            case DeleteEvent() if is_latest:
                return await self.writer.remove(
                    tenant, document_id, lambda stored: stored, hearing, forget=True
                )
            case _:  # what is in the document a later one has said
                return await self.writer.put_access(
                    tenant,
                    document_id,
                    lambda stored: replace(
                        _there(stored), owner=after.owner, readers=after.readers
                    ),
                    hearing,
                )


def _there(stored: Document | None) -> Document:
    if stored is None:
        raise _DocumentMissing
    return stored
