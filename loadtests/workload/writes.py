"""The writes of a history as values, the state that they change, and the HTTP call of each."""

from dataclasses import astuple, dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Literal, TypeAlias
from zlib import crc32

import orjson

from loadtests.load.request import Call

Delivery: TypeAlias = Literal["at once", "queued", "batch"]


@dataclass(frozen=True, slots=True)
class PutDocument:
    """readers: of a new document; a stored one keeps its readers.

    delivery: the request writes it, a worker writes it later, or it is a line of a batch.
    """

    tenant: str
    document_id: str
    text: str
    readers: frozenset[str]
    delivery: Delivery = "at once"


@dataclass(frozen=True, slots=True)
class RemoveDocument:
    tenant: str
    document_id: str


@dataclass(frozen=True, slots=True)
class ShareDocument:
    tenant: str
    document_id: str
    readers: frozenset[str]


@dataclass(frozen=True, slots=True)
class JoinGroup:
    tenant: str
    group: str
    subject: str


@dataclass(frozen=True, slots=True)
class LeaveGroup:
    tenant: str
    group: str
    subject: str


Write: TypeAlias = PutDocument | RemoveDocument | ShareDocument | JoinGroup | LeaveGroup


@dataclass(frozen=True, slots=True)
class DocumentState:
    text: str
    readers: frozenset[str]


@dataclass(slots=True)
class WorldState:
    """Documents by tenant and identifier; members as (tenant, group, subject)."""

    documents: dict[tuple[str, str], DocumentState] = field(default_factory=dict)
    members: set[tuple[str, str, str]] = field(default_factory=set)

    def apply(self, write: Write) -> Write | None:
        """Apply the write and return the write that undoes it; None if it changes nothing."""
        match write:
            case PutDocument() | RemoveDocument() | ShareDocument():
                return self._write(write)
            case JoinGroup() | LeaveGroup():
                member, joins = astuple(write), isinstance(write, JoinGroup)
                if (member in self.members) == joins:
                    return None
                self.members ^= {member}
                return LeaveGroup(*member) if joins else JoinGroup(*member)

    def _write(self, write: PutDocument | RemoveDocument | ShareDocument) -> Write | None:
        where = write.tenant, write.document_id
        stored = self.documents.get(where)
        if stored is None:
            if isinstance(write, PutDocument):
                self.documents[where] = DocumentState(write.text, write.readers)
                return RemoveDocument(*where)
            return None
        match write:
            case RemoveDocument():
                del self.documents[where]
                return PutDocument(*where, stored.text, stored.readers)
            case PutDocument():
                new = replace(stored, text=write.text)
                undoes: Write = PutDocument(*where, stored.text, stored.readers)
            case ShareDocument():
                new = replace(stored, readers=write.readers)
                undoes = ShareDocument(*where, stored.readers)
        self.documents[where] = new
        return None if new == stored else undoes


_LATER = (("Prefer", "respond-async"),)


def call_of(write: Write, access: dict[str, Any]) -> Call:
    """access: the owner and readers of the document after the write, and its source."""
    match write:
        case PutDocument(_, document_id, text, _, delivery):
            fields = {"title": PurePosixPath(document_id).stem, "text": text, **access}
            if delivery == "batch":
                line = orjson.dumps({"document_id": document_id, **fields})
                return Call("POST", "/v1/documents/batch", line)
            headers = _LATER if delivery == "queued" else ()
            body = orjson.dumps(fields)
            return Call("PUT", f"/v1/documents/{document_id}", body, headers=headers)
        case ShareDocument(_, document_id):
            return Call("PATCH", f"/v1/documents/{document_id}/access", orjson.dumps(access))
        case RemoveDocument(_, document_id):
            return Call("DELETE", f"/v1/documents/{document_id}")
        case JoinGroup(_, group, subject):
            return Call("PUT", f"/v1/groups/{group}/members/{subject}")
        case LeaveGroup(_, group, subject):
            return Call("DELETE", f"/v1/groups/{group}/members/{subject}")


def about(write: Write) -> str:
    """The tenant, and the document or the subject that the write changes."""
    match write:
        case PutDocument() | RemoveDocument() | ShareDocument():
            return f"{write.tenant} {write.document_id}"
        case JoinGroup() | LeaveGroup():
            return f"{write.tenant} {write.subject}"


def lane_of(write: Write, lanes: int) -> int:
    """The lane of a document or subject, from 0 to lanes - 1: a lane sends its writes in order."""
    return crc32(about(write).encode()) % lanes


def label_of(write: Write) -> str:
    """The kind of write, for counters and reports."""
    return type(write).__name__.removesuffix("Document").removesuffix("Group").lower()
