"""What a reading of a source comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.extensions._sources.skipped import BLANK, EXAMPLES_MAX
from gateway.extensions._sources.source import RefusedItem, SkippedFiles
from gateway.extensions._sources.sync.pruning import KeptBecause
from index.documents.write_causes import Reading
from ingest.write.revision import Written

LISTED_MAX = 10_000  # refused items, and warnings, of a report; a starting value


@dataclass(frozen=True, slots=True)
class PendingRemoval:
    """Documents that the source no longer has and that stay until somebody confirms their removal.

    stored: how many documents the source has in the index.
    reading: its time; documents that were written later are not removed.
    """

    document_ids: Sequence[str]
    stored: int
    because: KeptBecause
    reading: Reading


@dataclass(slots=True)
class Report:
    """The counts of a reading; chunks are summed over the documents.

    renamed: how many of the removed documents the reading has under another name.
    missing: how many stored documents the source no longer has, if they stay because nobody asked
    for their removal.
    blank: how many files have no text; they are among the skipped.
    refused, warnings: the first of them, at most LISTED_MAX. refused_items: how many there are.
    """

    documents: int = 0
    unchanged: int = 0
    removed: int = 0
    renamed: int = 0
    missing: int = 0
    refused: list[RefusedItem] = field(default_factory=list)
    refused_items: int = 0
    skipped: list[SkippedFiles] = field(default_factory=list)
    blank: int = 0
    warnings: list[str] = field(default_factory=list)  # each with its item
    chunks_added: int = 0
    chunks_kept: int = 0
    chunks_removed: int = 0
    embedded: int = 0
    pending: PendingRemoval | None = None

    @property
    def did_something(self) -> bool:
        return bool(self.documents - self.unchanged or self.removed or self.refused or self.pending)

    @property
    def items(self) -> int:
        return self.documents + self.refused_items + self.blank

    @property
    def counts(self) -> dict[str, int]:
        return {
            "documents": self.documents,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "rejected": self.refused_items,
            "warnings": len(self.warnings),
            "skipped": sum(skipped.number for skipped in self.skipped),
            "chunks_added": self.chunks_added,
            "chunks_unchanged": self.chunks_kept,
            "chunks_removed": self.chunks_removed,
            "embedded": self.embedded,
        }

    @property
    def reused(self) -> float:
        """The share of the chunks that were not embedded."""
        chunks = self.chunks_added + self.chunks_kept
        return 1 - self.embedded / chunks if chunks else 0.0

    def refuse(self, item: RefusedItem) -> None:
        """The last one that is listed stands for the others: nothing of the source is removed."""
        self.refused_items += 1
        if len(self.refused) < LISTED_MAX - 1:
            self.refused.append(item)
        elif len(self.refused) == LISTED_MAX - 1:
            why = f"{item.reason}; later refused items are counted and not listed"
            self.refused.append(RefusedItem(item.path, why, holds=""))

    def skip_blank(self, path: str) -> None:
        """The one entry of `skipped` for blank files counts all of them."""
        before = [each for each in self.skipped if each.reason == BLANK]
        examples = (*before[0].examples, path) if before else (path,)
        self.blank += 1
        entry = SkippedFiles(BLANK, self.blank, examples[:EXAMPLES_MAX])
        self.skipped = [entry, *(each for each in self.skipped if each.reason != BLANK)]

    def warn(self, path: str, *details: str) -> None:
        room = LISTED_MAX - len(self.warnings)
        self.warnings += [f"{path}: {detail}" for detail in details][:room]

    def count(self, written: Written) -> None:
        self.documents += 1
        self.unchanged += not written.changed
        self.chunks_added += written.added
        self.chunks_kept += written.kept
        self.chunks_removed += written.removed
        self.embedded += written.embedded
