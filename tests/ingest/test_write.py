"""The write path: only the change is paid for, and what is acknowledged is there, whole."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any, NamedTuple

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray

from index.database import Database, connect
from index.document import Document
from index.documents import Committed, Documents, Stored, Write
from index.errors import DatabaseUnavailable, EmbeddingUnavailable
from index.heard import By
from index.query import Query
from index.scope import everything
from index.search import Embedder, Searcher
from index.static_embedder import StaticEmbedder
from index.tenants import Tenants
from ingest.errors import DocumentContended, DocumentTooLong
from ingest.write import Outcome, Put, Writer, Written
from tests.index.samples import (
    AbsentEmbedder,
    RecordingEmbedder,
    RecordingInvalidation,
    a_document,
    put,
)

pytestmark = pytest.mark.anyio

SECTIONS = [
    f"## Section {number}\n\nNumber {number} tells of harbours.\n\n" for number in range(20)
]
LONG = a_document("long", "".join(SECTIONS))
ANA = everything("acme", "ana", [])


class Change(NamedTuple):
    """What the outbox says of one revision."""

    revision: int
    added: set[int]
    removed: set[int]
    touched: set[int]
    moved: set[int]


async def changes_of(connection: "asyncpg.Connection[asyncpg.Record]", tenant: str) -> list[Change]:
    rows = await connection.fetch(
        "SELECT revision, added, removed, touched, moved FROM changes WHERE tenant = $1 ORDER BY 1",
        tenant,
    )
    return [Change(row[0], *map(set, row[1:])) for row in rows]


async def looks_of(
    connection: "asyncpg.Connection[asyncpg.Record]", document_id: str
) -> dict[int, tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """By chunk: what a search compares, filters by or shows of it beside its place; its place."""
    rows = await connection.fetch(
        "SELECT chunk_id, title, source, language, tags, metadata::text, owner, readers,"
        " dense::text, lexical::text, digest, chunk_texts.text, start_at, end_at, uri"
        " FROM documents JOIN chunks USING (tenant, document_key)"
        " JOIN chunk_texts USING (chunk_id) WHERE tenant = 'acme' AND document_id = $1",
        document_id,
    )
    return {row[0]: (tuple(row[1:-3]), tuple(row[-3:])) for row in rows}


async def chunks_of(connection: "asyncpg.Connection[asyncpg.Record]", document_id: str) -> set[int]:
    rows = await connection.fetch(
        "SELECT chunk_id FROM chunks JOIN documents USING (document_key, tenant) "
        "WHERE tenant = 'acme' AND document_id = $1",
        document_id,
    )
    return {row["chunk_id"] for row in rows}


async def revision(tenants: Tenants, tenant: str = "acme") -> int:
    return (await tenants.revisions([tenant]))[tenant].revision


async def found_by_words(searcher: Searcher, text: str) -> set[str]:
    answer = await searcher.search(ANA, Query(text, alpha=0, top_k=100))
    return {hit.document_id for hit in answer.hits}


async def test_a_new_document_is_embedded_chunk_by_chunk(
    writer: Writer, embedder: RecordingEmbedder
) -> None:
    written = await put(writer, LONG)

    assert written == Written("long", 1, added=20, kept=0, removed=0, embedded=20)
    assert embedder.texts == [section.strip() for section in SECTIONS]


async def test_an_unchanged_document_embeds_nothing_and_makes_no_revision(
    writer: Writer,
    embedder: RecordingEmbedder,
    tenants: Tenants,
    invalidation: RecordingInvalidation,
) -> None:
    await put(writer, LONG)
    embedder.texts.clear()
    invalidation.drained.clear()

    written = await put(writer, LONG)

    assert (written.revision, written.added, written.kept, written.removed) == (1, 0, 20, 0)
    assert (embedder.texts, invalidation.drained) == ([], [])
    assert await revision(tenants) == 1


async def test_an_edit_of_one_section_among_many_embeds_one_chunk(
    writer: Writer, embedder: RecordingEmbedder
) -> None:
    await put(writer, LONG)
    embedder.texts.clear()
    edited = LONG.text.replace("Number 7 tells", "Number 7 sings")

    written = await put(writer, replace(LONG, text=edited))

    assert written == Written("long", 2, added=1, kept=19, removed=1, embedded=1)
    assert embedder.texts == ["## Section 7\n\nNumber 7 sings of harbours."]


async def test_sections_that_change_places_embed_nothing(
    writer: Writer, embedder: RecordingEmbedder, documents: Documents
) -> None:
    await put(writer, LONG)
    embedder.texts.clear()
    turned = replace(LONG, text="".join(reversed(SECTIONS)))

    written = await put(writer, turned)

    stored = await documents.stored("acme", "long")
    assert stored is not None
    assert written == Written("long", 2, added=0, kept=20, removed=0, embedded=0)
    assert stored.chunk_ids == tuple(range(20, 0, -1))
    assert embedder.texts == []


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "Another title"},
        {"tags": ("other",)},
        {"readers": ("user:ben",)},
        {"owner": None},
        {"metadata": {"team": "sales"}},
        {"uri": "https://elsewhere.example"},
        {"source": "elsewhere"},
        {"language": "pt"},
    ],
    ids=lambda fields: next(iter(fields)),
)
async def test_what_is_not_text_changes_without_embedding(
    writer: Writer,
    embedder: RecordingEmbedder,
    documents: Documents,
    connection: "asyncpg.Connection[asyncpg.Record]",
    fields: dict[str, Any],
) -> None:
    await put(writer, LONG)
    embedder.texts.clear()
    changed = replace(LONG, **fields)

    written = await put(writer, changed)

    stored = await documents.stored("acme", "long")
    assert stored is not None
    assert stored.document == changed
    assert written == Written("long", 2, added=0, kept=20, removed=0, embedded=0)
    assert embedder.texts == []
    (_, change) = await changes_of(connection, "acme")
    kept, none = set(stored.chunk_ids), set[int]()
    touched, moved = (none, kept) if "uri" in fields else (kept, none)
    assert change == Change(2, added=none, removed=none, touched=touched, moved=moved)


async def test_an_edit_moves_what_comes_after_it_and_touches_nothing(
    writer: Writer, documents: Documents, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await put(writer, LONG)
    before = await documents.stored("acme", "long")
    assert before is not None
    edited = replace(LONG, text=LONG.text.replace("Number 7 tells", "Number seven tells"))

    await put(writer, edited)

    (_, change) = await changes_of(connection, "acme")
    assert change.removed == {before.chunk_ids[7]}
    assert change.touched == set()
    assert change.moved == set(before.chunk_ids[8:])


async def test_an_edit_after_which_every_chunk_stands_where_it_stood_moves_nothing(
    writer: Writer, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await put(writer, LONG)

    written = await put(writer, replace(LONG, text=LONG.text + "\n\n"))

    assert written.changed
    (_, change) = await changes_of(connection, "acme")
    assert change[1:] == (set(), set(), set(), set())


async def test_a_truth_value_in_the_place_of_a_number_touches_the_document_for_filters_tell_them(
    writer: Writer, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await put(writer, replace(LONG, metadata={"draft": 1}))

    await put(writer, replace(LONG, title="Another", metadata={"draft": 1}))
    await put(
        writer, replace(LONG, title="Another", text=LONG.text + "\n", metadata={"draft": True})
    )

    *_, change = await changes_of(connection, "acme")
    assert len(change.touched) == len(SECTIONS)


async def test_a_new_title_is_found_by_its_words_and_the_old_one_is_not(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, replace(LONG, title="Lighthouses"))
    before = [await found_by_words(searcher, word) for word in ("lighthouse", "windmill")]

    await put(writer, replace(LONG, title="Windmills"))

    after = [await found_by_words(searcher, word) for word in ("lighthouse", "windmill")]
    assert before == [{"long"}, set()]
    assert after == [set(), {"long"}]


async def test_a_new_language_analyses_the_stored_chunks_anew(
    writer: Writer, searcher: Searcher
) -> None:
    document = a_document("escola", "As educações.", title="Recife", language="en")
    await put(writer, document)
    before = await found_by_words(searcher, "educação")

    await put(writer, replace(document, language="pt"))

    assert (before, await found_by_words(searcher, "educação")) == (set(), {"escola"})


async def test_a_text_is_embedded_once_in_a_tenant_whichever_document_holds_it(
    writer: Writer, embedder: RecordingEmbedder
) -> None:
    await put(writer, a_document("one"))
    embedder.texts.clear()

    written = await put(writer, a_document("two"))

    assert written == Written("two", 2, added=1, kept=0, removed=0, embedded=0)
    assert embedder.texts == []


async def test_a_text_is_embedded_once_in_a_document_that_repeats_it(
    writer: Writer, embedder: RecordingEmbedder
) -> None:
    section = "# Leave\n\nAsk your team.\n\n"

    written = await put(writer, a_document("one", section * 3))

    assert written == Written("one", 1, added=3, kept=0, removed=0, embedded=1)
    assert embedder.texts == [section.strip()]


async def test_a_text_that_comes_back_after_its_removal_is_not_embedded_again(
    writer: Writer, embedder: RecordingEmbedder
) -> None:
    await put(writer, a_document("one"))
    await writer.remove("acme", "one", lambda stored: stored)
    embedder.texts.clear()

    written = await put(writer, a_document("one"))

    assert (written.revision, written.added, written.embedded) == (3, 1, 0)
    assert embedder.texts == []


async def test_what_another_tenant_embedded_is_not_used(
    writer: Writer, embedder: RecordingEmbedder
) -> None:
    await put(writer, a_document("one"), "beta")
    embedder.texts.clear()

    written = await put(writer, a_document("one"))

    assert written.embedded == len(embedder.texts) == 1


async def test_an_acknowledged_write_has_drained_every_partition_that_it_changed(
    writer: Writer, invalidation: RecordingInvalidation
) -> None:
    await put(writer, a_document("one"))
    await put(writer, a_document("two", readers=("public",)))
    await writer.put_access("acme", "two", with_readers("tenant"))
    await writer.remove("acme", "one", lambda stored: stored)

    assert invalidation.drained == [
        ("acme", {"acme": 1}),
        ("acme", {"acme": 2, "public": 1}),
        ("acme", {"acme": 3, "public": 2}),
        ("acme", {"acme": 4}),
    ]


def with_readers(*readers: str) -> Callable[[Document | None], Document]:
    def revise(document: Document | None) -> Document:
        assert document is not None
        return replace(document, readers=readers)

    return revise


async def test_access_that_is_already_so_makes_no_revision(
    writer: Writer, tenants: Tenants, invalidation: RecordingInvalidation
) -> None:
    await put(writer, LONG)
    invalidation.drained.clear()

    written = await writer.put_access("acme", "long", with_readers(*LONG.readers))

    assert (written.revision, written.kept, invalidation.drained) == (1, 20, [])
    assert await revision(tenants) == 1


async def test_new_access_embeds_nothing_and_moves_no_vector(
    writer: Writer,
    embedder: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    async def places() -> list[tuple[Any, ...]]:
        rows = await connection.fetch("SELECT chunk_id, ctid, xmin FROM chunks ORDER BY 1")
        return [tuple(row) for row in rows]

    await put(writer, LONG)
    embedder.texts.clear()
    before = await places()

    written = await writer.put_access("acme", "long", with_readers("user:ben"))

    assert written == Written("long", 2, added=0, kept=20, removed=0, embedded=0)
    assert embedder.texts == []
    assert await places() == before


async def test_removing_says_how_many_chunks_went(writer: Writer, tenants: Tenants) -> None:
    await put(writer, LONG)

    written = await writer.remove("acme", "long", lambda stored: stored)

    assert written == Written("long", 2, added=0, kept=0, removed=20, embedded=0)
    assert await revision(tenants) == 2


async def test_a_refusal_stores_nothing(
    writer: Writer, documents: Documents, tenants: Tenants, embedder: RecordingEmbedder
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
    documents: Documents,
    tenants: Tenants,
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


async def test_what_was_embedded_before_a_failure_is_not_paid_for_again(
    documents: Documents, static_embedder: StaticEmbedder, invalidation: RecordingInvalidation
) -> None:
    embedder = Faltering(static_embedder)
    writer = Writer(documents, embedder, invalidation)

    for _ in range(2):
        with pytest.raises(EmbeddingUnavailable):
            await put(writer, LONG)
    written = await put(writer, LONG)

    assert (written.added, written.embedded) == (20, 4)
    assert len(embedder.texts) == len(set(embedder.texts)) == 20


class Overtaken(Documents):
    """Documents among which somebody else gets through just before the first commit."""

    def __init__(self, database: Database, overtake: Callable[[], Awaitable[object]]) -> None:
        super().__init__(database)
        self._overtake: Callable[[], Awaitable[object]] | None = overtake

    async def apply_all(
        self, tenant: str, writes: Sequence[Write], by: By | None = None
    ) -> list[Committed | None]:
        overtake, self._overtake = self._overtake, None
        if overtake is not None:
            await overtake()
        return await super().apply_all(tenant, writes, by)


def with_line(line: str) -> Callable[[Document | None], Document]:
    """Adds a section of one line to what is stored."""

    def revise(document: Document | None) -> Document:
        if document is None:
            return a_document("log", f"# {line}\n\n")
        return replace(document, text=f"{document.text}# {line}\n\n")

    return revise


async def test_a_write_that_was_overtaken_is_planned_again_from_what_is_stored_by_then(
    database: Database, documents: Documents, writer: Writer, embedder: RecordingEmbedder
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
    database: Database, documents: Documents, writer: Writer, embedder: RecordingEmbedder
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
    database: Database, writer: Writer, embedder: RecordingEmbedder, tenants: Tenants
) -> None:
    overtaken = Overtaken(database, lambda: put(writer, LONG))

    written = await put(Writer(overtaken, embedder, RecordingInvalidation()), LONG)

    assert (written.revision, written.added, written.kept) == (1, 0, 20)
    assert await revision(tenants) == 1


class Crash(Exception):
    pass


async def test_a_crash_between_embedding_and_commit_keeps_the_vectors_and_stores_no_document(
    database: Database,
    documents: Documents,
    writer: Writer,
    embedder: RecordingEmbedder,
    tenants: Tenants,
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


async def test_twenty_writers_of_different_documents_are_all_acknowledged(
    writer: Writer, documents: Documents, connection: "asyncpg.Connection[asyncpg.Record]"
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


async def test_ten_writers_of_one_document_are_all_acknowledged_and_none_is_lost(
    writer: Writer, documents: Documents, connection: "asyncpg.Connection[asyncpg.Record]"
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


async def test_of_too_many_writers_of_one_document_the_refused_ones_stored_nothing(
    writer: Writer, documents: Documents, tenants: Tenants
) -> None:
    outcomes = await asyncio.gather(
        *(writer.put("acme", "log", with_line(f"line {number}")) for number in range(25)),
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


def lines_of(document: Document) -> list[str]:
    return document.text.split("\n\n")[:-1]


async def test_every_change_says_exactly_what_it_did_to_the_chunks(
    writer: Writer, documents: Documents, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    random = Random(2026)  # noqa: S311  the same story every time, and no secret
    revisions = {"acme": 0, "public": 0}
    for _ in range(100):
        document_id = f"d{random.randrange(4)}"
        before = await documents.stored("acme", document_id)
        looks_before = await looks_of(connection, document_id)
        changed = await write_something(writer, random, document_id, before)
        after = await documents.stored("acme", document_id)
        looks = await looks_of(connection, document_id)

        had, has = looks_before.keys(), looks.keys()
        touched = {each for each in has & had if looks[each][0] != looks_before[each][0]}
        moved = {each for each in has & had if looks[each][1] != looks_before[each][1]} - touched
        public = any("public" in stored.document.readers for stored in (before, after) if stored)
        if changed:
            for partition in ("acme", "public") if public else ("acme",):
                revisions[partition] += 1
                newest = (await changes_of(connection, partition))[-1]
                assert newest == (revisions[partition], has - had, had - has, touched, moved)
        assert await chunks_of(connection, document_id) == has
        for partition, newest_revision in revisions.items():
            changes = await changes_of(connection, partition)
            assert [change[0] for change in changes] == list(range(1, newest_revision + 1))


async def write_something(
    writer: Writer, random: Random, document_id: str, stored: Stored | None
) -> bool:
    """Write, edit, share or remove a document; returns whether that changed anything."""
    readers = random.sample(["tenant", "public", "user:ben"], k=random.randint(0, 2))
    if stored and random.random() < 0.2:
        await writer.remove("acme", document_id, lambda document: document)
        return True
    if stored and random.random() < 0.4:
        written = await writer.put_access("acme", document_id, with_readers(*readers))
        return written.changed
    text = "".join(random.choices(SECTIONS[:4], k=random.randint(0, 4)))
    fields = {
        "title": random.choice(["One", "One", "Two"]),
        "uri": random.choice(["", "", "/here"]),
    }
    document = a_document(document_id, text, readers=tuple(readers), **fields)
    return (await put(writer, document)).changed


# Several documents together.


async def put_all(writer: Writer, *documents: Document, tenant: str = "acme") -> list[Outcome]:
    """Write the documents, whatever is stored."""
    return await writer.put_all(tenant, [as_put(document) for document in documents])


def as_put(document: Document) -> Put:
    return Put(document.document_id, lambda _stored: document)


def made_of(*outcomes: Outcome) -> list[str | type]:
    """Whose document was written, or with what it failed."""
    return [
        outcome.document_id if isinstance(outcome, Written) else type(outcome)
        for outcome in outcomes
    ]


async def texts_of(documents: Documents, *document_ids: str) -> list[str | None]:
    stored = await documents.stored_all("acme", document_ids)
    return [stored[each].document.text if each in stored else None for each in document_ids]


async def test_documents_put_together_are_one_revision_and_one_drain(
    writer: Writer, tenants: Tenants, invalidation: RecordingInvalidation
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
    database_url: str, writer: Writer, embedder: RecordingEmbedder, tenants: Tenants
) -> None:
    made = [a_document(f"d{number}") for number in range(5)]
    await put_all(writer, *made)
    statements: list[str] = []
    async with connect(
        database_url,
        connections_max=1,
        statement_timeout_s=10,
        observe=lambda name, _seconds: statements.append(name),
    ) as own:
        again = Writer(Documents(own), embedder, RecordingInvalidation())

        outcomes = await put_all(again, *made)

    assert outcomes == [Written(f"d{number}", 1, changed=False, kept=1) for number in range(5)]
    assert statements == ["documents.stored"]
    assert await revision(tenants) == 1


async def test_a_refusal_among_others_stops_none_of_them(
    writer: Writer, documents: Documents
) -> None:
    def refuse(_stored: Document | None) -> Document:
        raise PermissionError

    endless = a_document("endless", "# Part\n\nText.\n\n" * 5_001)
    puts = [as_put(LONG), Put("refused", refuse), as_put(endless), as_put(a_document("last"))]

    outcomes = await writer.put_all("acme", puts)

    assert made_of(*outcomes) == ["long", PermissionError, DocumentTooLong, "last"]
    assert await documents.stored_all("acme", ["refused", "endless"]) == {}


async def test_of_two_puts_of_one_document_the_later_one_sees_the_earlier(
    writer: Writer, documents: Documents
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
    writer: Writer, documents: Documents, embedder: RecordingEmbedder, tenants: Tenants
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
    documents: Documents, static_embedder: StaticEmbedder
) -> None:
    writer = Writer(documents, Squeamish(static_embedder), RecordingInvalidation())
    texts = ["Before.", "Unspeakable.", "After."]

    outcomes = await put_all(
        writer, *(a_document(f"d{number}", text) for number, text in enumerate(texts))
    )

    assert made_of(*outcomes) == ["d0", EmbeddingUnavailable, "d2"]
    assert await texts_of(documents, "d0", "d1", "d2") == ["Before.", None, "After."]


async def test_of_documents_put_together_an_overtaken_one_alone_is_planned_again(
    database: Database, documents: Documents, writer: Writer, embedder: RecordingEmbedder
) -> None:
    await writer.put("acme", "log", with_line("first"))
    overtaken = Overtaken(database, lambda: writer.put("acme", "log", with_line("second")))
    puts = [as_put(LONG), Put("log", with_line("third")), as_put(a_document("last"))]

    outcomes = await Writer(overtaken, embedder, RecordingInvalidation()).put_all("acme", puts)

    revisions = [outcome.revision for outcome in outcomes if isinstance(outcome, Written)]
    assert revisions == [3, 4, 3]
    assert await texts_of(documents, "log") == ["# first\n\n# second\n\n# third\n\n"]


async def test_batches_that_overlap_in_opposite_order_all_end_well(
    writer: Writer, documents: Documents
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


async def test_documents_put_together_end_as_if_they_were_put_one_by_one(
    writer: Writer, documents: Documents
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
    database_url: str, embedder: RecordingEmbedder, tenants: Tenants
) -> None:
    async with connect(
        database_url,
        connections_max=1,
        statement_timeout_s=10,
        observe=lambda _name, _seconds: None,
    ) as own:
        writer = Writer(Documents(own), embedder, RecordingInvalidation())

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


async def test_a_put_that_is_cancelled_after_any_statement_is_done_whole_or_not_at_all(
    database_url: str,
    documents: Documents,
    embedder: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    canceller = Canceller()
    stored_chunks: set[int] = set()
    cancelled = 0
    async with connect(
        database_url, connections_max=1, statement_timeout_s=10, observe=canceller.observe
    ) as own:
        writer = Writer(Documents(own), embedder, RecordingInvalidation())
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
