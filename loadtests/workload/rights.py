"""A model of who may read which version of a document at which moment.

A write takes effect between the moment when it is sent and the moment when it is acknowledged. So
its new version may be seen from the former on, and the old one until the latter. A queued write
takes effect before its job is known to be done; until then both texts may be seen. A version that
a later write has ended stays ended, whatever was queued before it.

Pure; moments are seconds of one clock.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any, Self, TypeAlias

import orjson

from loadtests.workload.viewer import Viewer
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    Write,
)

_KEPT_S = 60.0  # longer than the longest request
_Where: TypeAlias = tuple[str, str]  # tenant and document


@dataclass(slots=True)
class Span:
    """A time in which something may have been true; both ends belong to it."""

    since_s: float
    until_s: float = math.inf

    def end(self, at_s: float) -> None:
        self.until_s = min(self.until_s, at_s)

    def is_within(self, other: Self) -> bool:
        return other.since_s <= self.since_s and self.until_s <= other.until_s

    def meets(self, other: Self) -> bool:
        return max(self.since_s, other.since_s) <= min(self.until_s, other.until_s)


@dataclass(slots=True)
class Version:
    """order: of the write of the text. job_id: of a queued write not known to be done."""

    span: Span
    text: str
    readers: frozenset[str]
    order: int = 0
    job_id: str = ""

    def is_shown_by(self, hit: Mapping[str, Any]) -> bool:
        return bool(hit["text"].endswith(self.text[hit["start"] : hit["end"]]))


class Rights:
    def __init__(self) -> None:
        self.versions: dict[_Where, list[Version]] = defaultdict(list)
        self.writing: dict[_Where, list[Version]] = {}  # what the write in progress makes
        self.removing: set[_Where] = set()
        self._present: dict[_Where, list[Span]] = defaultdict(list)  # while it certainly exists
        self._tenants: dict[str, set[str]] = defaultdict(set)  # by document, whose it was ever
        self._members: dict[_Where, dict[str, list[Span]]] = defaultdict(dict)
        self._certain: dict[_Where, dict[str, list[Span]]] = defaultdict(dict)
        self._changes: dict[_Where, int] = defaultdict(int)
        self._order = 0

    def asked(self, write: Write, at_s: float) -> bool:
        """The write is sent. Returns whether it changes public documents."""
        match write:
            case PutDocument() | ShareDocument():
                where = write.tenant, write.document_id
                stored, new = self._stored(where), self._made(write, at_s)
                self.versions[where] += new
                self.writing[where] = new
                self._tenants[write.document_id].add(write.tenant)
                return "public" in new[-1].readers or _is_public(stored)
            case RemoveDocument(tenant, document_id):
                self.removing.add((tenant, document_id))
                self._end(self._present[tenant, document_id], at_s)
                return _is_public(self._stored((tenant, document_id)))
            case JoinGroup(tenant, group, subject):
                self._members[tenant, subject].setdefault(group, []).append(Span(at_s))
                self._changes[tenant, subject] += 1
            case LeaveGroup(tenant, group, subject):
                self._end(self._certain[tenant, subject].get(group, []), at_s)
                self._changes[tenant, subject] += 1
        return False

    def acknowledged(self, write: Write, at_s: float) -> None:
        """The write has taken effect."""
        match write:
            case PutDocument() | ShareDocument():
                where = write.tenant, write.document_id
                new = self.writing.pop(where, self.versions[where][-1:])
                ended = [version for version in self.versions[where] if not _is_in(version, new)]
                self._end([version.span for version in ended], at_s)
                if isinstance(write, PutDocument):
                    self._exists(where, at_s)
                self._forget(where, at_s)
            case RemoveDocument(tenant, document_id):
                self.removing.discard((tenant, document_id))
                versions = self.versions[tenant, document_id]
                self._end([version.span for version in versions], at_s)
            case LeaveGroup(tenant, group, subject):
                self._end(self._members[tenant, subject].get(group, []), at_s)
                self._changes[tenant, subject] += 1
            case JoinGroup(tenant, group, subject):
                self._certain[tenant, subject].setdefault(group, []).append(Span(at_s))
                self._changes[tenant, subject] += 1

    def queued(self, write: PutDocument, job_id: str) -> None:
        """The write is queued: a worker will write it, unless a later write comes first."""
        for version in self.writing.pop((write.tenant, write.document_id)):
            version.job_id = job_id

    def refused(self, write: Write, at_s: float) -> None:
        """The write was rejected and has changed nothing."""
        if isinstance(write, RemoveDocument):
            self.removing.discard((write.tenant, write.document_id))
        if isinstance(write, PutDocument | ShareDocument):
            new = self.writing.pop((write.tenant, write.document_id), [])
            self._end([version.span for version in new], at_s)

    def done(self, tenant: str, document_id: str, job_id: str, at_s: float) -> None:
        """A worker has written the text of the job; older texts are gone."""
        where = tenant, document_id
        of_job = [version for version in self.versions[where] if version.job_id == job_id]
        if not of_job:
            return
        order = max(version.order for version in of_job)
        older = [version.span for version in self.versions[where] if version.order < order]
        self._end(older, at_s)
        for version in of_job:
            version.job_id = ""
        if self._stored(where) is not None and where not in self.removing:
            self._exists(where, at_s)
        self._forget(where, at_s)

    def readers(self, tenant: str, document_id: str) -> frozenset[str]:
        """The readers of a document, by the last write that was sent."""
        return self.versions[tenant, document_id][-1].readers

    def is_there(self, tenant: str, document_id: str) -> bool:
        """Whether the document may exist now."""
        return self._stored((tenant, document_id)) is not None

    def is_change(self, write: Write) -> bool:
        """Whether the write changes a document for certain, so that it makes a revision."""
        if not isinstance(write, PutDocument | ShareDocument | RemoveDocument):
            return False
        live = self._live((write.tenant, write.document_id))
        only = live[0] if len(live) == 1 else None
        match write:
            case PutDocument():
                differs = only is not None and only.text != write.text
                return write.delivery == "at once" and (not live or differs)
            case ShareDocument():
                return only is not None and only.readers != write.readers
            case RemoveDocument():
                return self.is_certain(write.tenant, write.document_id)

    def is_certain(self, tenant: str, document_id: str) -> bool:
        """Whether the document exists now for certain."""
        spans = self._present[tenant, document_id]
        return bool(spans) and spans[-1].until_s == math.inf

    def stored(self) -> Iterator[tuple[str, str, list[Version]]]:
        """Each document that ever existed, with the versions that it may have now."""
        for where in list(self.versions):
            yield *where, self._live(where)

    def names(self, tenant: str) -> list[str]:
        """The tenant's current and former documents."""
        return [document_id for owner, document_id in self.versions if owner == tenant]

    def documents(self, tenant: str) -> dict[str, tuple[str, frozenset[str]]]:
        """The tenant's documents with text and readers, by the last writes that were sent."""
        return {
            document_id: (stored.text, stored.readers)
            for owner, document_id in list(self.versions)
            if owner == tenant and (stored := self._stored((owner, document_id))) is not None
        }

    def groups(self, tenant: str, subject: str) -> frozenset[str]:
        """The subject's groups, by the last writes that were sent."""
        members = self._members[tenant, subject].items()
        return frozenset(group for group, spans in members if spans[-1].until_s == math.inf)

    def changes(self, tenant: str, subject: str) -> int:
        """A number that grows with each change of the subject's groups and is odd during one."""
        return self._changes[tenant, subject]

    def seen_by(
        self, viewer: Viewer, document_id: str, asked_s: float, answered_s: float
    ) -> Iterator[Version]:
        """The versions that the viewer might read at some moment from asked to answered."""
        if not viewer.may_search(document_id):
            return
        for owner in self._tenants[document_id]:
            for version in self.versions[owner, document_id]:
                since_s = max(version.span.since_s, asked_s)
                until_s = min(version.span.until_s, answered_s)
                if since_s <= until_s and self._reads(
                    viewer, version.readers, owner, self._members, Span(since_s, until_s).meets
                ):
                    yield version

    def must_read(
        self, viewer: Viewer, document_id: str, asked_s: float, answered_s: float
    ) -> bool:
        """Whether a document of the viewer's tenant existed, and the viewer might read it, all the
        while for certain.
        """
        where, asking = (viewer.tenant, document_id), Span(asked_s, answered_s)
        return (
            any(map(asking.is_within, self._present[where]))
            and viewer.may_search(document_id)
            and all(
                self._reads(viewer, version.readers, viewer.tenant, self._certain, asking.is_within)
                for version in self.versions[where]
                if asking.meets(version.span)
            )
        )

    def history(self, tenant: str, subject: str, document_id: str) -> list[Any]:
        """The versions of a document without texts, and the subject's groups, for reports."""
        versions = [
            (owner, *astuple(one.span), len(one.text), sorted(one.readers), one.job_id)
            for owner in self._tenants[document_id]
            for one in self.versions[owner, document_id]
        ]
        members = self._members[tenant, subject].items()
        return [versions, {group: [*map(astuple, spans)] for group, spans in members}]

    def void(self, lost: "Rights", since_s: float, at_s: float) -> None:
        """End the versions that a lost history has written since then.

        What was being written when it was lost may still be written in this history: a gateway may
        have begun its transaction afterwards. The writer sends it again then.
        """
        for where, versions in lost.versions.items():
            later = [version for version in versions if version.span.since_s >= since_s]
            writing = lost.writing.get(where, [])
            gone = [version for version in later if not _is_in(version, writing)]
            self._end([version.span for version in gone], at_s)
            self.versions[where][:0] = gone
            self.versions[where] += [version for version in later if _is_in(version, writing)]
            self._tenants[where[1]].add(where[0])
        for where in lost.removing:
            self._end(self._present[where], at_s)

    @staticmethod
    def _reads(
        viewer: Viewer,
        readers: frozenset[str],
        owner: str,
        members: Mapping[_Where, Mapping[str, Iterable[Span]]],
        counts: Callable[[Span], bool],
    ) -> bool:
        """Whether the readers admit the viewer. counts: whether a time as a member does."""
        if "public" in readers and viewer.is_public_reader():
            return True
        if viewer.tenant != owner:
            return False
        own = members.get((viewer.tenant, viewer.subject), {})
        return not readers.isdisjoint(viewer.own_readers()) or any(
            counts(span) for group in viewer.counting_groups(readers) for span in own.get(group, ())
        )

    def _live(self, where: _Where) -> list[Version]:
        return [version for version in self.versions[where] if version.span.until_s == math.inf]

    def _stored(self, where: _Where) -> Version | None:
        live = self._live(where)
        return live[-1] if live else None

    def _made(self, write: PutDocument | ShareDocument, at_s: float) -> list[Version]:
        """The versions that the write makes; it keeps what it does not name."""
        live = self._live((write.tenant, write.document_id))
        if isinstance(write, ShareDocument):
            assert live, "only what is there is shared"
            texts = {(version.order, version.job_id): version for version in live}.values()
            return [
                Version(Span(at_s), version.text, write.readers, version.order, version.job_id)
                for version in texts
            ]
        self._order += 1
        readers = live[-1].readers if live else write.readers
        return [Version(Span(at_s), write.text, readers, self._order)]

    def _exists(self, where: _Where, at_s: float) -> None:
        if not self.is_certain(*where):
            self._present[where].append(Span(at_s))

    def _forget(self, where: _Where, at_s: float) -> None:
        versions = self.versions[where]
        versions[:] = [version for version in versions if version.span.until_s > at_s - _KEPT_S]

    @staticmethod
    def _end(spans: Iterable[Span], at_s: float) -> None:
        for span in spans:
            span.end(at_s)


def _is_in(version: Version, versions: Iterable[Version]) -> bool:
    """By identity, since equal versions may be different ones."""
    return any(version is other for other in versions)


def _is_public(version: Version | None) -> bool:
    return version is not None and "public" in version.readers


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
