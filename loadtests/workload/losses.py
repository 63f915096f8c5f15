"""Who loses access to a document by a write, and the question that would show the document."""

from collections.abc import Collection
from dataclasses import dataclass

import orjson

from loadtests.workload.rights import Rights
from loadtests.workload.writes import LeaveGroup, RemoveDocument, ShareDocument, Write

_WORDS = 12  # of the document, so that it is among the first hits of everyone who may read it


@dataclass(frozen=True, slots=True)
class Loss:
    """A subject that may read the document before the write and not after it."""

    tenant: str
    subject: str
    document_id: str
    question: bytes


def of(write: Write, rights: Rights, subjects: Collection[tuple[str, str]]) -> Loss | None:
    """The first subject that loses access; called before the write is sent."""
    match write:
        case LeaveGroup(tenant, group, subject):
            if (tenant, subject) not in subjects:
                return None
            groups = rights.groups(tenant, subject)
            for document_id, (text, readers) in rights.documents(tenant).items():
                if _reads(subject, groups, readers) and not _reads(
                    subject, groups - {group}, readers
                ):
                    return Loss(tenant, subject, document_id, _question(text))
        case ShareDocument() | RemoveDocument():
            stored = rights.documents(write.tenant).get(write.document_id)
            after = write.readers if isinstance(write, ShareDocument) else frozenset[str]()
            for tenant, subject in subjects if stored else ():
                groups = rights.groups(tenant, subject)
                if (
                    stored is not None
                    and tenant == write.tenant
                    and _reads(subject, groups, stored[1])
                    and not _reads(subject, groups, after)
                ):
                    return Loss(tenant, subject, write.document_id, _question(stored[0]))
        case _:
            pass
    return None


def _reads(subject: str, groups: Collection[str], readers: frozenset[str]) -> bool:
    own = {"public", "tenant", f"user:{subject}", *(f"group:{group}" for group in groups)}
    return not readers.isdisjoint(own)


def _question(text: str) -> bytes:
    return orjson.dumps({"query": " ".join(text.split()[:_WORDS]) or "?", "top_k": 20})
