"""What is read, listed and counted of documents, and by whom."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pgvector import HalfVector

from index.documents.chunk_store import KeptChunk
from index.documents.document_store import DocumentStore
from index.documents.document_writes import DocumentWrite
from index.documents.visible_documents import VisibleDocuments
from index.model.query import Filter
from index.model.scope import Scope, everything, resolve
from index.postgres import statements
from index.postgres.database import Database
from index.postgres.filter_sql import filter_args
from index.tenants.tenant_store import TenantStore
from tests.index.support.commits import a_write, apply, digest, written
from tests.index.support.samples import a_document
from tests.sampling import examples

pytestmark = pytest.mark.anyio

STORED = statements.load()["documents.stored"]


@pytest.mark.slow
async def test_a_look_up_of_several_reads_none_but_those(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: TenantStore
) -> None:
    # Without statistics, as after a first ingestion, and then with them; none come by themselves.
    for table in ("documents", "document_texts", "chunk_texts"):
        await connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    await connection.execute(many_documents(4_000))

    fresh = await plan_of_stored(database)
    await connection.execute("ANALYZE documents, document_texts, chunk_texts")
    analysed = await plan_of_stored(database)

    for plan in fresh, analysed:
        assert "Index Scan using documents_document_id" in plan
        assert "Index Scan using document_texts_pkey" in plan
        assert "Index Scan using chunk_texts_document" in plan
        assert "Seq Scan" not in plan


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_page_reads_no_more_of_many_documents_than_it_lists(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: TenantStore
) -> None:
    await connection.execute(many_documents(20_000))
    await connection.execute(
        "INSERT INTO sources (tenant, source) VALUES ('acme', 'rare');"
        "UPDATE documents SET source = 'rare' WHERE document_id LIKE 'd1999%'"
    )

    async def assert_few_are_read() -> None:
        first = await plan_of_page(database, "page", "")
        middle = await plan_of_page(database, "page", "d150")
        of_source = await plan_of_page(database, "page_of_source", "", "rare")
        assert "Index Scan using documents_document_id" in first + middle
        assert "Index Scan using documents_source" in of_source
        for plan in first, middle, of_source:
            assert "Rows Removed by Filter" not in plan, plan
            assert "Sort" not in plan, plan

    await assert_few_are_read()
    await connection.execute("ANALYZE documents")
    await assert_few_are_read()


async def plan_of_page(database: Database, name: str, after: str, *source: str) -> str:
    """The plan with the settings of the product's connections, and what it read."""
    statement = statements.load()[f"search_documents.{name}"]
    arguments = [
        *filter_args(everything("acme", "ana", []), Filter()),
        after,
        "",
        50,
        False,
        *source,
    ]
    async with database.session() as session:
        explained = f"EXPLAIN (ANALYZE, TIMING OFF) {statement}"
        rows = await session.connection.fetch(explained, *arguments)
    return "\n".join(row[0] for row in rows)


def many_documents(number: int) -> str:
    return f"""
    INSERT INTO sources (tenant, source) VALUES ('acme', 's');
    INSERT INTO documents
        (tenant, document_id, source, title, uri, language, tags, metadata, readers, chunks)
    SELECT 'acme', 'd' || place, 's', '', '', 'en', '{{}}', '{{}}', '{{tenant}}', 1
    FROM generate_series(1, {number}) AS place;
    INSERT INTO document_texts (document_key, text) SELECT document_key, '' FROM documents;
    INSERT INTO chunk_texts (chunk_id, document_key, digest, start_at, end_at, text)
    SELECT nextval('chunk_ids'), document_key, '', 0, 1, 'x' FROM documents;
"""  # noqa: S608  a number of the tests


async def plan_of_stored(database: Database) -> str:
    async with database.session() as session:
        rows = await session.connection.fetch(f"EXPLAIN {STORED}", "acme", ["d1", "d2"])
    return "\n".join(row[0] for row in rows)


