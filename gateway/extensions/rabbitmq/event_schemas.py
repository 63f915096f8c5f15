"""Events: changes of documents that another system reports, each as a JSON object.

    {"type": "update", "document_id": "team/leave", "version": 7,
     "document": {"title": "Leave", "text": "Everybody gets 25 days.", "tags": ["people"]},
     "access": {"owner": null, "readers": ["group:people"]}}
    {"type": "access", "document_id": "team/leave", "version": 8,
     "access": {"owner": "ana", "readers": ["tenant"]}}
    {"type": "delete", "document_id": "team/leave", "version": 9}

create, update  Replace the whole document; both mean the same, since either may arrive first.
                Without `access` the owner and the readers stay; a new document without `access` has
                no owner and no readers.
access          Replaces the owner and the readers. It may arrive before the document.
delete          Removes the document, its owner and its readers.

`version` defines the order of a document's events: the later event has the higher version, for
example the row's version, or milliseconds since 1970. Events may arrive in any order and more than
once. The highest version of create, update and delete decides the content; the highest version of
access, delete, and create or update with `access`, decides the owner and the readers. An event
whose version is not higher than the stored one changes nothing.

`tenant` is optional; if present, it must be the tenant of the queue.
"""

from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from gateway.extension import decode_json, problems
from gateway.extensions._sources.source import reason
from gateway.extensions.rabbitmq.errors import EventRefused
from gateway.extensions.rabbitmq.event_versions import EventUpdate, EventVersion
from index.model import chunking_config
from index.model.document import (
    EVENTS_SOURCE,
    NO_SUMMARIES,
    ChunkerName,
    Document,
    DocumentId,
    Language,
    Line,
    Metadata,
    NewDocumentId,
    Source,
    Summaries,
    Tags,
    Text,
    Title,
    Uri,
)
from index.model.form import is_blank
from index.model.identifiers import Readers, SubjectId
from index.text import language_detection

VERSION_MAX = 2**63 - 1  # a bigint of PostgreSQL; holds nanoseconds until 2262


class _EventBody(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class EventContent(_EventBody):
    """A document's content; without `chunker`, `summaries` or `active` the stored ones stay."""

    title: Title = ""
    text: Text
    source: Source = EVENTS_SOURCE
    uri: Uri = ""
    language: Language | None = None
    tags: Tags = ()
    metadata: Metadata = Field(default_factory=dict)
    chunker: ChunkerName | None = None
    summaries: Summaries | None = None
    active: bool | None = None

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if is_blank(text):
            raise ValueError("must not be blank")
        return text


class EventAccess(_EventBody):
    owner: SubjectId | None
    readers: Readers


class _Event(_EventBody):
    document_id: DocumentId
    version: int = Field(ge=1, le=VERSION_MAX)
    tenant: Line | None = None


class PutEvent(_Event):
    type: Literal["create", "update"]
    document_id: NewDocumentId
    document: EventContent
    access: EventAccess | None = None


class DeleteEvent(_Event):
    type: Literal["delete"]


class ShareEvent(_Event):
    type: Literal["access"]
    access: EventAccess


Event: TypeAlias = PutEvent | DeleteEvent | ShareEvent

_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])
_NO_ACCESS = EventAccess(owner=None, readers=())


def parse(body: bytes, tenant: str, bytes_max: int) -> Event:
    """The event from a queue of the tenant. Raises `EventRefused`."""
    if len(body) > bytes_max:
        raise EventRefused(f"over {bytes_max:,} bytes")
    try:
        decode_json(body)
        event = _EVENT.validate_json(body)
    except problems.Problem as problem:
        raise EventRefused(problem.detail) from None
    except ValidationError as error:
        raise EventRefused(reason(error)) from None
    if event.tenant not in (None, tenant):
        raise EventRefused("tenant: not the tenant of the queue")
    return event


def merge_event(before: EventVersion, event: Event) -> EventVersion:
    """The versions after the event; equal to `before` if the event is outdated."""
    content = (
        before.content if isinstance(event, ShareEvent) else max(before.content, event.version)
    )
    access = _NO_ACCESS if isinstance(event, DeleteEvent) else event.access
    if access is None or event.version <= before.access:
        return replace(before, content=content)
    return EventVersion(content, event.version, access.owner, access.readers)


def document_of(
    event: PutEvent, stored: Document | None, update: EventUpdate, language: str
) -> Document:
    """The stored document changed by the event. language: of a document without one."""
    content, after = event.document, update.after
    if stored is not None and after.access == update.before.access:
        owner, readers = stored.owner, stored.readers  # may have changed since that event
    else:
        owner, readers = after.owner, after.readers
    return Document(
        document_id=event.document_id,
        title=content.title,
        text=content.text,
        source=content.source,
        uri=content.uri,
        language=content.language or language_detection.detect_surely(content.text) or language,
        tags=content.tags,
        metadata=content.metadata,
        owner=owner,
        readers=readers,
        chunker=content.chunker or chunking_config.DEFAULT,
        summaries=content.summaries or NO_SUMMARIES,
        is_active=content.active is not False,
    )
