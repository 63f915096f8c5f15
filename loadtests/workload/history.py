"""Two real histories made one: a handbook's edits, in the organisations whose rights changed.

DATA/edits_18f_handbook: documents, and commits that add, edit, rename and delete them.
DATA/acl_k8s_org: groups of several organisations, and commits that grant, revoke, make and delete.

An organisation is a tenant. Each document of the handbook belongs to one of them, and to one of its
repositories; it is read by two groups, or by the tenant, or by all, and by each group that has a
right to its repository.
"""

import gzip
import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from loadtests.workload import json_lines
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    WorldState,
    Write,
)

_MEMBERS = "members"  # the group of all of an organisation
_TENANT_SHARE, _PUBLIC_SHARE = 0.2, 0.1  # of the documents
_GROUPS = 2  # that a document is meant for

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Data:
    """As the files have it: texts by path, members by group, and the events of each, in order."""

    texts: Mapping[str, str]
    edits: Sequence[Event]
    groups: Mapping[str, Sequence[str]]
    grants: Sequence[Event]


def read(folder: Path) -> Data:
    edits, rights = folder / "edits_18f_handbook", folder / "acl_k8s_org"
    groups = json.loads(gzip.decompress((rights / "snapshot.json.gz").read_bytes()))["groups"]
    documents = json_lines.read(edits / "snapshot.jsonl.gz")
    return Data(
        texts={document["path"]: document["text"] for document in documents},
        edits=list(json_lines.read(edits / "events.jsonl.gz")),
        groups={name: sorted(group["members"]) for name, group in groups.items()},
        grants=list(json_lines.read(rights / "events.jsonl.gz")),
    )


class RecordedHistory:
    """Where everything stands at first, and what is then written, without end.

    When the histories are at their end they go back, write by write, and then on again.
    """

    def __init__(self, data: Data, *, subjects_max: int, seed: int) -> None:
        self._data = data
        self._random = Random(seed)  # noqa: S311  no secret
        self._homes: dict[str, tuple[str, str]] = {}  # tenant and repository, by path
        self._readers: dict[str, frozenset[str]] = {}  # that a document always has, by path
        # By group, those that it has rights to.
        self._repositories: dict[str, set[str]] = defaultdict(set)
        self._groups = _busiest_groups(data)
        self._all_repositories = _repositories(data)
        self.subjects = _busiest_subjects(data, subjects_max)
        self.world = WorldState()
        self.tenants = sorted({tenant for tenant, _ in self.subjects})
        self.first: list[Write] = []
        for write in self._at_first():
            if self.world.apply(write) is not None:
                self.first.append(write)

    def writes(self) -> Iterator[Write]:
        """Each changes something, if those before it were done."""
        undoing = []
        for write in self._forth():
            undoes = self.world.apply(write)
            if undoes is not None:
                undoing.append((write, undoes))
                yield write
        while undoing:
            for _, undoes in reversed(undoing):
                self.world.apply(undoes)
                yield undoes
            for write, _ in undoing:
                self.world.apply(write)
                yield write

    def _at_first(self) -> Iterator[Write]:
        """The documents, and what concerns the subjects of the groups."""
        for path, text in sorted(self._data.texts.items()):
            self._settle(path)
            yield from self._put(path, text)
        asking = set(self.subjects)
        for name, members in sorted(self._data.groups.items()):
            tenant, group = _parted(name)
            for subject in members:
                if (tenant, subject) in asking:
                    yield JoinGroup(tenant, group, subject)

    def _forth(self) -> Iterator[Write]:
        """Both histories side by side, so that they end together."""
        marked = [
            (number / len(events), is_grant, event)
            for is_grant, events in enumerate((self._data.edits, self._data.grants))
            for number, event in enumerate(events)
        ]
        for _, is_grant, event in sorted(marked, key=lambda marked_event: marked_event[:2]):
            yield from self._granted(event) if is_grant else self._edited(event)

    def _edited(self, event: Event) -> Iterator[Write]:
        path = event["path"]
        if event["op"] == "D":
            yield from self._remove(path)
            return
        if event["op"] == "R":
            self._homes.setdefault(path, self._homes[event["from"]])
            self._readers.setdefault(path, self._readers[event["from"]])
        self._settle(path)
        yield from self._put(path, event["text"])
        if event["op"] == "R":
            yield from self._remove(event["from"])

    def _granted(self, event: Event) -> Iterator[Write]:
        tenant, group = _parted(event["group"])
        if tenant not in self.tenants:
            return
        match event["op"]:
            case "grant":
                yield JoinGroup(tenant, group, event["user"])
            case "revoke":
                yield LeaveGroup(tenant, group, event["user"])
            case "delete_group":
                for member in sorted(self.world.members):
                    if member[:2] == (tenant, group):
                        yield LeaveGroup(*member)
                yield from self._regranted(event["group"], ())
            case "repos" | "create_group":
                yield from self._regranted(event["group"], event["repos"])

    def _regranted(self, name: str, repositories: Iterable[str]) -> Iterator[Write]:
        tenant, _ = _parted(name)
        new = set(repositories)
        concerned = new ^ self._repositories[name]
        self._repositories[name] = new
        for document_tenant, path in sorted(self.world.documents):
            if document_tenant == tenant and self._homes[path][1] in concerned:
                yield ShareDocument(tenant, path, self._readers_of(path))

    def _put(self, path: str, text: str) -> Iterator[Write]:
        if text.strip():
            tenant, _ = self._homes[path]
            yield PutDocument(tenant, path, stored(text), self._readers_of(path))
        else:
            yield from self._remove(path)

    def _remove(self, path: str) -> Iterator[Write]:
        if path in self._homes:
            yield RemoveDocument(self._homes[path][0], path)

    def _settle(self, path: str) -> None:
        """Give a new document a home, and readers."""
        if path in self._homes:
            return
        # As many as there are subjects, more or less.
        tenant, _ = self._random.choice(self.subjects)
        repositories = self._all_repositories.get(tenant, ["none"])
        self._homes[path] = tenant, self._random.choice(repositories)
        dice = self._random.random()
        if dice < _PUBLIC_SHARE:
            readers = ["public"]
        elif dice < _PUBLIC_SHARE + _TENANT_SHARE:
            readers = ["tenant"]
        else:
            readers = [f"group:{self._random.choice(self._groups[tenant])}" for _ in range(_GROUPS)]
        self._readers[path] = frozenset(readers)

    def _readers_of(self, path: str) -> frozenset[str]:
        tenant, repository = self._homes[path]
        granted = (
            f"group:{_parted(name)[1]}"
            for name, repositories in self._repositories.items()
            if repository in repositories and _parted(name)[0] == tenant
        )
        return self._readers[path].union(granted)


