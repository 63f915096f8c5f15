"""Documents at rest: whole commits, counted without gaps, refused where the plan is out of date."""

from dataclasses import replace
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pgvector import SparseVector

from index.documents.chunk_store import KeptChunk
from index.documents.document_store import DocumentStore
from index.documents.document_writes import DocumentWrite
from index.documents.visible_documents import VisibleDocuments
from index.model.document import METADATA_INTEGER_MAX, normalise
from index.model.query import Filter
from index.model.scope import everything
from index.text.lexical import DIMENSION
from tests.index.support.commits import (
    Rows,
    a_chunk,
    a_write,
    apply,
    digest,
    revisions_of,
    write_again,
    written,
)
from tests.index.support.samples import a_document
from tests.sampling import examples

pytestmark = pytest.mark.anyio

lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-METADATA_INTEGER_MAX, METADATA_INTEGER_MAX)
    | st.floats(-1e15, 1e15)
    | lines
)
metadata = st.dictionaries(lines, scalars | st.lists(scalars, max_size=3), max_size=4)


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(max_size=100).map(normalise), title=lines, tag=lines, metadata=metadata)
async def test_a_document_is_read_as_it_was_written(
    documents: DocumentStore,
    visible_documents: VisibleDocuments,
    text: str,
    title: str,
    tag: str,
    metadata: dict[str, Any],
) -> None:
    stored = await documents.stored("acme", "leave")
    document = a_document("leave", text, title=title, tags=(tag, "b"), metadata=metadata)

    await apply(documents, "acme", a_write(document, version=stored.version if stored else 0))

    after = await documents.stored("acme", "leave")
    assert after is not None
    assert after.document == document
    ana = everything("acme", "ana", [], receives_public=True)
    shown = await visible_documents.read(ana, Filter(), "leave")
    assert shown is not None
    assert shown.document == after.document


async def test_a_stored_document_knows_its_chunks_in_the_order_of_the_text(
    documents: DocumentStore,
) -> None:
    chunks = [a_chunk("third", 20), a_chunk("first", 0), a_chunk("second", 10)]
    committed = await apply(
        documents, "acme", DocumentWrite(a_document("leave"), 0, chunks, [], [])
    )

    stored = await documents.stored("acme", "leave")

    assert stored is not None
    assert committed is not None
    assert committed.revisions == {"acme": 1}
    assert stored.digests == (digest("first"), digest("second"), digest("third"))
    assert stored.chunk_ids == (2, 3, 1)
    assert stored.revision == 1


async def test_each_change_says_what_it_added_removed_and_touched(
    documents: DocumentStore, rows: Rows
) -> None:
    first = await written(documents, a_document("leave"), "a", "b", "c")
    a, b, c = first.chunk_ids
    kept = [KeptChunk(c, digest("c"), 0, 1, "c", None)]
    edited = a_write(
        a_document("leave"), version=first.version, added=["d"], kept=kept, removed=[a, b]
    )

    await apply(documents, "acme", edited)
    second = await documents.stored("acme", "leave")
    assert second is not None
    (d,) = set(second.chunk_ids) - {c}
    await documents.put_access("acme", second, replace(second.document, owner="ben", readers=()))
    third = await documents.stored("acme", "leave")
    assert third is not None
    await documents.remove("acme", third)

    changes = [(number, *map(sorted, ids)) for number, *ids in await rows.changes("acme")]
    assert changes == [
        (1, [a, b, c], [], []),
        (2, [d], [a, b], [c]),
        (3, [], [], sorted([c, d])),
        (4, [], sorted([c, d]), []),
    ]


@pytest.mark.parametrize("is_known", [True, False])
async def test_of_kept_chunks_those_are_touched_of_which_more_than_the_place_may_have_changed(
    documents: DocumentStore, connection: "asyncpg.Connection[asyncpg.Record]", *, is_known: bool
) -> None:
    public = a_document("leave", readers=("public",))
    stored = await written(documents, public, "a", "b", "c")
    a, b, c = stored.chunk_ids
    words = SparseVector({2: 1.0}, DIMENSION)
    kept = [
        KeptChunk(a, digest("a"), 0, 1, "a", None),
        KeptChunk(b, digest("b"), 7, 8, "b", None),
        KeptChunk(c, digest("c"), 9, 10, "c", words),
    ]

    was = public if is_known else None
    await apply(documents, "acme", a_write(public, version=stored.version, kept=kept, stored=was))

    rows = await connection.fetch(
        "SELECT updated_chunks, repositioned_chunks, document_keys FROM change_log"
        " WHERE revision = 2 ORDER BY tenant"
    )
    key = await connection.fetchval("SELECT document_key FROM documents")
    expected = ([c], [b], [key]) if is_known else ([a, b, c], [], [key])
    assert [tuple(row) for row in rows] == [expected, expected]


