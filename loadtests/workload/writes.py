"""What the replay asks of the service, as values, and what of a world each one undoes."""

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

Delivery: TypeAlias = Literal["at once", "queued", "batch"]


@dataclass(frozen=True, slots=True)
class Put:
    """Write a document. readers: of one that is new; a stored one keeps its own.

    delivery: written by the request, by a worker afterwards, or as a line of a batch.
    """

    tenant: str
    document_id: str
    text: str
    readers: frozenset[str]
    delivery: Delivery = "at once"


@dataclass(frozen=True, slots=True)
class Remove:
    tenant: str
    document_id: str


@dataclass(frozen=True, slots=True)
class Share:
    tenant: str
    document_id: str
    readers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Join:
    tenant: str
    group: str
    subject: str


@dataclass(frozen=True, slots=True)
class Leave:
    tenant: str
    group: str
    subject: str


Write: TypeAlias = Put | Remove | Share | Join | Leave


@dataclass(frozen=True, slots=True)
class Document:
    text: str
    readers: frozenset[str]


@dataclass(slots=True)
class World:
    """Documents by tenant and identifier; who is in which group of which tenant."""

    documents: dict[tuple[str, str], Document] = field(default_factory=dict)
    members: set[tuple[str, str, str]] = field(default_factory=set)

    def apply(self, write: Write) -> Write | None:
        """What would undo it; None if it changes nothing, so that there is nothing to ask for."""
        match write:
            case Put() | Remove() | Share():
                return self._write(write)
            case Join(tenant, group, subject):
                if (tenant, group, subject) in self.members:
                    return None
                self.members.add((tenant, group, subject))
                return Leave(tenant, group, subject)
            case Leave(tenant, group, subject):
                if (tenant, group, subject) not in self.members:
                    return None
                self.members.remove((tenant, group, subject))
                return Join(tenant, group, subject)

    def _write(self, write: Put | Remove | Share) -> Write | None:
        where = write.tenant, write.document_id
        stored = self.documents.get(where)
        if stored is None:
            if isinstance(write, Put):
                self.documents[where] = Document(write.text, write.readers)
                return Remove(*where)
            return None
        match write:
            case Remove():
                del self.documents[where]
                return Put(*where, stored.text, stored.readers)
            case Put():
                new = replace(stored, text=write.text)
                undoes: Write = Put(*where, stored.text, stored.readers)
            case Share():
                new = replace(stored, readers=write.readers)
                undoes = Share(*where, stored.readers)
        self.documents[where] = new
        return None if new == stored else undoes
