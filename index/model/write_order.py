"""The order of writes: for each part of a document, the last acknowledged write wins.

A direct write is acknowledged when it commits. A queued write, or a reading of a source, was
acknowledged earlier, when it was requested: it has that moment's sequence number, and does not
overwrite what a write with a higher number has set.
See docs/design/writing.md#the-last-acknowledged-write-counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from index.model.document import Document

# content: all but the others. Whatever a caller may leave out of a write is a part of its own.
Part: TypeAlias = Literal[
    "content", "metadata", "chunker", "summaries", "owner", "readers", "active"
]
Parts: TypeAlias = frozenset[Part]
# By part, the sequence number of its last write; of those that are absent none is known.
PartSequences: TypeAlias = Mapping[str, int]

ALL_PARTS: Parts = frozenset(get_args(Part))
CONTENT: Parts = frozenset({"content", "metadata"})
ACCESS: Parts = frozenset({"owner", "readers"})
ACTIVE: Parts = frozenset({"active"})
NO_PARTS: Parts = frozenset()


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


def named(
    *,
    chunker: str | None = None,
    summaries: str | None = None,
    readers: Sequence[str] | None = None,
    active: bool | None = None,
) -> Parts:
    """Those of these parts that a write sets, rather than leaves as they are stored."""
    parts: dict[Part, object] = {
        "chunker": chunker,
        "summaries": summaries,
        "readers": readers,
        "active": active,
    }
    return frozenset(part for part, value in parts.items() if value is not None)


def remaining(parts: Parts, last: PartSequences, sequence: int | None) -> Parts:
    """The parts of a write that no later write has set; sequence: None for a current write."""
    if sequence is None:
        return parts
    return frozenset(part for part in parts if last.get(part, 0) <= sequence)


def is_overtaken(last: PartSequences, sequence: int | None) -> bool:
    """Whether a later write has set any part; sequence: None for a current write."""
    return sequence is not None and any(last.get(part, 0) > sequence for part in ALL_PARTS)


def merge(stored: Document, written: Document, parts: Parts) -> Document:
    """The stored document with these parts of the written one."""
    return replace(
        written if "content" in parts else stored,
        metadata=(written if "metadata" in parts else stored).metadata,
        chunker=(written if "chunker" in parts else stored).chunker,
        summaries=(written if "summaries" in parts else stored).summaries,
        owner=(written if "owner" in parts else stored).owner,
        readers=(written if "readers" in parts else stored).readers,
        is_active=(written if "active" in parts else stored).is_active,
    )


def by_parts(parts: Mapping[str, Parts]) -> Iterable[tuple[Parts, list[str]]]:
    """The documents of each set of parts, sorted, so that statements lock rows in one order."""
    groups: dict[Parts, list[str]] = {}
    for document_id in sorted(parts):
        groups.setdefault(parts[document_id], []).append(document_id)
    return sorted(groups.items(), key=lambda group: sorted(group[0]))
