"""Writes that are refused, overtaken or cut short: what is stored then, and what is paid again."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray

from index.documents.document_store import DocumentStore
from index.documents.document_writes import CommitOutcome, DocumentWrite
from index.documents.write_causes import WriteCause
from index.embedders.static_embedder import StaticEmbedder
from index.errors import EmbeddingUnavailable
from index.model.document import Document
from index.postgres.database import Database
from index.search.query_embedder import Embedder
from index.tenants.tenant_store import TenantStore
from ingest.errors import DocumentContended
from ingest.write.revision import Written
from ingest.write.writer import Writer
from tests.index.support.samples import (
    AbsentEmbedder,
    RecordingEmbedder,
    RecordingInvalidation,
    a_document,
    put,
)
from tests.ingest.support.written import LONG, Overtaken, changes_of, lines_of, revision, with_line

pytestmark = pytest.mark.anyio


async def test_a_refusal_stores_nothing(
    writer: Writer, documents: DocumentStore, tenants: TenantStore, embedder: RecordingEmbedder
) -> None:
    await put(writer, LONG)
    embedder.texts.clear()

    def refuse(_stored: Document | None) -> Document:
        raise PermissionError

    for refused in (writer.put, writer.put_access, writer.remove):
        with pytest.raises(PermissionError):
            await refused("acme", "long", refuse)

    stored = await documents.stored("acme", "long")
    assert stored is not None
    assert stored.document == LONG
    assert (await revision(tenants), embedder.texts) == (1, [])


async def test_a_write_that_fails_to_embed_stores_nothing(
    documents: DocumentStore,
    tenants: TenantStore,
    invalidation: RecordingInvalidation,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    writer = Writer(documents, AbsentEmbedder(), invalidation)

    with pytest.raises(EmbeddingUnavailable):
        await put(writer, LONG)

    assert await documents.stored("acme", "long") is None
    assert (await revision(tenants), invalidation.drained) == (0, [])
    assert await connection.fetchval("SELECT count(*) FROM embeddings") == 0


class Faltering(RecordingEmbedder):
    """Takes eight passages a call, and fails at every second call."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.batch_texts_max = 8
        self._calls = 0

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._calls += 1
        if self._calls % 2 == 0:
            raise EmbeddingUnavailable("once more")
        return await super().embed_passages(texts)


@pytest.mark.slow
async def test_what_was_embedded_before_a_failure_is_not_paid_for_again(
    documents: DocumentStore, static_embedder: StaticEmbedder, invalidation: RecordingInvalidation
) -> None:
    embedder = Faltering(static_embedder)
    writer = Writer(documents, embedder, invalidation)

    for _ in range(2):
        with pytest.raises(EmbeddingUnavailable):
            await put(writer, LONG)
    written = await put(writer, LONG)

    assert (written.added, written.embedded) == (20, 4)
    assert len(embedder.texts) == len(set(embedder.texts)) == 20


async def test_a_write_that_was_overtaken_is_planned_again_from_what_is_stored_by_then(
    database: Database, documents: DocumentStore, writer: Writer, embedder: RecordingEmbedder
) -> None:
    await writer.put("acme", "log", with_line("first"))
    overtaken = Overtaken(database, lambda: writer.put("acme", "log", with_line("second")))

    written = await Writer(overtaken, embedder, RecordingInvalidation()).put(
        "acme", "log", with_line("third")
    )

    stored = await documents.stored("acme", "log")
    assert stored is not None
    assert stored.document.text == "# first\n\n# second\n\n# third\n\n"
    assert (written.revision, written.added, written.kept, written.removed) == (3, 1, 2, 0)
    assert len(stored.chunk_ids) == 3


async def test_a_write_that_was_overtaken_by_a_removal_is_planned_from_nothing(
    database: Database, documents: DocumentStore, writer: Writer, embedder: RecordingEmbedder
) -> None:
    await put(writer, LONG)
    overtaken = Overtaken(database, lambda: writer.remove("acme", "long", lambda stored: stored))
    edited = replace(LONG, title="Windmills")

    written = await put(Writer(overtaken, embedder, RecordingInvalidation()), edited)

    stored = await documents.stored("acme", "long")
    assert stored is not None
    assert stored.document == edited
    assert (written.revision, written.added, written.kept) == (3, 20, 0)


async def test_a_write_that_was_overtaken_by_its_twin_changes_nothing(
    database: Database, writer: Writer, embedder: RecordingEmbedder, tenants: TenantStore
) -> None:
    overtaken = Overtaken(database, lambda: put(writer, LONG))

    written = await put(Writer(overtaken, embedder, RecordingInvalidation()), LONG)

    assert (written.revision, written.added, written.kept) == (1, 0, 20)
    assert await revision(tenants) == 1