async def test_only_what_the_grants_admit_is_read_and_listed(
    documents: DocumentStore, visible_documents: VisibleDocuments
) -> None:
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
    ana = everything("acme", "ana", ["sales"], receives_public=True)

    async def listed(scope: Scope) -> list[str]:
        page = await visible_documents.page(scope, Filter(), after="", source=None, limit=100)
        return [dated.document.document_id for dated in page]

    mine = ["a-own", "b-named", "c-group", "d-tenant", "e-public"]
    assert await listed(ana) == mine
    assert await listed(resolve("acme", "ana", [], ["private"])) == ["a-own"]
    assert await listed(everything("beta", "ana", ["sales"], receives_public=True)) == []
    assert [
        name
        for name in [*mine, "f-other", "g-nobody"]
        if await visible_documents.read(ana, Filter(), name)
    ] == (mine)
    assert (
        await visible_documents.read(
            everything("beta", "ana", ["sales"], receives_public=True), Filter(), "a-own"
        )
        is None
    )


async def test_sources_are_counted_by_what_the_grants_and_the_filter_let_through(
    documents: DocumentStore,
    visible_documents: VisibleDocuments,
) -> None:
    for name, source, readers in (
        ("a", "wiki", ("user:ana",)),
        ("b", "wiki", ("tenant",)),
        ("c", "wiki", ("user:ben",)),
        ("d", "mail", ("user:ben",)),
        ("e", "chat", ("tenant",)),
    ):
        await written(documents, a_document(name, source=source, owner=None, readers=readers))
    ana = everything("acme", "ana", [], receives_public=True)

    assert await visible_documents.sources(ana, Filter(), limit=9) == {"chat": 1, "wiki": 2}
    assert await visible_documents.sources(ana, Filter(), limit=1) == {"chat": 1}
    assert await visible_documents.sources(ana, Filter(sources=("wiki",)), limit=9) == {"wiki": 2}
    assert (
        await visible_documents.sources(
            everything("beta", "ana", [], receives_public=True), Filter(), limit=9
        )
        == {}
    )


async def test_a_document_of_another_tenant_is_read_by_its_tenant_and_name_if_it_is_public(
    documents: DocumentStore,
    visible_documents: VisibleDocuments,
) -> None:
    await written(documents, a_document("both", title="acme's", owner="ana", readers=()))
    for name, reader in (("both", "public"), ("theirs", "public"), ("shut", "tenant")):
        theirs = a_document(name, title="beta's", owner="bea", readers=("user:cid", reader))
        assert await apply(documents, "beta", a_write(theirs)) is not None
    ana = everything("acme", "ana", [], receives_public=True)

    titles = {}
    for tenant in ("acme", "beta"):
        for name in ("both", "theirs", "shut"):
            found = await visible_documents.read_of(ana, Filter(), tenant, name)
            titles[tenant, name] = found.document.title if found else None

    assert titles == {
        ("acme", "both"): "acme's",
        ("acme", "theirs"): None,
        ("acme", "shut"): None,
        ("beta", "both"): "beta's",
        ("beta", "theirs"): "beta's",
        ("beta", "shut"): None,
    }
    theirs_shown = await visible_documents.read_of(ana, Filter(), "beta", "theirs")
    assert theirs_shown is not None
    assert (theirs_shown.document.owner, theirs_shown.document.readers) == (None, ("public",))
    narrow = resolve("acme", "ana", [], ["private", "shared", "tenant"], receives_public=True)
    assert await visible_documents.read_of(narrow, Filter(), "beta", "theirs") is None
    closed = everything("acme", "ana", [])
    assert await visible_documents.read_of(closed, Filter(), "beta", "theirs") is None
    elsewhere = Filter(sources=("elsewhere",))
    assert await visible_documents.read_of(ana, elsewhere, "beta", "theirs") is None


