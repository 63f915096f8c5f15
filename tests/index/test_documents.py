"""Documents at rest: whole commits, counted without gaps, refused where the plan is out of date."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import asyncpg
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pgvector import HalfVector, SparseVector

from index import statements
from index.chunk_rows import Added, Kept
from index.database import Database
from index.document import METADATA_INTEGER_MAX, Document, normalise
from index.documents import Committed, Documents, Stored, Write
from index.lexical import DIMENSION
from index.query import Filter
from index.scope import Scope, everything, resolve
from index.tenants import Tenants
from tests.index.samples import a_document

pytestmark = pytest.mark.anyio

STORED = statements.load()["documents.stored"]
Change = Callable[[Documents, Stored], Awaitable[Committed | None]]


async def apply(documents: Documents, tenant: str, write: Write) -> Committed | None:
    (committed,) = await documents.apply_all(tenant, [write])
    return committed


def a_chunk(text: str, start: int = 0) -> Added:
    return Added(
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
    kept: Sequence[Kept] = (),
    removed: Sequence[int] = (),
    stored: Document | None = None,
) -> Write:
    chunks = [a_chunk(text) for text in added]
    return Write(document, version, chunks, kept, removed, stored=stored)


async def written(documents: Documents, document: Document, *texts: str) -> Stored:
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
        """Revision, added, removed and touched of each change."""
        rows = await self._connection.fetch(
            "SELECT revision, added, removed, touched FROM changes WHERE tenant = $1 ORDER BY 1",
            tenant,
        )
        return [tuple(row) for row in rows]

    async def places(self, table: str) -> list[tuple[Any, ...]]:
        """Where each row of a table lies, and which transaction put it there."""
        rows = await self._connection.fetch(f"SELECT ctid, xmin FROM {table} ORDER BY 1")  # noqa: S608  ours
        return [tuple(row) for row in rows]

    async def count(self, table: str) -> int:
        return int(await self._connection.fetchval(f"SELECT count(*) FROM {table}"))  # noqa: S608  ours


@pytest.fixture
def rows(connection: "asyncpg.Connection[asyncpg.Record]") -> Rows:
    return Rows(connection)


async def revision(tenants: Tenants, tenant: str) -> int:
    return (await tenants.revisions([tenant]))[tenant].revision


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
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(max_size=100).map(normalise), title=lines, tag=lines, metadata=metadata)
async def test_a_document_is_read_as_it_was_written(
    documents: Documents, text: str, title: str, tag: str, metadata: dict[str, Any]
) -> None:
    stored = await documents.stored("acme", "leave")
    document = a_document("leave", text, title=title, tags=(tag, "b"), metadata=metadata)

    await apply(documents, "acme", a_write(document, version=stored.version if stored else 0))

    after = await documents.stored("acme", "leave")
    assert after is not None
    assert after.document == document
    assert await documents.read(everything("acme", "ana", []), Filter(), "leave") == after.document


async def test_a_stored_document_knows_its_chunks_in_the_order_of_the_text(
    documents: Documents,
) -> None:
    chunks = [a_chunk("third", 20), a_chunk("first", 0), a_chunk("second", 10)]
    committed = await apply(documents, "acme", Write(a_document("leave"), 0, chunks, [], []))

    stored = await documents.stored("acme", "leave")

    assert stored is not None
    assert committed == Committed({"acme": 1})
    assert stored.digests == (digest("first"), digest("second"), digest("third"))
    assert stored.chunk_ids == (2, 3, 1)
    assert stored.revision == 1


async def test_each_change_says_what_it_added_removed_and_touched(
    documents: Documents, rows: Rows
) -> None:
    first = await written(documents, a_document("leave"), "a", "b", "c")
    a, b, c = first.chunk_ids
    kept = [Kept(c, digest("c"), 0, 1, "c", None)]
    edited = a_write(
        a_document("leave"), version=first.version, added=["d"], kept=kept, removed=[a, b]
    )

    await apply(documents, "acme", edited)
    second = await documents.stored("acme", "leave")
    assert second is not None
    (d,) = set(second.chunk_ids) - {c}
    await documents.put_access("acme", second, owner="ben", readers=[])
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
    documents: Documents, connection: "asyncpg.Connection[asyncpg.Record]", *, is_known: bool
) -> None:
    public = a_document("leave", readers=("public",))
    stored = await written(documents, public, "a", "b", "c")
    a, b, c = stored.chunk_ids
    words = SparseVector({2: 1.0}, DIMENSION)
    kept = [
        Kept(a, digest("a"), 0, 1, "a", None),
        Kept(b, digest("b"), 7, 8, "b", None),
        Kept(c, digest("c"), 9, 10, "c", words),
    ]

    was = public if is_known else None
    await apply(documents, "acme", a_write(public, version=stored.version, kept=kept, stored=was))

    rows = await connection.fetch(
        "SELECT touched, moved, documents FROM changes WHERE revision = 2 ORDER BY tenant"
    )
    key = await connection.fetchval("SELECT document_key FROM documents")
    expected = ([c], [b], [key]) if is_known else ([a, b, c], [], [key])
    assert [tuple(row) for row in rows] == [expected, expected]


async def test_every_way_to_change_a_document_names_it(
    documents: Documents, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await written(documents, a_document("other"), "a")
    stored = await written(documents, a_document("leave"), "a")
    key = await connection.fetchval(
        "SELECT document_key FROM documents WHERE document_id = 'leave'"
    )
    await documents.put_access("acme", stored, owner="ben", readers=[])
    stored = await documents.stored("acme", "leave") or stored
    await documents.remove("acme", stored)

    rows = await connection.fetch("SELECT documents FROM changes ORDER BY revision OFFSET 1")

    assert [row["documents"] for row in rows] == [[key]] * 3


async def test_a_kept_chunk_moves_without_its_vectors_being_written_again(
    documents: Documents, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a")
    before = await rows.places("chunks")
    kept = [Kept(stored.chunk_ids[0], digest("a"), 7, 8, "a", None)]

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
    documents: Documents, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a", "b")
    before = [await rows.places(table) for table in ("chunks", "chunk_texts", "texts")]

    await documents.put_access("acme", stored, owner="ben", readers=["public"])

    after = await documents.stored("acme", "leave")
    assert after is not None
    assert (after.document.owner, after.document.readers) == ("ben", ("public",))
    assert [await rows.places(table) for table in ("chunks", "chunk_texts", "texts")] == before


async def test_a_removed_document_leaves_nothing_behind(documents: Documents, rows: Rows) -> None:
    stored = await written(documents, a_document("leave"), "a", "b")

    await documents.remove("acme", stored)

    assert await documents.stored("acme", "leave") is None
    for table in ("documents", "texts", "chunks", "chunk_texts"):
        assert await rows.count(table) == 0


async def test_a_removed_chunk_leaves_no_chunk_text_behind(
    documents: Documents, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a", "b")

    await apply(
        documents,
        "acme",
        a_write(a_document("leave"), version=stored.version, removed=stored.chunk_ids),
    )

    assert await rows.count("chunks") == await rows.count("chunk_texts") == 0


async def test_a_version_never_comes_back(documents: Documents) -> None:
    versions = []
    for _ in range(3):
        stored = await written(documents, a_document("leave"), "a")
        versions.append(stored.version)
        await documents.remove("acme", stored)

    assert len(set(versions)) == 3


async def write_again(documents: Documents, stored: Stored) -> Committed | None:
    late = a_write(stored.document, version=stored.version, added=["late"])
    return await apply(documents, "acme", late)


async def share(documents: Documents, stored: Stored) -> Committed | None:
    return await documents.put_access("acme", stored, owner="eve", readers=["public"])


async def remove(documents: Documents, stored: Stored) -> Committed | None:
    return await documents.remove("acme", stored)


async def remove_and_write_again(documents: Documents, stored: Stored) -> Committed | None:
    await documents.remove("acme", stored)
    return await apply(documents, "acme", a_write(stored.document, added=["a"]))


@pytest.mark.parametrize("between", [write_again, share, remove, remove_and_write_again])
async def test_what_was_planned_from_a_version_that_is_gone_is_refused_and_changes_nothing(
    documents: Documents, tenants: Tenants, rows: Rows, between: Change
) -> None:
    planned_from = await written(documents, a_document("leave"), "a")
    assert await between(documents, planned_from) is not None
    before = await documents.stored("acme", "leave")
    changes = await rows.changes("acme")

    for late in (write_again, share, remove):
        assert await late(documents, planned_from) is None

    assert await documents.stored("acme", "leave") == before
    assert await rows.changes("acme") == changes
    assert await revision(tenants, "public") == (1 if between is share else 0)


async def test_a_new_document_that_another_writer_stored_first_is_refused(
    documents: Documents,
) -> None:
    await written(documents, a_document("leave"), "a")

    assert await apply(documents, "acme", a_write(a_document("leave"), added=["b"])) is None


async def test_a_next_version_of_a_document_that_was_never_there_is_refused(
    documents: Documents, tenants: Tenants
) -> None:
    assert await apply(documents, "acme", a_write(a_document("leave"), version=1)) is None
    assert await revision(tenants, "acme") == 0


async def test_of_writers_that_planned_from_the_same_version_one_is_let_through(
    documents: Documents, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a")

    outcomes = await asyncio.gather(*(write_again(documents, stored) for _ in range(10)))

    assert [outcome for outcome in outcomes if outcome] == [Committed({"acme": 2})]
    assert await rows.count("chunks") == 2


async def test_twenty_writers_at_once_raise_the_revision_one_by_one(
    documents: Documents, rows: Rows
) -> None:
    committed = await asyncio.gather(
        *(
            apply(documents, "acme", a_write(a_document(f"d{number}"), added=[f"text {number}"]))
            for number in range(20)
        )
    )

    revisions = [commit.revisions["acme"] for commit in committed if commit]
    changes = {change[0]: change[1:] for change in await rows.changes("acme")}
    assert sorted(revisions) == sorted(changes) == list(range(1, 21))
    for number, made in enumerate(revisions):
        stored = await documents.stored("acme", f"d{number}")
        assert stored is not None
        assert changes[made] == (list(stored.chunk_ids), [], [])


async def test_writers_of_the_same_new_sources_take_them_in_one_order(
    documents: Documents, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    writes = [a_write(a_document(source, source=source), added=["a"]) for source in ("b", "a")]

    async with connection.transaction():  # another writer, who has come as far as source a
        await connection.execute(_ADD_SOURCE, "a")
        writing = asyncio.create_task(documents.apply_all("acme", writes))
        async with asyncio.timeout(10):
            while not await connection.fetchval(_SOMEBODY_WAITS):
                await asyncio.sleep(0.005)
        await connection.execute(_ADD_SOURCE, "b")

    assert await writing == [Committed({"acme": 1})] * 2


_SOMEBODY_WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
_ADD_SOURCE = "INSERT INTO sources (tenant, source) VALUES ('acme', $1) ON CONFLICT DO NOTHING"


async def test_a_look_up_of_several_reads_none_but_those(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: Tenants
) -> None:
    # Without statistics, as after a first ingestion, and then with them.
    await connection.execute(_MANY_DOCUMENTS)

    fresh = await plan_of_stored(database)
    await connection.execute("ANALYZE documents, texts, chunk_texts")
    analysed = await plan_of_stored(database)

    for plan in fresh, analysed:
        assert "Index Scan using documents_tenant_document_id_key" in plan
        assert "Index Scan using texts_pkey" in plan
        assert "Index Scan using chunk_texts_document" in plan
        assert "Seq Scan" not in plan


_MANY_DOCUMENTS = """
    INSERT INTO sources (tenant, source) VALUES ('acme', 's');
    INSERT INTO documents
        (tenant, document_id, source, title, uri, language, tags, metadata, readers, chunks)
    SELECT 'acme', 'd' || number, 's', '', '', 'en', '{}', '{}', '{}', 1
    FROM generate_series(1, 20000) AS number;
    INSERT INTO texts (document_key, text) SELECT document_key, '' FROM documents;
    INSERT INTO chunk_texts (chunk_id, document_key, digest, start_at, end_at, text)
    SELECT nextval('chunk_ids'), document_key, '', 0, 1, 'x' FROM documents;