class Crash(Exception):
    pass


async def test_a_crash_between_embedding_and_commit_keeps_the_vectors_and_stores_no_document(
    database: Database,
    documents: DocumentStore,
    writer: Writer,
    embedder: RecordingEmbedder,
    tenants: TenantStore,
) -> None:
    async def crash() -> None:
        raise Crash

    crashing = Writer(Overtaken(database, crash), embedder, RecordingInvalidation())

    with pytest.raises(Crash):
        await put(crashing, LONG)

    assert await documents.stored("acme", "long") is None
    assert await revision(tenants) == 0
    assert len(embedder.texts) == 20
    assert (await put(writer, LONG)).embedded == 0
    assert len(embedder.texts) == 20


@pytest.mark.slow
async def test_twenty_writers_of_different_documents_are_all_acknowledged(
    writer: Writer, documents: DocumentStore, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    made = [a_document(f"d{number}", f"Leave number {number}.") for number in range(20)]

    written = await asyncio.gather(*(put(writer, document) for document in made))

    assert sorted(one.revision for one in written) == list(range(1, 21))
    changes = {change[0]: change[1:] for change in await changes_of(connection, "acme")}
    for document, one in zip(made, written, strict=True):
        stored = await documents.stored("acme", document.document_id)
        assert stored is not None
        assert stored.document == document
        assert changes[one.revision] == (set(stored.chunk_ids), set(), set(), set())


@pytest.mark.slow
async def test_ten_writers_of_one_document_are_all_acknowledged_and_none_is_lost(
    writer: Writer, documents: DocumentStore, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    written = await asyncio.gather(
        *(writer.put("acme", "log", with_line(f"line {number}")) for number in range(10))
    )

    stored = await documents.stored("acme", "log")
    assert stored is not None
    assert sorted(lines_of(stored.document)) == [f"# line {number}" for number in range(10)]
    assert sorted(one.revision for one in written) == list(range(1, 11))
    alive: set[int] = set()
    for change in await changes_of(connection, "acme"):
        assert change.removed | change.moved <= alive
        assert change.touched == set()
        alive = alive - change.removed | change.added
    assert alive == set(stored.chunk_ids)


class SlowEmbedder(DocumentStore):
    """Is in no hurry to commit a text that has the word slow in it."""

    async def apply_all(
        self, tenant: str, writes: Sequence[DocumentWrite], by: WriteCause | None = None
    ) -> list[CommitOutcome]:
        if any("slow" in write.document.text for write in writes):
            await asyncio.sleep(0.1)
        return await super().apply_all(tenant, writes, by)


@pytest.mark.slow
async def test_whoever_is_overtaken_again_and_again_goes_first_at_last(
    database: Database, tenants: TenantStore, embedder: RecordingEmbedder
) -> None:
    writer = Writer(SlowEmbedder(database), embedder, RecordingInvalidation())
    over = asyncio.Event()

    async def hurry(name: str) -> None:
        number = 0
        while not over.is_set():
            number += 1
            quick = a_document("log", f"# {name} {number}")
            await put(writer, quick)

    await put(writer, a_document("log", "# first"))  # what is slow once has been so by now
    hurrying = [asyncio.create_task(hurry(name)) for name in ("one", "two")]
    try:
        written = await put(writer, a_document("log", "# slow"))
    finally:
        over.set()
        await asyncio.gather(*hurrying)

    assert written.changed


@pytest.mark.thorough
@pytest.mark.slow
async def test_of_too_many_writers_of_one_document_the_refused_ones_stored_nothing(
    documents: DocumentStore, embedder: RecordingEmbedder, tenants: TenantStore
) -> None:
    """Each in a process of its own: none knows of the others."""
    writers = [Writer(documents, embedder, RecordingInvalidation()) for _ in range(25)]
    outcomes = await asyncio.gather(
        *(
            writer.put("acme", "log", with_line(f"line {number}"))
            for number, writer in enumerate(writers)
        ),
        return_exceptions=True,
    )

    stored = await documents.stored("acme", "log")
    assert stored is not None
    refused = [outcome for outcome in outcomes if isinstance(outcome, DocumentContended)]
    acknowledged = {
        f"# line {number}": outcome.revision
        for number, outcome in enumerate(outcomes)
        if isinstance(outcome, Written)
    }
    assert len(acknowledged) + len(refused) == len(outcomes)
    assert sorted(lines_of(stored.document)) == sorted(acknowledged)
    assert sorted(acknowledged.values()) == list(range(1, len(acknowledged) + 1))
    assert await revision(tenants) == len(acknowledged)