async def test_pages_go_by_identifier_without_texts_and_meet_no_document_twice(
    documents: DocumentStore,
    visible_documents: VisibleDocuments,
) -> None:
    for number in range(5):
        source = "mail" if number == 2 else "wiki"
        await written(documents, a_document(f"d{number}", source=source))
    ana = everything("acme", "ana", [], receives_public=True)

    first = await visible_documents.page(ana, Filter(), after="", source=None, limit=2)
    second = await visible_documents.page(ana, Filter(), after="d1", source=None, limit=2)
    last = await visible_documents.page(ana, Filter(), after="d3", source=None, limit=2)
    of_mail = await visible_documents.page(ana, Filter(), after="", source="mail", limit=2)

    assert [dated.document.document_id for dated in first] == ["d0", "d1"]
    assert [dated.document.document_id for dated in second] == ["d2", "d3"]
    assert [dated.document.document_id for dated in last] == ["d4"]
    assert [dated.document.document_id for dated in of_mail] == ["d2"]
    assert {dated.document.text for dated in first} == {""}
    assert await documents.of_source("acme", "wiki") == ["d0", "d1", "d3", "d4"]
    assert await documents.of_source("beta", "wiki") == []


async def test_embeddings_are_known_within_their_tenant_and_space(documents: DocumentStore) -> None:
    vector = HalfVector([0.5, 0.5, 0.5, 0.5])
    await documents.keep_embeddings("acme", "one-space", {digest("a"): vector})
    await documents.keep_embeddings("acme", "one-space", {digest("a"): vector})

    async def known(tenant: str, space: str) -> dict[bytes, HalfVector]:
        return await documents.known_embeddings(tenant, space, [digest("a"), digest("b")])

    assert await known("acme", "one-space") == {digest("a"): vector}
    assert await known("acme", "other-space") == {}
    assert await known("beta", "one-space") == {}


names = st.sampled_from(["a", "b", "c"])
readers = st.sampled_from([(), ("tenant",), ("public",), ("public", "tenant")])
writes = st.tuples(names, st.integers(0, 4), readers)
steps = st.one_of(
    st.tuples(st.just("write"), st.lists(writes, min_size=1, max_size=3, unique_by=lambda w: w[0])),
    st.tuples(st.just("share"), names, readers),
    st.tuples(st.just("remove"), names),
)


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(taken=st.lists(st.tuples(st.sampled_from(["acme", "beta"]), steps), max_size=12))
async def test_after_any_changes_the_counters_say_what_counting_says(
    documents: DocumentStore,
    connection: "asyncpg.Connection[asyncpg.Record]",
    taken: Sequence[tuple[str, tuple[Any, ...]]],
) -> None:
    for tenant, step in taken:
        await take(documents, tenant, step)

        assert await counters(connection) == await counted(connection)


async def take(documents: DocumentStore, tenant: str, step: tuple[Any, ...]) -> None:
    match step:
        case ("write", writes):
            planned = [await plan(documents, tenant, *write) for write in writes]
            assert None not in await documents.apply_all(tenant, planned)
        case ("share", name, to):
            stored = await documents.stored(tenant, name)
            if stored is not None:
                assert await documents.put_access(
                    tenant, stored, replace(stored.document, owner="ana", readers=tuple(to))
                )
        case ("remove", name):
            stored = await documents.stored(tenant, name)
            if stored is not None:
                assert await documents.remove(tenant, stored)


async def plan(
    documents: DocumentStore, tenant: str, name: str, chunks: int, readers: tuple[str, ...]
) -> DocumentWrite:
    """Every other stored chunk is kept, and as many are added as make it so many."""
    stored = await documents.stored(tenant, name)
    document = a_document(name, readers=readers)
    if stored is None:
        return a_write(document, added=[f"{name}{number}" for number in range(chunks)])
    held = list(zip(stored.chunk_ids, stored.digests, strict=True))
    kept = [KeptChunk(chunk_id, digest, 0, 1, "a", None) for chunk_id, digest in held[:chunks:2]]
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