def stored(text: str) -> str:
    """As the service keeps it, and shows it in hits."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return unicodedata.normalize("NFC", lines)


def _parted(name: str) -> tuple[str, str]:
    """Tenant and group, in the spelling that the service gives it."""
    tenant, _, group = name.partition("/")
    return tenant, group.replace("/", ".").casefold() or _MEMBERS


def _busiest_subjects(data: Data, most: int) -> list[tuple[str, str]]:
    """Tenant and user, of whom the histories tell most."""
    counts = Counter(
        (_parted(name)[0], user) for name, members in data.groups.items() for user in members
    )
    counts.update((_parted(one["group"])[0], one["user"]) for one in _memberships(data))
    ranked = sorted(counts, key=lambda who: (-counts[who], who))
    of_each: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for who in ranked:
        of_each[who[0]].append(who)
    # Of each tenant a few, whoever else is busier.
    few = [who for whos in of_each.values() for who in whos[: most // 12]]
    return list(dict.fromkeys([*few, *ranked]))[:most]


def _busiest_groups(data: Data) -> dict[str, list[str]]:
    """By tenant, each group as often as it is told of."""
    by_tenant: dict[str, list[str]] = defaultdict(list)
    for name in (*sorted(data.groups), *(one["group"] for one in _memberships(data))):
        tenant, group = _parted(name)
        by_tenant[tenant].append(group)
    return by_tenant


def _memberships(data: Data) -> Iterator[Event]:
    return (event for event in data.grants if event["op"] in ("grant", "revoke"))


def _repositories(data: Data) -> dict[str, list[str]]:
    by_tenant: dict[str, set[str]] = defaultdict(set)
    for event in data.grants:
        by_tenant[_parted(event["group"])[0]].update(event.get("repos") or ())
    return {tenant: sorted(names) for tenant, names in by_tenant.items() if names}
