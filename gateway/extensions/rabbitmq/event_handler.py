"""Applies events: each once, in any order, in the transaction that records its version.

No lock is held between the read and the write. If two workers handle events of one document, the
worker whose commit finds newer event versions than it has read starts again.
"""

from dataclasses import dataclass, replace

from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.errors import EventRefused, EventSuperseded
from gateway.extensions.rabbitmq.event_schemas import DeleteEvent, Event, PutEvent
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.extensions.rabbitmq.event_versions import EventUpdate
from index.model.document import Document
from index.model.provenance import SOURCE
from index.model.write_order import ACCESS, CONTENT, NO_PARTS, named
from ingest.errors import DocumentContended, PublishingRefused
from ingest.write.revision import Written
from ingest.write.writer import Writer

_ATTEMPTS_MAX = 20  # after each lost attempt another event of the document has been applied


class _DocumentMissing(Exception):
    """The document does not exist."""


@dataclass(frozen=True, slots=True)
class EventHandler:
    """language: the default of documents without one.

    may_publish: whether events may write documents that are public.
    """

    writer: Writer
    event_versions: EventVersionStore
    language: str
    may_publish: bool

    async def handle(self, tenant: str, event: Event) -> Written | None:
        """Apply an event; None if it is outdated, or its document is missing.

        Raises the errors of `Writer`, and `EventRefused` for a public document, unless it may
        publish.
        """
        for _ in range(_ATTEMPTS_MAX):
            before = await self.event_versions.get(tenant, event.document_id)
            after = event_schemas.merge_event(before, event)
            if after == before:
                return None
            try:
                return await self._apply(
                    tenant, event, EventUpdate(event.document_id, before, after)
                )
            except EventSuperseded:
                continue
        raise DocumentContended(event.document_id)

    async def _apply(self, tenant: str, event: Event, update: EventUpdate) -> Written | None:
        try:
            return await self._write(tenant, event, update)
        except PublishingRefused:
            raise EventRefused(
                "readers: events may not publish (NEARHIT_RABBITMQ_MAY_PUBLISH)"
            ) from None
        except _DocumentMissing:  # the event is kept for a later document
            await self.event_versions.keep(tenant, update)
            return None

    async def _write(self, tenant: str, event: Event, update: EventUpdate) -> Written:
        document_id, after = event.document_id, update.after
        is_latest = after.content > update.before.content
        sets_access = after.access > update.before.access
        match event:
            case PutEvent(document=content) if is_latest:
                optional = named(
                    chunker=content.chunker, summaries=content.summaries, active=content.active
                )
                return await self.writer.put(
                    tenant,
                    document_id,
                    lambda stored: event_schemas.document_of(event, stored, update, self.language),
                    update,
                    CONTENT | optional | (ACCESS if sets_access else NO_PARTS),
                    may_publish=self.may_publish,
                    author=SOURCE,
                )
            case DeleteEvent() if is_latest:
                return await self.writer.remove(
                    tenant, document_id, lambda stored: stored, update, forget=True
                )
            case _:  # a later event has set the content
                return await self.writer.put_access(
                    tenant,
                    document_id,
                    lambda stored: replace(
                        _require(stored), owner=after.owner, readers=after.readers
                    ),
                    update,
                    may_publish=self.may_publish,
                )


def _require(stored: Document | None) -> Document:
    if stored is None:
        raise _DocumentMissing
    return stored
