"""Who may have seen what, when: a model of all rights, by the clock of whoever asked for them.

A write takes effect some time between the moment when it is asked for and the one when it is
acknowledged. So what it makes may be seen from the former on, and what it ends until the latter.

Pure; moments are seconds of one clock.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadtests.soak.writes import Join, Leave, Put, Remove, Share, Write

_KEPT_S = 60.0  # longer than any request takes


@dataclass(slots=True)
class Span:
    """While something may have been so; since and until belong to it."""

    since_s: float
    until_s: float = math.inf


@dataclass(slots=True)
class Version:
    span: Span
    text: str
    readers: frozenset[str]


class Rights:
    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], list[Version]] = defaultdict(list)
        self._tenants: dict[str, set[str]] = defaultdict(set)  # by document, whose it was ever
        self._members: dict[tuple[str, str], dict[str, list[Span]]] = defaultdict(dict)
        self._changes: dict[tuple[str, str], int] = defaultdict(int)

    def asked(self, write: Write, at_s: float) -> bool:
        """From now on it may be so. Returns whether it makes a change of what is public."""
        match write:
            case Put() | Share():
                where = write.tenant, write.document_id
                stored, new = self._stored(where), self._made(write, at_s)
                self._versions[where].append(new)
                self._tenants[write.document_id].add(write.tenant)
                return "public" in new.readers or _is_public(stored)
            case Remove(tenant, document_id):
                return _is_public(self._stored((tenant, document_id)))
            case Join(tenant, group, subject):
                self._members[tenant, subject].setdefault(group, []).append(Span(at_s))
                self._changes[tenant, subject] += 1
            case Leave(tenant, _, subject):
                self._changes[tenant, subject] += 1
        return False

    def acknowledged(self, write: Write, at_s: float) -> None:
        """From now on it is so."""
        match write:
            case Put() | Share():
                *ended, _ = versions = self._versions[write.tenant, write.document_id]
                self._end([version.span for version in ended], at_s)
                versions[:] = [one for one in versions if one.span.until_s > at_s - _KEPT_S]
            case Remove():
                versions = self._versions[write.tenant, write.document_id]
                self._end([version.span for version in versions], at_s)
            case Leave(tenant, group, subject):
                self._end(self._members[tenant, subject].get(group, []), at_s)
                self._changes[tenant, subject] += 1
            case Join(tenant, _, subject):
                self._changes[tenant, subject] += 1

    def readers(self, tenant: str, document_id: str) -> frozenset[str]:
        """Of a document, by what was asked for last."""
        return self._versions[tenant, document_id][-1].readers

    def documents(self, tenant: str) -> dict[str, tuple[str, frozenset[str]]]:
        """The tenant's, each with its text and its readers, by what was asked for last."""
        return {
            document_id: (stored.text, stored.readers)
            for owner, document_id in list(self._versions)
            if owner == tenant and (stored := self._stored((owner, document_id))) is not None
        }

    def groups(self, tenant: str, subject: str) -> frozenset[str]:
        """Those that the subject is in, by what was asked for last."""
        members = self._members[tenant, subject].items()
        return frozenset(group for group, spans in members if spans[-1].until_s == math.inf)

    def changes(self, tenant: str, subject: str) -> int:
        """A number that is odd while the subject's groups are changing, and never comes again."""
        return self._changes[tenant, subject]

    def may_have_seen(
        self, tenant: str, subject: str, hit: Mapping[str, Any], asked_s: float, answered_s: float
    ) -> bool:
        """Whether there is a moment, from asked to answered, at which the document was as the hit
        shows it, and the subject might read it.
        """
        for owner in self._tenants[hit["document_id"]]:
            for version in self._versions[owner, hit["document_id"]]:
                since_s = max(version.span.since_s, asked_s)
                until_s = min(version.span.until_s, answered_s)
                if (
                    since_s <= until_s
                    and version.text[hit["start"] : hit["end"]] == hit["text"]
                    and self._might_read(
                        (tenant, subject), version.readers, owner, since_s, until_s
                    )
                ):
                    return True
        return False

    def might_read(
        self, tenant: str, subject: str, document_id: str, asked_s: float, answered_s: float
    ) -> bool:
        """Whether there is a moment at which the subject might read the document, as it was."""
        return any(
            self._might_read((tenant, subject), version.readers, owner, since_s, until_s)
            for owner in self._tenants[document_id]
            for version in self._versions[owner, document_id]
            if (since_s := max(version.span.since_s, asked_s))
            <= (until_s := min(version.span.until_s, answered_s))
        )

    def told(self, tenant: str, subject: str, document_id: str) -> list[Any]:
        """All that is known of a document, but for its texts, and of the subject's groups."""
        versions = [
            (owner, one.span.since_s, one.span.until_s, len(one.text), sorted(one.readers))
            for owner in self._tenants[document_id]
            for one in self._versions[owner, document_id]
        ]
        groups = {
            group: [(span.since_s, span.until_s) for span in spans]
            for group, spans in self._members[tenant, subject].items()
        }
        return [versions, groups]

    def _might_read(
        self,
        who: tuple[str, str],
        readers: frozenset[str],
        owner: str,
        since_s: float,
        until_s: float,
    ) -> bool:
        tenant, subject = who
        if "public" in readers:
            return True
        if tenant != owner:
            return False
        if not readers.isdisjoint(("tenant", f"user:{subject}")):
            return True
        return any(
            max(span.since_s, since_s) <= min(span.until_s, until_s)
            for reader in readers
            for span in self._members[tenant, subject].get(reader.removeprefix("group:"), ())
        )

    def _stored(self, where: tuple[str, str]) -> Version | None:
        versions = self._versions[where]
        return versions[-1] if versions and versions[-1].span.until_s == math.inf else None

    def _made(self, write: Put | Share, at_s: float) -> Version:
        """What the document will be: what is not named stays as it is, if it is there."""
        stored = self._stored((write.tenant, write.document_id))
        if isinstance(write, Share):
            assert stored is not None, "only what is there is shared"
            return Version(Span(at_s), stored.text, write.readers)
        return Version(Span(at_s), write.text, stored.readers if stored else write.readers)

    @staticmethod
    def _end(spans: Sequence[Span], at_s: float) -> None:
        for span in spans:
            span.until_s = min(span.until_s, at_s)


def _is_public(version: Version | None) -> bool:
    return version is not None and "public" in version.readers
