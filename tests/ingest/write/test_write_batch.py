"""Documents that are put together: one revision, one drain, and each ends as if it were alone."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from random import Random

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray

from index.documents.document_store import DocumentStore
from index.documents.write_causes import Reading
from index.embedders.static_embedder import StaticEmbedder
from index.errors import DatabaseUnavailable, EmbeddingUnavailable
from index.model.document import Document
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from ingest.errors import DocumentTooLong
from ingest.write.revision import Outcome, Put, Written
from ingest.write.writer import Writer
from tests.index.conftest import connected
from tests.index.support.samples import (
    AbsentEmbedder,
    RecordingEmbedder,
    RecordingInvalidation,
    a_document,
    put,
)
from tests.ingest.support.written import (
    LONG,
    SECTIONS,
    Overtaken,
    changes_of,
    lines_of,
    revision,
    with_line,
)

pytestmark = pytest.mark.anyio


async def put_all(writer: Writer, *documents: Document, tenant: str = "acme") -> list[Outcome]:
    """Write the documents, whatever is stored."""
    return await writer.put_all(tenant, [as_put(document) for document in documents])


def as_put(document: Document) -> Put:
    return Put(document.document_id, lambda _stored: document, may_publish=True)


def made_of(*outcomes: Outcome) -> list[str | type]:
    """Whose document was written, or with what it failed."""
    return [
        outcome.document_id if isinstance(outcome, Written) else type(outcome)
        for outcome in outcomes
    ]


async def texts_of(documents: DocumentStore, *document_ids: str) -> list[str | None]:
    stored = await documents.stored_all("acme", document_ids)
    return [stored[each].document.text if each in stored else None for each in document_ids]


async def test_documents_put_together_are_one_revision_and_one_drain(
    writer: Writer, tenants: TenantStore, invalidation: RecordingInvalidation
) -> None:
    public = a_document("two", "Second.", readers=("public",))

    outcomes = await put_all(writer, a_document("one", "First."), public, a_document("three", "3."))

    assert outcomes == [
        Written(document_id, 1, added=1, embedded=1) for document_id in ("one", "two", "three")
    ]
    assert invalidation.drained == [("acme", {"acme": 1, "public": 1})]
    assert await revision(tenants) == 1


async def test_documents_put_together_embed_each_new_text_once_in_as_few_calls_as_may_be(
    writer: Writer, embedder: RecordingEmbedder
) -> None:
    await put(writer, a_document("old", "Known."))
    embedder.texts.clear()
    embedder.calls = 0
    embedder.batch_texts_max = 2

    outcomes = await put_all(
        writer,
        *(a_document(f"d{number}", f"Leave {number % 3}.") for number in range(5)),
        a_document("new", "Known."),
    )

    assert embedder.texts == ["Leave 0.", "Leave 1.", "Leave 2."]
    assert embedder.calls == 2
    embedded = [outcome.embedded for outcome in outcomes if isinstance(outcome, Written)]
    assert embedded == [1, 1, 1, 0, 0, 0]


async def test_what_is_already_so_costs_a_part_of_one_look_up(
    database_url: str, writer: Writer, embedder: RecordingEmbedder, tenants: TenantStore
) -> None:
    made = [a_document(f"d{number}") for number in range(5)]
    await put_all(writer, *made)
    statements: list[str] = []
    async with connected(
        database_url,
        connections_max=1,
        observe=lambda name, _seconds: statements.append(name),
        statement_timeout_s=10,
    ) as own:
        again = Writer(DocumentStore(own), embedder, RecordingInvalidation())

        outcomes = await again.put_all(
            "acme", [*map(as_put, made)], Reading(10_000)
        )  # later than all
        read, statements[:] = list(statements), []
        written = await put_all(again, *made)

    assert written == outcomes
    assert outcomes == [Written(f"d{number}", 1, changed=False, kept=1) for number in range(5)]
    assert read == ["documents.stored"]
    assert statements == [
        *("documents.stored", "documents.lock_for_write", "documents.versions"),
        "documents.confirm",
    ]
    assert await revision(tenants) == 1


@pytest.mark.slow
async def test_a_refusal_among_others_stops_none_of_them(
    writer: Writer, documents: DocumentStore
) -> None:
    def refuse(_stored: Document | None) -> Document:
        raise PermissionError

    endless = a_document("endless", "# Part\n\nText.\n\n" * 5_001)
    puts = [as_put(LONG), Put("refused", refuse), as_put(endless), as_put(a_document("last"))]

    outcomes = await writer.put_all("acme", puts)

    assert made_of(*outcomes) == ["long", PermissionError, DocumentTooLong, "last"]
    assert await documents.stored_all("acme", ["refused", "endless"]) == {}


async def test_of_two_puts_of_one_document_the_later_one_sees_the_earlier(
    writer: Writer, documents: DocumentStore
) -> None:
    puts = [
        Put("log", with_line("first")),
        as_put(a_document("other")),
        Put("log", with_line("second")),
        Put("log", with_line("third")),
    ]

    outcomes = await writer.put_all("acme", puts)

    assert made_of(*outcomes) == ["log", "other", "log", "log"]
    assert await texts_of(documents, "log") == ["# first\n\n# second\n\n# third\n\n"]


async def test_an_absent_embedder_fails_those_alone_that_need_it(
    writer: Writer, documents: DocumentStore, embedder: RecordingEmbedder, tenants: TenantStore
) -> None:
    await put_all(writer, LONG, a_document("leave"))
    away = AbsentEmbedder()
    away.space = embedder.space
    renamed, copy = replace(LONG, title="Harbours"), a_document("copy")

    outcomes = await put_all(
        Writer(documents, away, RecordingInvalidation()),
        a_document("new", "Something new."),
        renamed,
        a_document("leave"),
        copy,
    )

    assert made_of(*outcomes) == [EmbeddingUnavailable, "long", "leave", "copy"]
    stored = await documents.stored_all("acme", ["new", "long", "copy"])
    assert {each: found.document for each, found in stored.items()} == {
        "long": renamed,
        "copy": copy,
    }
    assert await revision(tenants) == 3


class Squeamish(RecordingEmbedder):
    """Refuses every call that holds a certain text."""

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if "Unspeakable." in texts:
            raise EmbeddingUnavailable("it refuses the texts")
        return await super().embed_passages(texts)


async def test_a_text_that_the_embedder_refuses_fails_its_own_document_alone(
    documents: DocumentStore, static_embedder: StaticEmbedder
) -> None:
    writer = Writer(documents, Squeamish(static_embedder), RecordingInvalidation())
    texts = ["Before.", "Unspeakable.", "After."]

    outcomes = await put_all(
        writer, *(a_document(f"d{number}", text) for number, text in enumerate(texts))
    )

    assert made_of(*outcomes) == ["d0", EmbeddingUnavailable, "d2"]
    assert await texts_of(documents, "d0", "d1", "d2") == ["Before.", None, "After."]


async def test_of_documents_put_together_an_overtaken_one_alone_is_planned_again(
    database: Database, documents: DocumentStore, writer: Writer, embedder: RecordingEmbedder
) -> None:
    await writer.put("acme", "log", with_line("first"))
    overtaken = Overtaken(database, lambda: writer.put("acme", "log", with_line("second")))
    puts = [as_put(LONG), Put("log", with_line("third")), as_put(a_document("last"))]

    outcomes = await Writer(overtaken, embedder, RecordingInvalidation()).put_all("acme", puts)

    revisions = [outcome.revision for outcome in outcomes if isinstance(outcome, Written)]
    assert revisions == [3, 4, 3]
    assert await texts_of(documents, "log") == ["# first\n\n# second\n\n# third\n\n"]


@pytest.mark.slow
async def test_batches_that_overlap_in_opposite_order_all_end_well(
    writer: Writer, documents: DocumentStore
) -> None:
    def section(line: str, source: str) -> Callable[[Document | None], Document]:
        add = with_line(line)
        return lambda stored: replace(add(stored), document_id=source, source=source)

    def puts(line: str) -> list[Put]:
        return [Put(each, section(line, each)) for each in (f"d{number}" for number in range(20))]

    settled = await asyncio.gather(
        *(writer.put_all("acme", puts(f"up {number}")) for number in range(3)),
        *(writer.put_all("acme", puts(f"down {number}")[::-1]) for number in range(3)),
    )

    assert all(isinstance(outcome, Written) for outcomes in settled for outcome in outcomes)
    lines = sorted(f"# {way} {number}" for way in ("up", "down") for number in range(3))
    stored = await documents.stored_all("acme", [f"d{number}" for number in range(20)])
    assert len(stored) == 20
    assert all(sorted(lines_of(found.document)) == lines for found in stored.values())


def told(outcome: Outcome) -> Outcome:
    """The outcome but for its revision, which those put together share."""
    return replace(outcome, revision=0) if isinstance(outcome, Written) else outcome


@pytest.mark.slow
async def test_documents_put_together_end_as_if_they_were_put_one_by_one(
    writer: Writer, documents: DocumentStore
) -> None:
    random = Random(2026)  # noqa: S311  the same story every time, and no secret

    def something() -> Document:
        text = "".join(random.choices(SECTIONS[:6], k=random.randint(0, 4)))
        title = random.choice(["Harbours", "Ships"])
        return a_document(f"d{random.randrange(6)}", text, title=title)

    for _ in range(15):
        made = [something() for _ in range(random.randint(1, 8))]
        together = await put_all(writer, *made)
        alone = [await put(writer, document, "beta") for document in made]
        assert [told(outcome) for outcome in together] == [told(outcome) for outcome in alone]

    document_ids = [f"d{number}" for number in range(6)]
    acme, beta = [await documents.stored_all(name, document_ids) for name in ("acme", "beta")]
    assert {each: (found.document, found.digests) for each, found in acme.items()} == {
        each: (found.document, found.digests) for each, found in beta.items()
    }


async def test_a_database_that_goes_away_fails_all_that_were_put_together(
    database_url: str, embedder: RecordingEmbedder, tenants: TenantStore
) -> None:
    async with connected(database_url, connections_max=1, statement_timeout_s=10) as own:
        writer = Writer(DocumentStore(own), embedder, RecordingInvalidation())

    outcomes = await put_all(writer, LONG, a_document("leave"))

    assert made_of(*outcomes) == [DatabaseUnavailable, DatabaseUnavailable]


class Canceller:
    """Cancels a task as soon as so many statements of a database were answered."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Written] | None = None
        self._statements_left = 0

    def aim(self, task: asyncio.Task[Written], *, statements: int) -> None:
        self._task, self._statements_left = task, statements

    def observe(self, _name: str, _seconds: float) -> None:
        self._statements_left -= 1
        if self._task is not None and self._statements_left == 0:
            self._task.cancel()


@pytest.mark.slow
async def test_a_put_that_is_cancelled_after_any_statement_is_done_whole_or_not_at_all(
    database_url: str,
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    canceller = Canceller()
    stored_chunks: set[int] = set()
    cancelled = 0
    async with connected(
        database_url, connections_max=1, observe=canceller.observe, statement_timeout_s=10
    ) as own:
        writer = Writer(DocumentStore(own), embedder, RecordingInvalidation())
        for statements in count(1):
            document = a_document(f"d{statements}", f"Leave number {statements}.")
            task = asyncio.create_task(put(writer, document))
            canceller.aim(task, statements=statements)
            await asyncio.wait([task])

            stored = await documents.stored("acme", document.document_id)
            assert stored is None or stored.document == document
            stored_chunks |= set(stored.chunk_ids) if stored else set()
            changes = await changes_of(connection, "acme")
            assert [change[0] for change in changes] == list(range(1, len(changes) + 1))
            assert set().union(*(change[1] for change in changes)) == stored_chunks
            if not task.cancelled():
                break
            cancelled += 1
    assert task.result().added == 1
    assert cancelled > 5
