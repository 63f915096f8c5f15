"""Readers that others than its writers gave to a document, and have taken away since.

A write that was acknowledged before that, such as a queued one or that of a reading of a source,
does not give them again: its part `readers` can't tell, since its other readers count. A later
write may give them.
"""

from collections.abc import Sequence
from dataclasses import replace

from index.documents.document_writes import DocumentWrite
from index.documents.write_causes import WriteCause, sequence_of
from index.postgres.session import Session


async def end(session: Session, tenant: str, document_id: str, readers: Sequence[str]) -> None:
    """Earlier writes of the document, which is locked, no longer give these readers."""
    await session.rows("documents.end_readers", tenant, document_id, readers)


async def left_out(
    session: Session, tenant: str, writes: Sequence[DocumentWrite], cause: WriteCause | None
) -> list[DocumentWrite]:
    """The writes of locked documents, without the readers that ended after their cause."""
    naming = [
        write.document_id
        for write in writes
        if "readers" in write.parts
        and (write.document.readers or write.document.provenance.held_readers)
    ]
    sequence = sequence_of(cause)
    if sequence is None or not naming:
        return list(writes)
    rows = await session.rows("documents.ended_readers", tenant, naming, sequence)
    ended = {row["document_id"]: row["readers"] for row in rows}
    return [_without(write, ended.get(write.document_id, ())) for write in writes]


def _without(write: DocumentWrite, ended: Sequence[str]) -> DocumentWrite:
    if not ended:
        return write
    document, held = write.document, write.document.provenance.held_readers
    readers = tuple(reader for reader in document.readers if reader not in ended)
    if held is not None:
        held = tuple(reader for reader in held if reader not in ended)
    provenance = replace(document.provenance, held_readers=held)
    return replace(write, document=replace(document, readers=readers, provenance=provenance))
