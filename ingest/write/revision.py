"""A put, the revision that it makes of the stored document, and its outcome; does no I/O."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from cache.protocol import Revisions
from index.documents.forgetting import Forgotten
from index.documents.stored_document import StoredDocument
from index.documents.write_causes import Reading, WriteCause
from index.model.document import Document
from index.model.provenance import NOBODY, Author
from index.model.write_order import (
    ACCESS,
    ACTIVE,
    ALL_PARTS,
    NEVER_SEEN,
    MissingDocument,
    Parts,
    is_overtaken,
    merge,
    remaining,
)
from ingest.write.authorship import intended, with_provenance
from ingest.write.document_plan import require_short_metadata
from ingest.write.publishing import require_publishable
from ingest.write.write_warning import WriteWarning, warnings_of

Revise = Callable[[Document | None], Document]


@dataclass(frozen=True, slots=True)
class Put:
    """A document to store: the result of `revise` for the stored document, or for None.

    `revise` may be called several times, and may raise to refuse.
    parts: those that it sets; `revise` keeps the others as stored.
    may_publish: whether the writer may let the document be public. author: who writes it.
    """

    document_id: str
    revise: Revise
    parts: Parts = ALL_PARTS
    may_publish: bool = False
    author: Author = NOBODY


@dataclass(frozen=True, slots=True)
class Written:
    """The revision that a write made, and how many chunks it added, kept, removed and embedded.

    changed: False if the document was equal already; the revision is then an older one.
    is_superseded: later writes have set every part of this one, so it has changed nothing.
    forgotten: what else was deleted with a forgotten document.
    committed: the new revision of each partition; None if nothing was committed.
    warnings: of the document as it is stored.
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
    warnings: tuple[WriteWarning, ...] = ()
    committed: Revisions | None = field(default=None, compare=False)

    def revisions(self, tenant: str, history: str) -> Revisions:
        """The revisions at which an answer contains the write. history: of the database by now."""
        return self.committed or Revisions(history, {tenant: self.revision})


@dataclass(frozen=True, slots=True)
class PlannedUpdate:
    """A document to write, the parts that the write sets, and the stored version it revises."""

    stored: StoredDocument | None
    document: Document
    parts: Parts
    missing: MissingDocument = NEVER_SEEN

    @property
    def version(self) -> int:
        return self.stored.version if self.stored else 0

    @property
    def is_unchanged(self) -> bool:
        return self.stored is not None and self.stored.document == self.document

    def is_certain(self, cause: WriteCause | None) -> bool:
        """Whether an unchanged document needs no confirmation of the write.

        A source reading writes every document each time, and only a queued write can interfere.
        """
        assert self.stored is not None
        return isinstance(cause, Reading) and not self.stored.is_awaited

    def unchanged(self) -> Written:
        assert self.stored is not None
        return Written(
            self.stored.document.document_id,
            self.stored.revision,
            changed=False,
            kept=len(self.stored.all_ids),
            warnings=warnings_of(self.stored.document),
        )


Outcome = Written | Exception  # the result of a write, or the reason why it failed


def require_written(outcome: Outcome) -> Written:
    """The write's result; raises the reason of a failure."""
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def distinct(puts: Sequence[Put]) -> Iterator[dict[str, Put]]:
    """The puts in order, in groups that contain each document at most once."""
    group: dict[str, Put] = {}
    for put in puts:
        if put.document_id in group:
            yield group
            group = {}
        group[put.document_id] = put
    if group:
        yield group


def revision_of(
    put: Put, stored: StoredDocument | None, missing: MissingDocument, sequence: int | None
) -> PlannedUpdate | Outcome:
    """The document's revision without parts that later writes have set, or the put's outcome.

    Every write of a document passes here again whenever the stored document has changed, so this is
    where the right to publish is judged, and whose content it is.
    """
    if stored is not None:
        parts = remaining(put.parts, stored.sequences, sequence)
    else:
        parts = ALL_PARTS if sequence is None or missing.removed <= sequence else frozenset()
    if put.parts and not parts:
        return superseded(put.document_id, stored)
    try:
        before = stored.document if stored else None
        document = put.revise(before)
        planned = _plan_update(put.parts, parts, document, stored, missing, sequence)
        last = {"readers": missing.access} if stored is None else stored.sequences
        document = with_provenance(before, planned.document, put.author, parts)
        require_publishable(
            before,
            intended(document),
            may_publish=put.may_publish,
            is_overtaken=is_overtaken(last, sequence),
        )
    except Exception as refusal:
        return refusal
    return replace(planned, document=document)


def _plan_update(
    own_parts: Parts,
    parts: Parts,
    document: Document,
    stored: StoredDocument | None,
    missing: MissingDocument,
    sequence: int | None,
) -> PlannedUpdate:
    """own_parts: those that the put sets; parts: without those that later writes have set."""
    if document.is_active is None:
        parts, own_parts = parts - ACTIVE, own_parts - ACTIVE
        document = with_activity(document, stored.document if stored else None)
    if stored is not None:
        return PlannedUpdate(stored, merge(stored.document, document, parts), parts)
    if sequence is not None and missing.access > sequence:
        document = replace(document, owner=missing.owner, readers=missing.readers)
        own_parts -= ACCESS
    return PlannedUpdate(None, document, own_parts, missing)


def require_accepted(put: Put, stored: StoredDocument | None) -> None:
    """Raises why the put would be refused if it were written now."""
    outcome = revision_of(put, stored, NEVER_SEEN, None)
    if isinstance(outcome, Exception):
        raise outcome
    if isinstance(outcome, PlannedUpdate):
        require_short_metadata(stored, outcome.document)


def with_activity(document: Document, stored: Document | None) -> Document:
    """The document, active as the stored one if it does not say; a new one is active."""
    if document.is_active is not None:
        return document
    return replace(document, is_active=stored is None or stored.is_active)


def superseded(document_id: str, stored: StoredDocument | None) -> Written:
    revision = stored.revision if stored else 0
    return Written(document_id, revision, changed=False, is_superseded=True)