async def test_every_way_to_change_a_document_names_it(
    documents: DocumentStore, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await written(documents, a_document("other"), "a")
    stored = await written(documents, a_document("leave"), "a")
    key = await connection.fetchval(
        "SELECT document_key FROM documents WHERE document_id = 'leave'"
    )
    await documents.put_access("acme", stored, replace(stored.document, owner="ben", readers=()))
    stored = await documents.stored("acme", "leave") or stored
    await documents.remove("acme", stored)

    rows = await connection.fetch("SELECT document_keys FROM change_log ORDER BY revision OFFSET 1")

    assert [row["document_keys"] for row in rows] == [[key]] * 3


async def test_a_kept_chunk_moves_without_its_vectors_being_written_again(
    documents: DocumentStore, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a")
    before = await rows.places("chunks")
    kept = [KeptChunk(stored.chunk_ids[0], digest("a"), 7, 8, "a", None)]

    await apply(
        documents,
        "acme",
        a_write(a_document("leave"), version=stored.version, added=["b"], kept=kept),
    )

    after = await documents.stored("acme", "leave")
    assert after is not None
    assert after.digests == (digest("b"), digest("a"))
    assert (await rows.places("chunks"))[:1] == before


async def test_new_access_writes_no_chunk_and_no_chunk_text_again(
    documents: DocumentStore, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a", "b")
    before = [await rows.places(table) for table in ("chunks", "chunk_texts", "document_texts")]

    await documents.put_access(
        "acme", stored, replace(stored.document, owner="ben", readers=("public",))
    )

    after = await documents.stored("acme", "leave")
    assert after is not None
    assert (after.document.owner, after.document.readers) == ("ben", ("public",))
    assert [
        await rows.places(table) for table in ("chunks", "chunk_texts", "document_texts")
    ] == before


async def test_a_removed_document_leaves_nothing_behind(
    documents: DocumentStore, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a", "b")

    await documents.remove("acme", stored)

    assert await documents.stored("acme", "leave") is None
    for table in ("documents", "document_texts", "chunks", "chunk_texts"):
        assert await rows.count(table) == 0


async def test_a_removed_chunk_leaves_no_chunk_text_behind(
    documents: DocumentStore, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a", "b")

    await apply(
        documents,
        "acme",
        a_write(a_document("leave"), version=stored.version, removed=stored.chunk_ids),
    )

    assert await rows.count("chunks") == await rows.count("chunk_texts") == 0


async def test_a_version_never_comes_back(documents: DocumentStore) -> None:
    versions = []
    for _ in range(3):
        stored = await written(documents, a_document("leave"), "a")
        versions.append(stored.version)
        await documents.remove("acme", stored)

    assert len(set(versions)) == 3


@pytest.mark.parametrize(
    ("before", "after", "is_public"),
    [
        ("tenant", "tenant", False),
        ("tenant", "public", True),
        ("public", "public", True),
        ("public", "tenant", True),
    ],
)
@pytest.mark.parametrize("how", ["apply", "put_access"])
async def test_a_commit_raises_the_public_revision_too_if_the_document_is_or_was_public(
    documents: DocumentStore, rows: Rows, before: str, after: str, how: str, *, is_public: bool
) -> None:
    stored = await written(documents, a_document("leave", readers=(before,)), "a")
    (public_before, acme_before) = [len(await rows.changes(name)) for name in ("public", "acme")]
    kept = [KeptChunk(stored.chunk_ids[0], digest("a"), 0, 1, "a", None)]

    if how == "apply":
        document = replace(stored.document, readers=(after,))
        committed = await apply(
            documents, "acme", a_write(document, version=stored.version, kept=kept)
        )
    else:
        committed = await documents.put_access(
            "acme", stored, replace(stored.document, owner=None, readers=(after,))
        )

    assert committed is not None
    assert committed.revisions == {"acme": 2} | ({"public": public_before + 1} if is_public else {})
    public_changes, acme_changes = await rows.changes("public"), await rows.changes("acme")
    assert len(public_changes) - public_before == is_public
    assert len(acme_changes) - acme_before == 1
    assert acme_changes[-1][1:] == ([], [], list(stored.chunk_ids))
    if is_public:
        assert public_changes[-1][1:] == acme_changes[-1][1:]


@pytest.mark.parametrize("reader", ["public", "tenant"])
async def test_removing_raises_the_public_revision_too_if_the_document_was_public(
    documents: DocumentStore, rows: Rows, reader: str
) -> None:
    stored = await written(documents, a_document("leave", readers=(reader,)), "a")

    committed = await documents.remove("acme", stored)

    assert committed is not None
    assert committed.revisions == {"acme": 2} | ({"public": 2} if reader == "public" else {})
    if reader == "public":
        assert (await rows.changes("public"))[-1] == (2, [], list(stored.chunk_ids), [])


async def test_the_outbox_keeps_the_last_ten_thousand_changes(
    documents: DocumentStore, rows: Rows, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await connection.execute(
        "INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks) "
        "SELECT 'acme', number, '{}', '{}', '{}' FROM generate_series(1, 10002) AS number"
    )
    await connection.execute("UPDATE tenants SET revision = 10002 WHERE tenant = 'acme'")

    await written(documents, a_document("leave"), "a")

    revisions = [change[0] for change in await rows.changes("acme")]
    assert revisions == list(range(4, 10_004))


async def test_documents_that_have_changed_since_are_left_out_of_a_commit_of_several(
    documents: DocumentStore, rows: Rows
) -> None:
    stored = await written(documents, a_document("old"), "a")
    await write_again(documents, stored)
    before = await documents.stored("acme", "old")
    writes = [
        a_write(a_document("new"), added=["b"]),
        a_write(a_document("old", title="Late"), version=stored.version, added=["c"]),
        a_write(a_document("gone"), version=stored.version, added=["d"]),
    ]

    committed = await documents.apply_all("acme", writes)

    assert [revisions_of(one) for one in committed] == [{"acme": 3}, None, None]
    assert before is not None
    assert await documents.stored("acme", "old") == replace(before, revision=3)
    assert await documents.stored("acme", "gone") is None
    assert await documents.stored("acme", "new") is not None
    assert [change[0] for change in await rows.changes("acme")] == [1, 2, 3]
