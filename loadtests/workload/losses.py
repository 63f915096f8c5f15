"""Who loses access to a document by a write, and the question that would show the document."""

from collections.abc import Collection
from dataclasses import dataclass

import orjson

from loadtests.workload.rights import Rights
from loadtests.workload.writes import LeaveGroup, RemoveDocument, ShareDocument, Write

_NOBODY = frozenset[str]()
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
            own, left = _tokens(subject, groups), _tokens(subject, groups - {group})
            for document_id, (text, readers) in rights.documents(tenant).items():
                if readers & own and not readers & left:
                    return Loss(tenant, subject, document_id, _question(text))
        case ShareDocument() | RemoveDocument():
            text, readers = rights.documents(write.tenant).get(write.document_id, ("", _NOBODY))
            after = write.readers if isinstance(write, ShareDocument) else _NOBODY
            for tenant, subject in subjects:
                own = _tokens(subject, rights.groups(tenant, subject))
                if tenant == write.tenant and readers & own and not after & own:
                    return Loss(tenant, subject, write.document_id, _question(text))
        case _:
            pass
    return None


def _tokens(subject: str, groups: Collection[str]) -> frozenset[str]:
    """The readers that the subject is."""
    return frozenset({"public", "tenant", f"user:{subject}", *(f"group:{name}" for name in groups)})


def _question(text: str) -> bytes:
    return orjson.dumps({"query": " ".join(text.split()[:_WORDS]) or "?", "top_k": 20})
