"""Writes of documents: what is committed of each, in a transaction that has locked them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from index.documents import chunk_store, outbox
from index.documents.chunk_store import AddedChunk, KeptChunk
from index.documents.event_versions import By, Reading, sequence_of
from index.documents.outbox import Change, Committed
from index.documents.rows import document_to_row
from index.errors import SourceReserved, TenantMissing
from index.model.document import Document
from index.model.scope import PUBLIC
from index.model.write_order import ALL_PARTS, NEVER_SEEN, Absent, Parts
from index.postgres.database import Row, Session
from index.text.vocabulary import Extent


@dataclass(frozen=True, slots=True)
class Write:
    """One document's next version. `version` is the stored one it was planned from, 0 if none.

    space: of the added chunks' vectors; None if there are none.
    words: what the tenant's vocabulary learns of it; see `spelling.words_of`.
    strays: further chunks to remove, should the tables hold less or more of them than they ought.
    stored: what it was planned from; None if there is none, or nobody knows: then caches take every
            kept chunk for another one.
    parts: those that the write sets; the others are in `document` as they are stored.
    absent: what was known of the document, if there was none and the write is an earlier one.
    """

    document: Document
    version: int
    added: Sequence[AddedChunk]
    kept: Sequence[KeptChunk]
    removed: Sequence[int]
    space: str | None = None
    words: Collection[str] = ()
    strays: Sequence[int] = ()
    stored: Document | None = None
    parts: Parts = ALL_PARTS
    absent: Absent = NEVER_SEEN


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A write that finds its document as it says already. version: of the stored document."""

    document_id: str
    version: int
    parts: Parts


# Of one write: None if its document, or the tenant's space, has changed since it was planned.
CommitOutcome: TypeAlias = Committed | SourceReserved | None


@dataclass(frozen=True, slots=True)
class Before:
    """What nobody else can change until the transaction ends: the tenant's space, and documents.

    vocabulary: the tenant's, which may learn more words but forget none.
    rows: by identifier, of those that exist.
    reserved: documents whose source is not for callers.
    """

    space: str | None
    vocabulary: Extent
    rows: Mapping[str, Row]
    reserved: Collection[str]

    def version(self, document_id: str) -> int:
        """0 for a document that does not exist."""
        row = self.rows.get(document_id)
        return 0 if row is None else row["version"]

    def is_of(self, write: Write, absent: Mapping[str, Absent]) -> bool:
        """Whether this is what the write was planned from; absent: what is known by now."""
        document_id = write.document.document_id
        spaces = {self.space, write.space} - {None}
        return (
            self.version(document_id) == write.version
            and absent.get(document_id, write.absent) == write.absent
            and len(spaces) < 2
        )


def sources_of_callers(writes: Sequence[Write], by: By | None) -> dict[str, str | None]:
    """By document, the source that a caller brings it to."""
    by_caller = not isinstance(by, Reading)
    return {
        write.document.document_id: write.document.source
        if by_caller and "content" in write.parts
        else None
        for write in writes
    }


async def lock(session: Session, tenant: str, sources: Mapping[str, str | None]) -> Before:
    document_ids = list(sources)
    await session.rows("documents.lock", tenant, document_ids)
    rows = await session.rows("documents.versions", tenant, document_ids, list(sources.values()))
    if not rows:
        raise TenantMissing(tenant)
    documents = {row["document_id"]: row for row in rows if row["document_id"] is not None}
    extent = Extent(rows[0]["history"], rows[0]["words"])
    return Before(rows[0]["space"], extent, documents, set(rows[0]["reserved"]))


async def absent_now(
    session: Session, tenant: str, before: Before, writes: Sequence[Write], by: By | None
) -> dict[str, Absent]:
    """What is known of the documents that do not exist, where writes are earlier ones."""
    new = [write.document.document_id for write in writes if not write.version]
    new = [document_id for document_id in new if document_id not in before.rows]
    if sequence_of(by) is None or not new:
        return {}
    return absent_of(await session.rows("documents.absent", tenant, new))


def absent_of(rows: Sequence[Row]) -> dict[str, Absent]:
    return {
        row["document_id"]: Absent(
            row["removed"], row["access"], row["owner"], tuple(row["readers"])
        )
        for row in rows
    }


async def put(
    session: Session, tenant: str, before: Before, writes: Sequence[Write], by: By | None
) -> list[Change]:
    """Write the documents and their chunks."""
    is_reading, sequence = isinstance(by, Reading), sequence_of(by)
    rows = await session.rows_each(
        "documents.put",
        [
            (
                *(tenant, *document_to_row(write.document), _chunks(write), sorted(write.parts)),
                *(sequence, bool(write.parts) and not is_reading),
            )
            for write in writes
        ],
    )
    keys = [row["document_key"] for row in rows]
    removed = [chunk_id for write in writes for chunk_id in write.removed]
    if removed:
        await session.rows("documents.remove_chunks", tenant, removed)
    if strays := [chunk_id for write in writes for chunk_id in write.strays]:
        await session.rows("documents.remove_strays", tenant, strays)
    new = [(key, chunk) for key, write in zip(keys, writes, strict=True) for chunk in write.added]
    added = await chunk_store.add_chunks(session, tenant, new)
    kept = [chunk for write in writes for chunk in write.kept]
    moved = await chunk_store.keep_chunks(session, tenant, kept)
    return [
        _change(
            key,
            before.rows.get(write.document.document_id),
            write,
            added=list(islice(added, len(write.added))),
            moved=moved,
        )
        for key, write in zip(keys, writes, strict=True)
    ]


def _change(
    key: int, before: Row | None, write: Write, *, added: Sequence[int], moved: Collection[int]
) -> Change:
    """moved: chunks that stand elsewhere in their text; of other documents too."""
    was, document = write.stored, write.document
    is_alike = was is not None and outbox.has_same_fields(was, document)
    is_elsewhere = was is not None and was.uri != document.uri
    untouched = [kept.chunk_id for kept in write.kept if is_alike and kept.lexical is None]
    return Change(
        key,
        document.language,
        was_public=before is not None and PUBLIC in before["readers"],
        is_public=PUBLIC in document.readers,
        chunks_before=before["chunks"] if before is not None else 0,
        chunks=_chunks(write),
        added=added,
        removed=sorted({*write.removed, *write.strays}),
        touched=[kept.chunk_id for kept in write.kept if not is_alike or kept.lexical is not None],
        moved=[chunk_id for chunk_id in untouched if is_elsewhere or chunk_id in moved],
    )


def _chunks(write: Write) -> int:
    return len(write.added) + len(write.kept)
