"""Documents at rest: read, listed, and changed in one transaction with their change row."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgvector import HalfVector, SparseVector

from index import lexical
from index.database import Database, Row, Session
from index.document import Document
from index.lexical import DIMENSION
from index.scope import PUBLIC, Scope


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it is, its chunks in the order of the text, and the version that this is.

    revision: the tenant's, when this was read.
    """

    document: Document
    version: int
    revision: int
    chunk_ids: tuple[int, ...]
    digests: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """A new chunk; start and end count characters of the document's text."""

    digest: bytes
    start: int
    end: int
    text: str
    dense: HalfVector
    lexical: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored chunk, where it now stands; `lexical` only if its words' weights have changed."""

    chunk_id: int
    digest: bytes
    start: int
    end: int
    text: str
    lexical: Mapping[int, float] | None


@dataclass(frozen=True, slots=True)
class Write:
    """One document's next version. `version` is the stored one it was planned from, 0 if none."""

    document: Document
    version: int
    added: Sequence[Added]
    kept: Sequence[Kept]
    removed: Sequence[int]


@dataclass(frozen=True, slots=True)
class Committed:
    """The revision that a commit made in each partition that it changed."""

    revisions: Mapping[str, int]


class Documents:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def stored(self, tenant: str, document_id: str) -> Stored | None:
        row = await self._database.row("documents.stored", tenant, document_id)
        return None if row is None else _stored(row)

    async def read(self, scope: Scope, document_id: str) -> Document | None:
        """The document, if the scope's grants admit it."""
        row = await self._database.row("documents.read", scope.tenant, scope.grants, document_id)
        return None if row is None else _document(row)

    async def page(
        self, scope: Scope, *, after: str, source: str | None, limit: int
    ) -> list[Document]:
        """Up to `limit` documents that the scope's grants admit, by identifier, without texts."""
        rows = await self._database.rows(
            "documents.page", scope.tenant, scope.grants, after, source, limit
        )
        return [_document({**row, "text": ""}) for row in rows]

    async def of_source(self, tenant: str, source: str) -> list[str]:
        rows = await self._database.rows("documents.of_source", tenant, source)
        return [row["document_id"] for row in rows]

    async def known_embeddings(
        self, tenant: str, space: str, digests: Collection[bytes]
    ) -> dict[bytes, HalfVector]:
        rows = await self._database.rows("documents.known_embeddings", tenant, space, list(digests))
        return {row["digest"]: row["dense"] for row in rows}

    async def keep_embeddings(
        self, tenant: str, space: str, embeddings: Mapping[bytes, HalfVector]
    ) -> None:
        digests = sorted(embeddings)  # in one order for all, so that writers can't deadlock
        dense = [embeddings[digest] for digest in digests]
        await self._database.rows("documents.keep_embeddings", tenant, space, digests, dense)

    async def apply(self, tenant: str, write: Write) -> Committed | None:
        """Commit the write, or nothing and None if the document has changed since the plan."""
        document = write.document
        async with self._database.transaction() as session:
            before = await _locked(session, tenant, document.document_id)
            if (before["version"] if before else 0) != write.version:
                return None
            added = await _put(session, tenant, write)
            return await _commit(
                session,
                tenant,
                language=document.language,
                public=PUBLIC in document.readers or _was_public(before),
                added=added,
                removed=write.removed,
                touched=[kept.chunk_id for kept in write.kept],
            )

    async def put_access(
        self, tenant: str, stored: Stored, *, owner: str | None, readers: Sequence[str]
    ) -> Committed | None:
        """Change who may read the document, or nothing and None if it has changed since."""
        document = stored.document
        async with self._database.transaction() as session:
            before = await _locked(session, tenant, document.document_id)
            if before is None or before["version"] != stored.version:
                return None
            await session.rows(
                "documents.put_access", tenant, document.document_id, owner, list(readers)
            )
            return await _commit(
                session,
                tenant,
                language=document.language,
                public=PUBLIC in readers or _was_public(before),
                touched=stored.chunk_ids,
            )

    async def remove(self, tenant: str, stored: Stored) -> Committed | None:
        """Remove the document and its chunks, or nothing and None if it has changed since."""
        document = stored.document
        async with self._database.transaction() as session:
            before = await _locked(session, tenant, document.document_id)
            if before is None or before["version"] != stored.version:
                return None
            await session.rows("documents.remove", tenant, document.document_id)
            return await _commit(
                session,
                tenant,
                language=document.language,
                public=_was_public(before),
                removed=stored.chunk_ids,
            )


