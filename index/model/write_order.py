"""The order of writes: for each part of a document, the last acknowledged write wins.

A direct write is acknowledged when it commits. A queued write, or a reading of a source, was
acknowledged earlier, when it was requested: it has that moment's sequence number, and does not
overwrite what a write with a higher number has set.
See docs/design/writing.md#the-last-acknowledged-write-counts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from index.model.document import Document

Part: TypeAlias = Literal["content", "owner", "readers", "active"]  # content: all but the others
Parts: TypeAlias = frozenset[Part]

ALL_PARTS: Parts = frozenset(get_args(Part))
CONTENT: Parts = frozenset({"content"})
ACCESS: Parts = frozenset({"owner", "readers"})
ACTIVE: Parts = frozenset({"active"})


@dataclass(frozen=True, slots=True)
class PartSequences:
    """The sequence number of the last write of each part; 0 if none is known."""

    content: int = 0
    owner: int = 0
    readers: int = 0
    active: int = 0


UNKNOWN = PartSequences()


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """The record of a document that does not exist.

    removed: sequence number of its last removal; 0 if none is known.
    access: version of the last event that set its access; owner, readers: as that event set them.
    """

    removed: int = 0
    access: int = 0
    owner: str | None = None
    readers: tuple[str, ...] = ()


NEVER_SEEN = MissingDocument()


def remaining(parts: Parts, last: PartSequences, sequence: int | None) -> Parts:
    """The parts of a write that no later write has set; sequence: None for a current write."""
    if sequence is None:
        return parts
    return frozenset(part for part in parts if getattr(last, part) <= sequence)


def is_overtaken(last: PartSequences, sequence: int | None) -> bool:
    """Whether a later write has set any part; sequence: None for a current write."""
    return sequence is not None and any(getattr(last, part) > sequence for part in get_args(Part))


def merge(stored: Document, written: Document, parts: Parts) -> Document:
    """The stored document with these parts of the written one."""
    return replace(
        written if "content" in parts else stored,
        owner=written.owner if "owner" in parts else stored.owner,
        readers=written.readers if "readers" in parts else stored.readers,
        is_active=written.is_active if "active" in parts else stored.is_active,
    )


def by_parts(parts: Mapping[str, Parts]) -> Iterable[tuple[Parts, list[str]]]:
    """The documents of each set of parts, sorted, so that statements lock rows in one order."""
    groups: dict[Parts, list[str]] = {}
    for document_id in sorted(parts):
        groups.setdefault(parts[document_id], []).append(document_id)
    return sorted(groups.items(), key=lambda group: sorted(group[0]))
