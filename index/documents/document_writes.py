"""Writes of documents, committed in a transaction that has locked them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from common.shares.turns import map_in_steps
from index.documents import chunk_store, outbox, write_causes
from index.documents.chunk_store import AddedChunk, KeptChunk
from index.documents.outbox import Change, CommitResult
from index.documents.rows import document_to_row
from index.documents.write_causes import Reading, WriteCause, sequence_of
from index.errors import DatabaseUnavailable, SourceReserved, TenantMissing
from index.model.document import Document
from index.model.quota import StoredAmounts
from index.model.scope import PUBLIC
from index.model.write_order import ACCESS, ALL_PARTS, NEVER_SEEN, MissingDocument, Parts
from index.postgres.session import Row, Session
from index.text import lexical
from index.vocabulary import vocabulary
from index.vocabulary.extent import Extent


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """One document's next version. version: the stored one it was planned from, 0 if none.

    space: of the added chunks' vectors; None if there are none.
    words: those that the tenant's vocabulary learns; see `index.vocabulary.vocabulary`.
    strays: further chunks to remove, which the tables hold in error.
    stored: the document it was planned from; None if it is new or unknown: then caches treat every
            kept chunk as changed.
    parts: those that the write sets; `document` holds the others as stored.
    missing: the record of a missing document, if the write is an earlier one.
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
    missing: MissingDocument = NEVER_SEEN

    @property
    def document_id(self) -> str:
        return self.document.document_id

    @property
    def vocabulary_entries(self) -> list[str]:
        return vocabulary.entries(self.document.readers, self.words)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A write that equals the stored document. version: of the stored document."""

    document_id: str
    version: int
    parts: Parts


# For one write: None if its document, or the tenant's space, has changed since it was planned.
CommitOutcome: TypeAlias = CommitResult | SourceReserved | None


@dataclass(frozen=True, slots=True)
class LockedRows:
    """The tenant's space and documents, locked until the transaction ends.

    vocabulary: the tenant's, which may grow meanwhile but not shrink.
    rows: by document id, of those that exist.
    reserved: documents to whose source callers may not write.
    awaited: documents with unfinished jobs. A job is queued with its document locked, so there are
        no others.
    """

    space: str | None
    vocabulary: Extent
    rows: Mapping[str, Row]
    reserved: Collection[str]
    awaited: Collection[str]

    def version(self, document_id: str) -> int:
        """0 for a document that does not exist."""
        row = self.rows.get(document_id)
        return 0 if row is None else row["version"]

    def key(self, document_id: str) -> int | None:
        """None for a document that does not exist."""
        row = self.rows.get(document_id)
        return None if row is None else row["document_key"]

    def is_planned_write(
        self, write: DocumentWrite, missing: Mapping[str, MissingDocument]
    ) -> bool:
        """Whether the write was planned from these rows. missing: current, by document id."""
        document_id = write.document_id
        spaces = {self.space, write.space} - {None}
        return (
            self.version(document_id) == write.version
            and missing.get(document_id, write.missing) == write.missing
            and len(spaces) < 2
        )


def sources_of_callers(
    writes: Sequence[DocumentWrite], cause: WriteCause | None
) -> dict[str, str | None]:
    """By document, the source to which a caller writes it; None if no caller does."""
    by_caller = not isinstance(cause, Reading)
    return {
        write.document_id: write.document.source if by_caller and "content" in write.parts else None
        for write in writes
    }


async def read_locked(
    session: Session, tenant: str, sources: Mapping[str, str | None]
) -> LockedRows:
    """What is stored of the documents, which are locked.

    Raises `TenantMissing`, and `DatabaseUnavailable` if a later version has begun to write.
    """
    rows = await session.rows("documents.versions", tenant, list(sources), list(sources.values()))
    if not rows:
        raise TenantMissing(tenant)
    if rows[0]["analyser"] not in (None, lexical.ANALYSER):
        raise DatabaseUnavailable(
            f"words are analysed by {rows[0]['analyser']} now: a later version of Nearhit writes"
        )
    documents = {row["document_id"]: row for row in rows if row["document_id"] is not None}
    extent = Extent(rows[0]["history"], rows[0]["vocabulary_size"])
    return LockedRows(
        rows[0]["embedding_space"],
        extent,
        documents,
        frozenset(rows[0]["reserved"]),
        frozenset(rows[0]["awaited"]),
    )


async def missing_now(
    session: Session,
    tenant: str,
    locked: LockedRows,
    writes: Sequence[DocumentWrite],
    cause: WriteCause | None,
) -> dict[str, MissingDocument]:
    """The records of the missing documents, if the writes are earlier ones."""
    document_ids = [write.document_id for write in writes if not write.version]
    document_ids = [document_id for document_id in document_ids if document_id not in locked.rows]
    if sequence_of(cause) is None or not document_ids:
        return {}
    return missing_of(await session.rows("documents.missing", tenant, document_ids))


def missing_of(rows: Sequence[Row]) -> dict[str, MissingDocument]:
    return {
        row["document_id"]: MissingDocument(
            row["removed"], row["access"], row["owner"], tuple(row["readers"])
        )
        for row in rows
    }


async def supersede(
    session: Session,
    tenant: str,
    locked: LockedRows,
    parts: Mapping[str, Parts],
    cause: WriteCause | None,
) -> None:
    """As `write_causes.supersede`, for the parts, by document, that a write sets."""
    awaited = {name: parts[name] for name in parts if name in locked.awaited}
    await write_causes.supersede(session, tenant, awaited, cause)


async def put(
    session: Session,
    tenant: str,
    locked: LockedRows,
    writes: Sequence[DocumentWrite],
    cause: WriteCause | None,
) -> list[Change]:
    """Write the documents and their chunks, and supersede queued earlier writes.

    Raises `JobLost`, and what an external cause raises.
    """
    parts = {write.document_id: write.parts for write in writes if write.parts}
    await supersede(session, tenant, locked, parts, cause)
    removed = [chunk_id for write in writes for chunk_id in write.removed]
    if removed:
        await session.rows("documents.remove_chunks", tenant, removed)
    if strays := [chunk_id for write in writes for chunk_id in write.strays]:
        await session.rows("documents.remove_stray_chunks", tenant, strays)
    rows = await session.rows(
        "documents.put",
        tenant,
        await map_in_steps(_row_maker(locked, cause), writes),
        [write.document.text for write in writes],
        sequence_of(cause),
        *chunk_store.to_columns(
            [(place, chunk) for place, write in enumerate(writes, 1) for chunk in write.added]
        ),
    )
    kept = [chunk for write in writes for chunk in write.kept]
    repositioned = await chunk_store.keep_chunks(session, tenant, kept)

    def to_change(written: tuple[DocumentWrite, Row]) -> Change:
        write, row = written
        return _change(locked.rows.get(write.document_id), write, row, repositioned)

    return await map_in_steps(to_change, zip(writes, rows, strict=True))


def _row_maker(
    locked: LockedRows, cause: WriteCause | None
) -> Callable[[DocumentWrite], dict[str, Any]]:
    """What makes the row of a document for the statement `documents.put`."""
    sources = dict[str, str]()  # of each, the first document

    def to_row(write: DocumentWrite) -> dict[str, Any]:
        return document_to_row(write.document) | {
            "document_key": locked.key(write.document_id),
            "chunks": _chunks(write),
            "parts": sorted(write.parts),
            "access_parts": sorted(ACCESS - write.parts),
            "other_parts": sorted(ALL_PARTS - ACCESS - write.parts),
            "by_caller": bool(write.parts) and not isinstance(cause, Reading),
            "is_first_of_source": write.document_id
            == sources.setdefault(write.document.source, write.document_id),
        }

    return to_row


def _change(
    row: Row | None, write: DocumentWrite, put: Row, repositioned: Collection[int]
) -> Change:
    """row: of the stored document. put: the result of `documents.put`.

    repositioned: chunks whose position in their text has changed, also of other documents.
    """
    stored, document = write.stored, write.document
    has_same_fields = stored is not None and outbox.has_same_fields(stored, document)
    is_renamed = stored is not None and stored.uri != document.uri
    unchanged = [kept.chunk_id for kept in write.kept if has_same_fields and kept.lexical is None]
    return Change(
        put["document_key"],
        document.language,
        was_public=row is not None and PUBLIC in row["readers"],
        is_public=PUBLIC in document.readers,
        chunks_before=row["chunks"] if row is not None else 0,
        chunks=_chunks(write),
        growth=StoredAmounts(
            documents=int(row is None),
            bytes=text_bytes(document) - (row["text_bytes"] if row is not None else 0),
            sources=int(put["is_new_source"]),
        ),
        added=put["chunk_ids"],
        removed=sorted({*write.removed, *write.strays}),
        updated=[
            kept.chunk_id for kept in write.kept if not has_same_fields or kept.lexical is not None
        ],
        repositioned=[chunk_id for chunk_id in unchanged if is_renamed or chunk_id in repositioned],
    )


def text_bytes(document: Document) -> int:
    return len(document.text.encode())


def _chunks(write: DocumentWrite) -> int:
    return len(write.added) + len(write.kept)