"""


async def plan_of_stored(database: Database) -> str:
    async with database.session() as session:
        rows = await session.connection.fetch(f"EXPLAIN {STORED}", "acme", ["d1", "d2"])
    return "\n".join(row[0] for row in rows)


async def test_writers_of_public_documents_in_two_tenants_do_not_wait_for_each_other_forever(
    documents: Documents, rows: Rows
) -> None:
    def document(number: int) -> Document:
        return a_document(f"d{number}", source=f"s{number % 3}", readers=("public",))

    await asyncio.gather(
        *(
            apply(documents, ("acme", "beta")[number % 2], a_write(document(number), added=["a"]))
            for number in range(40)
        )
    )

    for tenant, count in (("acme", 20), ("beta", 20), ("public", 40)):
        assert [change[0] for change in await rows.changes(tenant)] == list(range(1, count + 1))


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
    documents: Documents, rows: Rows, before: str, after: str, how: str, *, is_public: bool
) -> None:
    stored = await written(documents, a_document("leave", readers=(before,)), "a")
    (public_before, acme_before) = [len(await rows.changes(name)) for name in ("public", "acme")]
    kept = [Kept(stored.chunk_ids[0], digest("a"), 0, 1, "a", None)]

    if how == "apply":
        document = replace(stored.document, readers=(after,))
        committed = await apply(
            documents, "acme", a_write(document, version=stored.version, kept=kept)
        )
    else:
        committed = await documents.put_access("acme", stored, owner=None, readers=[after])

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
    documents: Documents, rows: Rows, reader: str
) -> None:
    stored = await written(documents, a_document("leave", readers=(reader,)), "a")

    committed = await documents.remove("acme", stored)

    assert committed == Committed({"acme": 2} | ({"public": 2} if reader == "public" else {}))
    if reader == "public":
        assert (await rows.changes("public"))[-1] == (2, [], list(stored.chunk_ids), [])


async def test_the_outbox_keeps_the_last_ten_thousand_changes(
    documents: Documents, rows: Rows, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await connection.execute(
        "INSERT INTO changes (tenant, revision, added, removed, touched) "
        "SELECT 'acme', number, '{}', '{}', '{}' FROM generate_series(1, 10002) AS number"
    )
    await connection.execute("UPDATE tenants SET revision = 10002 WHERE tenant = 'acme'")

    await written(documents, a_document("leave"), "a")

    revisions = [change[0] for change in await rows.changes("acme")]
    assert revisions == list(range(4, 10_004))


async def test_only_what_the_grants_admit_is_read_and_listed(documents: Documents) -> None:
    for document_id, owner, readers in (
        ("a-own", "ana", ()),
        ("b-named", "ben", ("user:ana",)),
        ("c-group", None, ("group:sales",)),
        ("d-tenant", None, ("tenant",)),
        ("e-public", None, ("public",)),
        ("f-other", "ben", ("user:ben", "group:ops")),
        ("g-nobody", None, ()),
    ):
        await written(documents, a_document(document_id, owner=owner, readers=readers))
    ana = everything("acme", "ana", ["sales"])

    async def listed(scope: Scope) -> list[str]:
        page = await documents.page(scope, Filter(), after="", source=None, limit=100)
        return [document.document_id for document in page]

    mine = ["a-own", "b-named", "c-group", "d-tenant", "e-public"]
    assert await listed(ana) == mine
    assert await listed(resolve("acme", "ana", [], ["private"])) == ["a-own"]
    assert await listed(everything("beta", "ana", ["sales"])) == []
    assert [
        name for name in [*mine, "f-other", "g-nobody"] if await documents.read(ana, Filter(), name)
    ] == (mine)
    assert await documents.read(everything("beta", "ana", ["sales"]), Filter(), "a-own") is None


async def test_sources_are_counted_by_what_the_grants_and_the_filter_let_through(
    documents: Documents,
) -> None:
    for name, source, readers in (
        ("a", "wiki", ("user:ana",)),
        ("b", "wiki", ("tenant",)),
        ("c", "wiki", ("user:ben",)),
        ("d", "mail", ("user:ben",)),
        ("e", "chat", ("tenant",)),
    ):
        await written(documents, a_document(name, source=source, owner=None, readers=readers))
    ana = everything("acme", "ana", [])

    assert await documents.sources(ana, Filter(), limit=9) == {"chat": 1, "wiki": 2}
    assert await documents.sources(ana, Filter(), limit=1) == {"chat": 1}
    assert await documents.sources(ana, Filter(sources=("wiki",)), limit=9) == {"wiki": 2}
    assert await documents.sources(everything("beta", "ana", []), Filter(), limit=9) == {}


async def test_what_others_have_made_public_is_read_if_the_tenant_has_nothing_of_the_name(
    documents: Documents,
) -> None:
    await written(documents, a_document("both", title="acme's", owner="ana", readers=()))
    for name, reader in (("both", "public"), ("theirs", "public"), ("shut", "tenant")):
        theirs = a_document(name, title="beta's", owner=None, readers=(reader,))
        assert await apply(documents, "beta", a_write(theirs)) is not None
    ana = everything("acme", "ana", [])

    titles = {}
    for name in ("both", "theirs", "shut"):
        found = await documents.read_any(ana, Filter(), name)
        titles[name] = found.title if found else None

    assert titles == {"both": "acme's", "theirs": "beta's", "shut": None}
    narrow = resolve("acme", "ana", [], ["private", "shared", "tenant"])
    assert await documents.read_any(narrow, Filter(), "theirs") is None
    assert await documents.read_any(ana, Filter(sources=("elsewhere",)), "theirs") is None


async def test_pages_go_by_identifier_without_texts_and_meet_no_document_twice(
    documents: Documents,
) -> None:
    for number in range(5):
        source = "mail" if number == 2 else "wiki"
        await written(documents, a_document(f"d{number}", source=source))
    ana = everything("acme", "ana", [])

    first = await documents.page(ana, Filter(), after="", source=None, limit=2)
    second = await documents.page(ana, Filter(), after="d1", source=None, limit=2)
    last = await documents.page(ana, Filter(), after="d3", source=None, limit=2)
    of_mail = await documents.page(ana, Filter(), after="", source="mail", limit=2)

    assert [document.document_id for document in first] == ["d0", "d1"]
    assert [document.document_id for document in second] == ["d2", "d3"]
    assert [document.document_id for document in last] == ["d4"]
    assert [document.document_id for document in of_mail] == ["d2"]
    assert {document.text for document in first} == {""}
    assert await documents.of_source("acme", "wiki") == ["d0", "d1", "d3", "d4"]
    assert await documents.of_source("beta", "wiki") == []


async def test_embeddings_are_known_within_their_tenant_and_space(documents: Documents) -> None:
    vector = HalfVector([0.5, 0.5, 0.5, 0.5])
    await documents.keep_embeddings("acme", "one-space", {digest("a"): vector})
    await documents.keep_embeddings("acme", "one-space", {digest("a"): vector})

    async def known(tenant: str, space: str) -> dict[bytes, HalfVector]:
        return await documents.known_embeddings(tenant, space, [digest("a"), digest("b")])

    assert await known("acme", "one-space") == {digest("a"): vector}
    assert await known("acme", "other-space") == {}
    assert await known("beta", "one-space") == {}


async def test_several_documents_are_one_revision_and_one_change(
    documents: Documents, rows: Rows
) -> None:
    kept_of = await written(documents, a_document("kept"), "a", "b")
    a, b = kept_of.chunk_ids
    writes = [
        a_write(a_document("new"), added=["c", "d"]),
        a_write(
            a_document("kept"),
            version=kept_of.version,
            added=["e"],
            kept=[Kept(a, digest("a"), 0, 1, "a", None)],
            removed=[b],
        ),
        a_write(a_document("empty")),
    ]

    committed = await documents.apply_all("acme", writes)

    assert committed == [Committed({"acme": 2})] * 3
    new, kept = await documents.stored("acme", "new"), await documents.stored("acme", "kept")
    assert new is not None
    assert kept is not None
    (e,) = set(kept.chunk_ids) - {a}
    assert new.digests == (digest("c"), digest("d"))
    assert (await rows.changes("acme"))[1:] == [(2, [*new.chunk_ids, e], [b], [a])]
    assert await documents.stored("acme", "empty") is not None


async def test_of_several_documents_only_the_public_ones_are_in_the_public_change(
    documents: Documents, rows: Rows
) -> None:
    writes = [
        a_write(a_document("ours"), added=["a"]),
        a_write(a_document("all", readers=("public",)), added=["b"]),
    ]

    committed = await documents.apply_all("acme", writes)

    shared = await documents.stored("acme", "all")
    assert shared is not None
    assert committed == [Committed({"acme": 1, "public": 1})] * 2
    assert await rows.changes("public") == [(1, list(shared.chunk_ids), [], [])]


async def test_documents_that_have_changed_since_are_left_out_of_a_commit_of_several(
    documents: Documents, rows: Rows
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

    assert committed == [Committed({"acme": 3}), None, None]
    assert before is not None
    assert await documents.stored("acme", "old") == replace(before, revision=3)
    assert await documents.stored("acme", "gone") is None
    assert await documents.stored("acme", "new") is not None
    assert [change[0] for change in await rows.changes("acme")] == [1, 2, 3]


async def test_a_commit_of_several_documents_that_all_have_changed_since_makes_no_revision(
    documents: Documents, tenants: Tenants
) -> None:
    writes = [a_write(a_document(f"d{number}"), version=7, added=["a"]) for number in range(3)]

    assert await documents.apply_all("acme", writes) == [None] * 3
    assert await revision(tenants, "acme") == 0


async def test_several_documents_are_committed_together_or_not_at_all(
    documents: Documents, rows: Rows, tenants: Tenants
) -> None:
    broken = replace(a_chunk("b"), lexical=SparseVector({1: float("nan")}, DIMENSION))
    writes = [
        a_write(a_document("first"), added=["a"]),
        Write(a_document("second"), 0, [broken], [], []),
    ]

    with pytest.raises(asyncpg.DataError):
        await documents.apply_all("acme", writes)

    for table in ("documents", "texts", "chunks", "chunk_texts", "sources", "changes"):
        assert await rows.count(table) == 0
    assert await revision(tenants, "acme") == 0


async def test_writers_of_the_same_documents_in_other_orders_do_not_wait_for_each_other_forever(
    documents: Documents, rows: Rows
) -> None:
    names = [f"d{number}" for number in range(20)]
    orders = [names, names[::-1], names[10:] + names[:10]]

    outcomes = await asyncio.gather(
        *(
            documents.apply_all("acme", [a_write(a_document(name), added=["a"]) for name in order])
            for order in orders
        )
    )

    assert sorted(outcome.count(None) for outcome in outcomes) == [0, 20, 20]
    assert await rows.count("documents") == await rows.count("chunks") == 20


names = st.sampled_from(["a", "b", "c"])
readers = st.sampled_from([(), ("tenant",), ("public",), ("public", "tenant")])
writes = st.tuples(names, st.integers(0, 4), readers)
steps = st.one_of(
    st.tuples(st.just("write"), st.lists(writes, min_size=1, max_size=3, unique_by=lambda w: w[0])),
    st.tuples(st.just("share"), names, readers),
    st.tuples(st.just("remove"), names),
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(taken=st.lists(st.tuples(st.sampled_from(["acme", "beta"]), steps), max_size=12))
async def test_after_any_changes_the_counters_say_what_counting_says(
    documents: Documents,
    connection: "asyncpg.Connection[asyncpg.Record]",
    taken: Sequence[tuple[str, tuple[Any, ...]]],
) -> None:
    for tenant, step in taken:
        await take(documents, tenant, step)

        assert await counters(connection) == await counted(connection)


async def take(documents: Documents, tenant: str, step: tuple[Any, ...]) -> None:
    match step:
        case ("write", writes):
            planned = [await plan(documents, tenant, *write) for write in writes]
            assert None not in await documents.apply_all(tenant, planned)
        case ("share", name, to):
            stored = await documents.stored(tenant, name)
            if stored is not None:
                assert await documents.put_access(tenant, stored, owner="ana", readers=to)
        case ("remove", name):
            stored = await documents.stored(tenant, name)
            if stored is not None:
                assert await documents.remove(tenant, stored)


async def plan(
    documents: Documents, tenant: str, name: str, chunks: int, readers: tuple[str, ...]
) -> Write:
    """Every other stored chunk is kept, and as many are added as make it so many."""
    stored = await documents.stored(tenant, name)
    document = a_document(name, readers=readers)
    if stored is None:
        return a_write(document, added=[f"{name}{number}" for number in range(chunks)])
    held = list(zip(stored.chunk_ids, stored.digests, strict=True))
    kept = [Kept(chunk_id, digest, 0, 1, "a", None) for chunk_id, digest in held[:chunks:2]]
    return a_write(
        document,
        version=stored.version,
        added=[f"{name}{stored.version}{number}" for number in range(chunks - len(kept))],
        kept=kept,
        removed=sorted(set(stored.chunk_ids) - {chunk.chunk_id for chunk in kept}),
    )


async def counters(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> tuple[dict[str, tuple[int, int]], dict[int, int]]:
    """Of each tenant its chunks and public chunks, of each document its chunks, as noted."""
    tenants = await connection.fetch("SELECT tenant, chunks, public_chunks FROM tenants")
    noted = await connection.fetch("SELECT document_key, chunks FROM documents")
    return (
        {row["tenant"]: (row["chunks"], row["public_chunks"]) for row in tenants},
        {row["document_key"]: row["chunks"] for row in noted},
    )


async def counted(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> tuple[dict[str, tuple[int, int]], dict[int, int]]:
    """The same, of the chunks themselves. The row 'public' counts every tenant's public ones."""
    rows = await connection.fetch(
        "SELECT tenant, document_key, 'public' = ANY (readers) AS is_public,"
        " (SELECT count(*) FROM chunks WHERE chunks.document_key = told.document_key) AS chunks"
        " FROM documents AS told"
    )
    of_tenants = {
        tenant: (
            sum(row["chunks"] for row in rows if row["tenant"] == tenant),
            sum(row["chunks"] for row in rows if row["tenant"] == tenant and row["is_public"]),
        )
        for tenant in ("acme", "beta")
    }
    everyone = sum(public for _, public in of_tenants.values())
    return (
        of_tenants | {"public": (everyone, 0)},
        {row["document_key"]: row["chunks"] for row in rows},
    )