async def _locked(session: Session, tenant: str, document_id: str) -> Row | None:
    await session.rows("documents.lock", tenant, document_id)
    return await session.row("documents.version", tenant, document_id)


def _was_public(before: Row | None) -> bool:
    return before is not None and PUBLIC in before["readers"]


async def _put(session: Session, tenant: str, write: Write) -> list[int]:
    """Write the document and its chunks; returns the identifiers of the added ones."""
    document = write.document
    await session.rows("documents.register_source", tenant, document.source)
    key = await session.value("documents.put", tenant, *_fields(document))
    await session.rows("documents.put_text", key, document.text)
    if write.removed:
        await session.rows("documents.remove_chunks", tenant, list(write.removed))
    added = await session.rows(
        "documents.add_chunks",
        tenant,
        key,
        [chunk.dense for chunk in write.added],
        [SparseVector(dict(chunk.lexical), DIMENSION) for chunk in write.added],
    )
    chunk_ids = [row["chunk_id"] for row in added]
    await _put_chunk_texts(
        session, key, [*chunk_ids, *(kept.chunk_id for kept in write.kept)], write
    )
    await _put_lexical(session, tenant, write.kept)
    return chunk_ids


async def _put_chunk_texts(
    session: Session, key: int, chunk_ids: Sequence[int], write: Write
) -> None:
    chunks: Sequence[Added | Kept] = [*write.added, *write.kept]
    await session.rows(
        "documents.put_chunk_texts",
        key,
        chunk_ids,
        [chunk.digest for chunk in chunks],
        [chunk.start for chunk in chunks],
        [chunk.end for chunk in chunks],
        [chunk.text for chunk in chunks],
    )


async def _put_lexical(session: Session, tenant: str, kept: Sequence[Kept]) -> None:
    changed = {chunk.chunk_id: chunk.lexical for chunk in kept if chunk.lexical is not None}
    if changed:
        await session.rows(
            "documents.put_lexical",
            tenant,
            list(changed),
            [SparseVector(dict(lexical), DIMENSION) for lexical in changed.values()],
        )


async def _commit(
    session: Session,
    tenant: str,
    *,
    language: str,
    public: bool,
    added: Sequence[int] = (),
    removed: Sequence[int] = (),
    touched: Sequence[int] = (),
) -> Committed:
    """Raise the revision and record the change, in the public partition too where it is seen.

    The tenant's row is locked before the public one, always, so that writers can't deadlock.
    """
    revisions = {}
    for partition in (tenant, PUBLIC) if public else (tenant,):
        revision = await session.value(
            "documents.advance", partition, lexical.base_language(language)
        )
        await session.rows(
            "documents.record_change",
            partition,
            revision,
            list(added),
            list(removed),
            list(touched),
        )
        revisions[partition] = revision
    return Committed(revisions)


def _fields(document: Document) -> tuple[Any, ...]:
    return (
        document.document_id,
        document.source,
        document.title,
        document.uri,
        document.language,
        list(document.tags),
        dict(document.metadata),
        document.owner,
        list(document.readers),
    )


def _stored(row: Row) -> Stored:
    return Stored(
        document=_document(row),
        version=row["version"],
        revision=row["revision"],
        chunk_ids=tuple(row["chunk_ids"]),
        digests=tuple(row["digests"]),
    )


def _document(row: Row) -> Document:
    return Document(
        document_id=row["document_id"],
        title=row["title"],
        text=row["text"],
        source=row["source"],
        uri=row["uri"],
        language=row["language"],
        tags=tuple(row["tags"]),
        metadata=row["metadata"],
        owner=row["owner"],
        readers=tuple(row["readers"]),
    )
