"""A put, what it makes of the stored document, and what becomes of it; does no I/O."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from index.documents.document_store import StoredDocument
from index.documents.event_versions import By, Reading
from index.documents.forgetting import Forgotten
from index.model.document import Document
from index.model.write_order import ALL_PARTS, CONTENT, NEVER_SEEN, Absent, Parts, merge, remaining

Revise = Callable[[Document | None], Document]


@dataclass(frozen=True, slots=True)
class Put:
    """A document to be stored as what `revise` makes of the stored one, or of None.

    `revise` may be called several times, and may raise to refuse.
    parts: those that it sets; `revise` leaves the others as they are stored.
    """

    document_id: str
    revise: Revise
    parts: Parts = ALL_PARTS


@dataclass(frozen=True, slots=True)
class Written:
    """The revision that a write made, and how many chunks it added, kept, removed and embedded.

    changed: False if everything was so already, and the revision is an older one.
    is_superseded: later writes have set all that this one sets, so it has changed nothing.
    forgotten: what else went with a document that was forgotten.
    """

    document_id: str
    revision: int
    changed: bool = True
    is_superseded: bool = False
    added: int = 0
    kept: int = 0
    removed: int = 0
    embedded: int = 0
    forgotten: Forgotten | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """A document as it is to be written: the parts that the write sets, and what it was made of."""

    stored: StoredDocument | None
    document: Document
    parts: Parts
    absent: Absent = NEVER_SEEN

    @property
    def version(self) -> int:
        return self.stored.version if self.stored else 0

    @property
    def is_unchanged(self) -> bool:
        return self.stored is not None and self.stored.document == self.document

    def is_certain(self, by: By | None) -> bool:
        """Whether an unchanged document needs no note that it was written again.

        A reading writes it anew each time, and only a queued write could come in between.
        """
        assert self.stored is not None
        return isinstance(by, Reading) and not self.stored.is_awaited

    def unchanged(self) -> Written:
        assert self.stored is not None
        document_id, kept = self.stored.document.document_id, len(self.stored.all_ids)
        return Written(document_id, self.stored.revision, changed=False, kept=kept)


Outcome = Written | Exception  # what was written, or why nothing was


def distinct(puts: Sequence[Put]) -> Iterator[dict[str, Put]]:
    """The puts in their order, parted where a document comes again."""
    different: dict[str, Put] = {}
    for put in puts:
        if put.document_id in different:
            yield different
            different = {}
        different[put.document_id] = put
    if different:
        yield different


def revision_of(
    put: Put, stored: StoredDocument | None, absent: Absent, sequence: int | None
) -> Revision | Outcome:
    """What the put makes of the document, less what later writes have set, unless it is refused."""
    if stored is not None:
        parts = remaining(put.parts, stored.sequences, sequence)
    else:
        parts = ALL_PARTS if sequence is None or absent.removed <= sequence else frozenset()
    if put.parts and not parts:
        return superseded(put.document_id, stored)
    try:
        document = put.revise(stored.document if stored else None)
    except Exception as refusal:
        return refusal
    if stored is not None:
        return Revision(stored, merge(stored.document, document, parts), parts)
    if sequence is not None and absent.access > sequence:
        document = replace(document, owner=absent.owner, readers=absent.readers)
        return Revision(None, document, CONTENT, absent)
    return Revision(None, document, put.parts, absent)


def superseded(document_id: str, stored: StoredDocument | None) -> Written:
    revision = stored.revision if stored else 0
    return Written(document_id, revision, changed=False, is_superseded=True)
