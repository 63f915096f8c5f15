"""Documents, rights and their changes, from real histories or generated. Pure and seeded.

Their names begin with the name of the run, so that they conflict with nothing on the server.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Protocol

from loadtests.workload import history
from loadtests.workload import topics as topical
from loadtests.workload.history import RecordedHistory
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    WorldState,
    Write,
)

_SUBJECTS_MAX = 24
_TENANTS = 3
_GROUPS = 4  # of a tenant
_DOCUMENTS = 600
# Shares of the generated changes; starting values, not measured.
_EDITED, _SHARED, _MOVED = 0.7, 0.15, 0.05  # the others remove a document or restore one


class HistorySource(Protocol):
    """first: the writes before the load starts. writes: the writes during it, endless."""

    @property
    def first(self) -> Sequence[Write]: ...
    @property
    def subjects(self) -> Sequence[tuple[str, str]]: ...
    def writes(self) -> Iterator[Write]: ...


@dataclass(frozen=True, slots=True)
class NamedHistory:
    """A history whose tenants and documents are renamed to begin with the name of the run.

    public: whether its documents may be public, which all tenants of the server can read.
    """

    past: HistorySource
    run: str
    public: bool

    @property
    def subjects(self) -> list[tuple[str, str]]:
        return [(self._tenant(tenant), subject) for tenant, subject in self.past.subjects]

    @property
    def tenants(self) -> list[str]:
        return sorted({tenant for tenant, _ in self.subjects})

    @property
    def first(self) -> list[Write]:
        return [self._named(write) for write in self.past.first]

    def writes(self) -> Iterator[Write]:
        return map(self._named, self.past.writes())

    def _named(self, write: Write) -> Write:
        if isinstance(write, PutDocument | ShareDocument):
            write = replace(write, readers=self._readers(write.readers))
        if isinstance(write, PutDocument | ShareDocument | RemoveDocument):
            write = replace(write, document_id=f"{self.run}/{write.document_id}")
        return replace(write, tenant=self._tenant(write.tenant))

    def _readers(self, readers: frozenset[str]) -> frozenset[str]:
        if self.public or "public" not in readers:
            return readers
        return readers - {"public"} | {"tenant"}

    def _tenant(self, tenant: str) -> str:
        return f"{self.run}-{tenant}"


class GeneratedHistory:
    """Generated topics of English words, and their edits, shares and removals."""

    def __init__(self, *, documents: int = _DOCUMENTS, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311  no secret
        generated = topical.build(documents, 0, seed)
        texts = {str(one["document_id"]): str(one["text"]) for one in generated.documents}
        self._topics = dict(zip(texts, generated.topics, strict=True))
        self.subjects = [
            (f"tenant{number % _TENANTS}", f"subject{number}") for number in range(_SUBJECTS_MAX)
        ]
        self._world = WorldState()
        self._homes = {
            document_id: f"tenant{self._random.randrange(_TENANTS)}" for document_id in self._topics
        }
        self.first: list[Write] = [
            *(self._put(document_id, text) for document_id, text in texts.items()),
            *(JoinGroup(tenant, self._group(), subject) for tenant, subject in self.subjects),
        ]
        for write in self.first:
            self._world.apply(write)

    def writes(self) -> Iterator[Write]:
        while True:
            write = self._write()
            if self._world.apply(write) is not None:
                yield write

    def _write(self) -> Write:
        dice = self._random.random()
        document_id = self._random.choice(list(self._topics))
        tenant = self._homes[document_id]
        stored = self._world.documents.get((tenant, document_id))
        topic = self._topics[document_id]
        if stored is None:
            return self._put(document_id, topical.edited("", topic, self._random))
        if dice < _EDITED:
            text = topical.edited(stored.text, topic, self._random)
            return PutDocument(tenant, document_id, text, stored.readers)
        if dice < _EDITED + _SHARED:
            return ShareDocument(tenant, document_id, self._readers(tenant))
        if dice < _EDITED + _SHARED + _MOVED:
            return self._moved(*self._random.choice(self.subjects))
        return RemoveDocument(tenant, document_id)

    def _moved(self, tenant: str, subject: str) -> Write:
        group = self._group()
        if (tenant, group, subject) in self._world.members:
            return LeaveGroup(tenant, group, subject)
        return JoinGroup(tenant, group, subject)

    def _put(self, document_id: str, text: str) -> PutDocument:
        tenant = self._homes[document_id]
        return PutDocument(tenant, document_id, text, self._readers(tenant))

    def _readers(self, tenant: str) -> frozenset[str]:
        """The tenant, the public, one subject or up to two groups."""
        match self._random.randrange(10):
            case 0 | 1 | 2:
                return frozenset({"tenant"})
            case 3:
                return frozenset({"public"})
            case 4 | 5:
                subjects = [subject for home, subject in self.subjects if home == tenant]
                return frozenset({f"user:{self._random.choice(subjects)}"})
            case _:
                return frozenset({f"group:{self._group()}", f"group:{self._group()}"})

    def _group(self) -> str:
        return f"group{self._random.randrange(_GROUPS)}"


class OneKeyHistory:
    """What one key can write: its own documents."""

    def __init__(self, past: HistorySource, who: tuple[str, str]) -> None:
        self._past = past
        self.subjects = [who]

    @property
    def first(self) -> list[Write]:
        return list(map(self._own, filter(_is_own, self._past.first)))

    def writes(self) -> Iterator[Write]:
        return map(self._own, filter(_is_own, self._past.writes()))

    def _own(self, write: Write) -> Write:
        (tenant, subject) = self.subjects[0]
        if isinstance(write, PutDocument):
            write = replace(write, readers=frozenset({f"user:{subject}"}))
        return replace(write, tenant=tenant)


def _is_own(write: Write) -> bool:
    return isinstance(write, PutDocument | RemoveDocument)


def past(
    data: Path | None,
    seed: int,
    *,
    documents: int = _DOCUMENTS,
    subjects_max: int = _SUBJECTS_MAX,
) -> HistorySource:
    """The real histories in the folder, or so many generated documents without a folder."""
    if data is None:
        return GeneratedHistory(documents=documents, seed=seed)
    return RecordedHistory(history.read(data), subjects_max=subjects_max, seed=seed)


class EmptyHistory:
    """No writes: the questions are about documents that the server already has."""

    def __init__(self, subjects: Sequence[tuple[str, str]]) -> None:
        self.subjects = subjects
        self.first: Sequence[Write] = ()

    def writes(self) -> Iterator[Write]:
        return iter(())
