"""What tests commit of documents, and what they read of it in the tables."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import asyncpg
import numpy as np
from pgvector import HalfVector, SparseVector

from index.documents.chunk_store import AddedChunk, KeptChunk
from index.documents.document_store import DocumentStore
from index.documents.document_writes import CommitOutcome, DocumentWrite
from index.documents.outbox import CommitResult
from index.documents.stored_document import StoredDocument
from index.errors import SourceReserved
from index.model.document import Document
from index.tenants.tenant_store import TenantStore
from index.text.lexical import DIMENSION


async def apply(documents: DocumentStore, tenant: str, write: DocumentWrite) -> CommitResult | None:
    (committed,) = await documents.apply_all(tenant, [write])
    assert not isinstance(committed, SourceReserved)
    return committed


def revisions_of(outcome: CommitOutcome) -> Mapping[str, int] | None:
    """The revision that the commit made in each partition; None if it did not take the write."""
    assert not isinstance(outcome, SourceReserved)
    return None if outcome is None else outcome.revisions


def a_chunk(text: str, start: int = 0) -> AddedChunk:
    return AddedChunk(
        digest=digest(text),
        start=start,
        end=start + len(text),
        text=text,
        dense=HalfVector(np.ones(4) / 2),
        lexical=SparseVector({1: 1.0}, DIMENSION),
    )


def digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def a_write(
    document: Document,
    *,
    version: int = 0,
    added: Sequence[str] = (),
    kept: Sequence[KeptChunk] = (),
    removed: Sequence[int] = (),
    stored: Document | None = None,
) -> DocumentWrite:
    chunks = [a_chunk(text) for text in added]
    return DocumentWrite(document, version, chunks, kept, removed, stored=stored)


async def written(documents: DocumentStore, document: Document, *texts: str) -> StoredDocument:
    """The document as it is stored, new, with a chunk for each text."""
    assert await apply(documents, "acme", a_write(document, added=texts)) is not None
    stored = await documents.stored("acme", document.document_id)
    assert stored is not None
    return stored


class Rows:
    """The tables themselves."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection

    async def changes(self, tenant: str) -> list[tuple[int, list[int], list[int], list[int]]]:
        """Revision, added, removed and updated chunks of each change."""
        rows = await self._connection.fetch(
            "SELECT revision, added_chunks, removed_chunks, updated_chunks FROM change_log"
            " WHERE tenant = $1 ORDER BY 1",
            tenant,
        )
        return [tuple(row) for row in rows]

    async def places(self, table: str) -> list[tuple[Any, ...]]:
        """Where each row of a table lies, and which transaction put it there."""
        rows = await self._connection.fetch(f"SELECT ctid, xmin FROM {table} ORDER BY 1")  # noqa: S608  ours
        return [tuple(row) for row in rows]

    async def count(self, table: str) -> int:
        return int(await self._connection.fetchval(f"SELECT count(*) FROM {table}"))  # noqa: S608  ours


async def revision(tenants: TenantStore, tenant: str) -> int:
    return (await tenants.revisions([tenant]))[tenant].revision


async def write_again(documents: DocumentStore, stored: StoredDocument) -> CommitResult | None:
    late = a_write(stored.document, version=stored.version, added=["late"])
    return await apply(documents, "acme", late)
