"""Events: what another system says has become of a document, each a JSON object of its own.

    {"type": "update", "document_id": "team/leave", "version": 7,
     "document": {"title": "Leave", "text": "Everybody gets 25 days.", "tags": ["people"]},
     "access": {"owner": null, "readers": ["group:people"]}}
    {"type": "access", "document_id": "team/leave", "version": 8,
     "access": {"owner": "ana", "readers": ["tenant"]}}
    {"type": "delete", "document_id": "team/leave", "version": 9}

create, update  The document is now this one, whole; both mean the same, for either may come first.
                Without `access` its owner and readers stay as they are; a document of which nobody
                has said who may read it is nobody's, and nobody reads it.
access          Owner and readers are now these, whole. It may come before the document does.
delete          The document is gone, and so is what was said of who may read it.

`version` tells the order: of two events of one document the later one has the higher. It may be the
row's version, or a time as a number: milliseconds since 1970. In whatever order events come, and
however often each, the document ends as the highest of those has it that say what is in it (create,
update, delete), with owner and readers as the highest of those has them that say so (access,
delete, others with `access`). One that is not higher than what has been heard changes nothing.

`tenant` may be there, and is then checked: whose events they are, the queue says.
"""

from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from index.documents.event_versions import EventUpdate, EventVersion
from index.model import chunking_config
from index.model.document import (
    EVENTS_SOURCE,
    NO_SUMMARIES,
    Cut,
    Document,
    DocumentId,
    Language,
    Line,
    Metadata,
    NewDocumentId,
    Owner,
    Readers,
    Source,
    Summaries,
    Tags,
    Text,
    Title,
    Uri,
)
from ingest.errors import EventRefused
from ingest.sources.source import reason

VERSION_MAX = 2**63 - 1  # a bigint of Postgres; holds nanoseconds until 2262


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class EventContent(_Body):
    """What is in a document; absent, `cut` and `summaries` stay, `language` is the server's own."""

    title: Title = ""
    text: Text
    source: Source = EVENTS_SOURCE
    uri: Uri = ""
    language: Language | None = None
    tags: Tags = ()
    metadata: Metadata = Field(default_factory=dict)
    cut: Cut | None = None
    summaries: Summaries | None = None

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("must not be blank")
        return text


class EventAccess(_Body):
    owner: Owner | None
    readers: Readers


class _Event(_Body):
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
_NOBODY = EventAccess(owner=None, readers=())


def parse(body: bytes, tenant: str, bytes_max: int) -> Event:
    """The event of a queue that belongs to the tenant. Raises `EventRefused`."""
    if len(body) > bytes_max:
        raise EventRefused(f"over {bytes_max:,} bytes")
    try:
        event = _EVENT.validate_json(body)
    except ValidationError as error:
        raise EventRefused(reason(error)) from None
    if event.tenant not in (None, tenant):
        raise EventRefused("tenant: not the one that the queue belongs to")
    return event


def merge_event(before: EventVersion, event: Event) -> EventVersion:
    """What has been heard once the event has; the same as before if it says nothing new."""
    content = (
        before.content if isinstance(event, ShareEvent) else max(before.content, event.version)
    )
    access = _NOBODY if isinstance(event, DeleteEvent) else event.access
    if access is None or event.version <= before.access:
        return replace(before, content=content)
    return EventVersion(content, event.version, access.owner, access.readers)


def document_of(
    event: PutEvent, stored: Document | None, hearing: EventUpdate, language: str
) -> Document:
    """What the event makes of the stored document; language: of one that names none."""
    content, after = event.document, hearing.after
    if stored is not None and after.access == hearing.before.access:
        owner, readers = stored.owner, stored.readers  # somebody else may have said so since
    else:
        owner, readers = after.owner, after.readers
    return Document(
        document_id=event.document_id,
        title=content.title,
        text=content.text,
        source=content.source,
        uri=content.uri,
        language=content.language or language,
        tags=content.tags,
        metadata=content.metadata,
        owner=owner,
        readers=readers,
        cut=content.cut or (stored.cut if stored else chunking_config.DEFAULT),
        summaries=content.summaries or (stored.summaries if stored else NO_SUMMARIES),
    )
