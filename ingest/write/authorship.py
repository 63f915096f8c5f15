"""The provenance of a document as it is about to be stored, and its quarantine; does no I/O."""

from dataclasses import replace

from index.model.document import Document
from index.model.provenance import TRUSTS, UNKNOWN, Author, Provenance, Quarantine
from index.model.write_order import CONTENT, Parts


def with_provenance(
    stored: Document | None, document: Document, author: Author, parts: Parts
) -> Document:
    """The document with its author's provenance, or the stored one's if its content is the same.

    parts: those that the write sets. One that sets the metadata alone can only lower the trust.
    """
    before = UNKNOWN if stored is None else stored.provenance
    provenance, written = before, author.provenance
    is_new = before == UNKNOWN or stored is None or not _has_same_content(stored, document)
    if is_new and not parts.isdisjoint(CONTENT):
        provenance = written
        if "content" not in parts and _rank(before) < _rank(written):
            provenance = before
    return held(stored, replace(document, provenance=provenance), author.quarantine)


def held(stored: Document | None, document: Document, quarantine: Quarantine | None) -> Document:
    """The document, with the quarantine's readers instead of its own while it is a claim in there.

    quarantine: of the writer's tenant. What is held once stays so until it is no claim, or an agent
    writes what is not held.
    """
    provenance, readers = document.provenance, document.readers
    if stored is not None and readers == stored.readers:  # they may be the quarantine's
        was_held = stored.provenance.held_readers
        readers = readers if was_held is None else was_held
    is_held = provenance.held_readers is not None
    if quarantine is not None:
        is_held = is_held or quarantine.holds(document.uri)
    if provenance.trust != "claim" or not is_held:
        return replace(document, readers=readers, provenance=replace(provenance, held_readers=None))
    seen_by = document.readers if stored is None else stored.readers
    return replace(
        document,
        readers=seen_by if quarantine is None else quarantine.readers,
        provenance=replace(provenance, held_readers=readers),
    )


def intended(document: Document) -> Document:
    """The document with the readers that it gets when it is ratified."""
    readers = document.provenance.held_readers
    return document if readers is None else replace(document, readers=readers)


def _rank(provenance: Provenance) -> int:
    return -1 if provenance.trust is None else TRUSTS.index(provenance.trust)


def _has_same_content(document: Document, other: Document) -> bool:
    """Whether they are equal in all but who may read and find them, and how they are cut."""
    return document == replace(
        other,
        owner=document.owner,
        readers=document.readers,
        chunker=document.chunker,
        summaries=document.summaries,
        is_active=document.is_active,
        provenance=document.provenance,
    )
