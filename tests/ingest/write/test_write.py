"""The write path: only the change is paid for, and what is acknowledged is there, whole."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import asyncpg
import pytest

from index.documents.document_store import DocumentStore
from index.documents.stored_document import StoredDocument
from index.model.document import Document
from index.model.query import Query
from index.model.scope import everything
from index.search.searcher import Searcher
from index.tenants.tenant_store import TenantStore
from ingest.write.revision import Written
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, a_document, put
from tests.ingest.support.written import LONG, SECTIONS, WrittenChange, changes_of, revision

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", [], receives_public=True)


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
    tenants: TenantStore,
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
    writer: Writer, embedder: RecordingEmbedder, documents: DocumentStore
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


NOT_TEXT: dict[str, Any] = {
    "title": "Another title",
    "tags": ("other",),
    "readers": ("user:ben",),
    "owner": None,
    "metadata": {"team": "sales"},
    "uri": "https://elsewhere.example",
    "source": "elsewhere",
    "language": "fi",
}


async def test_what_is_not_text_changes_without_embedding(
    writer: Writer,
    embedder: RecordingEmbedder,
    documents: DocumentStore,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await put(writer, LONG)
    embedder.texts.clear()
    document = LONG
    for revision_after, (field, value) in enumerate(NOT_TEXT.items(), start=2):
        document = replace(document, **{field: value})

        written = await put(writer, document)

        stored = await documents.stored("acme", "long")
        assert stored is not None
        assert stored.document == document
        assert written == Written("long", revision_after, added=0, kept=20, removed=0, embedded=0)
        assert embedder.texts == [], field
        *_, change = await changes_of(connection, "acme")
        kept, none = set(stored.chunk_ids), set[int]()
        touched, moved = (none, kept) if field == "uri" else (kept, none)
        assert change == WrittenChange(
            revision_after, added=none, removed=none, touched=touched, moved=moved
        ), field


async def test_an_edit_moves_what_comes_after_it_and_touches_nothing(
    writer: Writer, documents: DocumentStore, connection: "asyncpg.Connection[asyncpg.Record]"
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    writer: Writer, tenants: TenantStore, invalidation: RecordingInvalidation
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


async def test_removing_says_how_many_chunks_went(writer: Writer, tenants: TenantStore) -> None:
    await put(writer, LONG)

    written = await writer.remove("acme", "long", lambda stored: stored)

    assert written == Written("long", 2, added=0, kept=0, removed=20, embedded=0)
    assert await revision(tenants) == 2


@pytest.mark.slow
async def test_every_change_says_exactly_what_it_did_to_the_chunks(
    writer: Writer, documents: DocumentStore, connection: "asyncpg.Connection[asyncpg.Record]"
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
    writer: Writer, random: Random, document_id: str, stored: StoredDocument | None
) -> bool:
    """Write, edit, share or remove a document; returns whether that changed anything."""
    readers = random.sample(["tenant", "public", "user:ben"], k=random.randint(0, 2))
    if stored and random.random() < 0.2:
        await writer.remove("acme", document_id, lambda document: document)
        return True
    if stored and random.random() < 0.4:
        written = await writer.put_access(
            "acme", document_id, with_readers(*readers), may_publish=True
        )
        return written.changed
    text = "".join(random.choices(SECTIONS[:4], k=random.randint(0, 4)))
    fields = {
        "title": random.choice(["One", "One", "Two"]),
        "uri": random.choice(["", "", "/here"]),
    }
    document = a_document(document_id, text, readers=tuple(readers), **fields)
    return (await put(writer, document)).changed
