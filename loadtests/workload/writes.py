"""The writes of a history as values, and the state that they change."""

from dataclasses import astuple, dataclass, field, replace
from typing import Literal, TypeAlias

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
