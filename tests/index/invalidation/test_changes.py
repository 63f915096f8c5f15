"""What a cache is change_set of the changes that it has missed."""

from dataclasses import replace

import asyncpg
import pytest

from index.documents.document_store import DocumentStore
from index.documents.partitions import Partitions
from index.invalidation import changes
from index.invalidation.changes import ChangeLog, ChangeSet
from index.postgres.database import Database
from index.search.tables.strategy import StrategyLimits
from index.tenants.tenant_store import TenantStore
from index.text import lexical
from ingest.chunkers.structure import chunks
from ingest.write.writer import Writer
from tests.index.support import many_chunks
from tests.index.support.samples import RecordingEmbedder, a_document, put

pytestmark = pytest.mark.anyio

SECTIONS = [f"## Section {number}\n\nNumber {number}.\n\n" for number in range(4)]
LONG = a_document("long", "".join(SECTIONS), metadata={"team": "people", "year": 2025.5})


@pytest.fixture
def since(database: Database, tenants: TenantStore) -> ChangeLog:
    return ChangeLog(database)


async def news(
    since: ChangeLog, revision: int, partition: str = "acme", home: str = "acme"
) -> ChangeSet:
    change_set = await since.changes_after(home, partition, revision)
    assert change_set is not None
    return change_set


async def ids(documents: DocumentStore, document_id: str, tenant: str = "acme") -> frozenset[int]:
    stored = await documents.stored(tenant, document_id)
    assert stored is not None
    return frozenset(stored.chunk_ids)


async def test_who_has_missed_nothing_is_told_nothing_but_how_things_stand(
    since: ChangeLog, writer: Writer
) -> None:
    fresh = await news(since, 0)
    await put(writer, LONG)
    change_set = await news(since, 1)

    assert (fresh.revision, fresh.languages, fresh.vocabulary_size) == (0, frozenset(), 0)
    assert (change_set.partition, change_set.revision, change_set.languages) == (
        "acme",
        1,
        frozenset({"en"}),
    )
    assert change_set.vocabulary_size > 0
    assert change_set.outdated == change_set.repositioned == change_set.documents == frozenset()
    assert change_set.changed_chunks == []


async def test_an_added_chunk_is_told_as_it_is_stored(
    since: ChangeLog, writer: Writer, documents: DocumentStore, embedder: RecordingEmbedder
) -> None:
    await put(writer, LONG)

    change_set = await news(since, 0)

    made = chunks(LONG.text)
    known = await documents.known_embeddings("acme", embedder.space, [one.digest for one in made])
    stored = await documents.stored("acme", "long")
    assert stored is not None
    arrivals = {arrival.chunk_id: arrival for arrival in change_set.changed_chunks}
    assert arrivals.keys() == set(stored.chunk_ids)
    assert len(change_set.documents) == 1
    for chunk_id, chunk in zip(stored.chunk_ids, made, strict=True):
        one = arrivals[chunk_id]
        assert {one.document_key} == change_set.documents
        assert (one.tenant, one.document_id, one.source) == ("acme", "long", LONG.source)
        assert (one.language, tuple(one.tags), one.metadata) == ("en", LONG.tags, LONG.metadata)
        assert (one.owner, tuple(one.readers)) == (LONG.owner, LONG.readers)
        assert one.updated_at.tzinfo is not None
        assert one.dense.tolist() == known[chunk.digest].to_list()
        weights = lexical.chunk(chunk.embedded_text, "en", LONG.title)
        assert one.lexical == pytest.approx(weights, rel=1e-6)


async def test_what_came_and_went_since_is_gone_and_no_arrival(
    since: ChangeLog, writer: Writer, documents: DocumentStore
) -> None:
    await put(writer, LONG)
    was = await ids(documents, "long")
    await writer.remove("acme", "long", lambda document: document)

    change_set = await news(since, 0)

    assert change_set.revision == 2
    assert change_set.outdated == was
    assert change_set.changed_chunks == []


async def test_an_edit_tells_what_went_what_came_and_what_moved(
    since: ChangeLog, writer: Writer, documents: DocumentStore
) -> None:
    await put(writer, LONG)
    stored = await documents.stored("acme", "long")
    assert stored is not None
    await put(writer, replace(LONG, text=LONG.text.replace("Number 1.", "Number one.")))

    change_set = await news(since, 1)

    (added,) = await ids(documents, "long") - set(stored.chunk_ids)
    assert change_set.outdated == {stored.chunk_ids[1]}
    assert change_set.repositioned == set(stored.chunk_ids[2:])
    assert [arrival.chunk_id for arrival in change_set.changed_chunks] == [added]


async def test_a_touched_chunk_is_gone_and_arrives_as_it_is_now_and_once(
    since: ChangeLog, writer: Writer, documents: DocumentStore
) -> None:
    await put(writer, LONG)
    await put(writer, replace(LONG, tags=("first",)))
    await put(writer, replace(LONG, tags=("second",)))

    change_set = await news(since, 0)

    assert change_set.outdated == await ids(documents, "long")
    assert sorted(arrival.chunk_id for arrival in change_set.changed_chunks) == sorted(
        change_set.outdated
    )
    assert {tuple(arrival.tags) for arrival in change_set.changed_chunks} == {("second",)}


async def test_of_what_is_public_only_other_tenants_chunks_arrive_and_all_go(
    since: ChangeLog, writer: Writer, documents: DocumentStore
) -> None:
    public = replace(LONG, readers=("public",))
    await put(writer, public)
    await put(writer, public, "beta")
    await put(writer, replace(public, document_id="hers"), "beta")
    await put(writer, replace(public, document_id="hers", readers=()), "beta")

    change_set = await news(since, 0, "public")

    assert change_set.revision == 4
    assert {arrival.tenant for arrival in change_set.changed_chunks} == {"beta"}
    assert {arrival.chunk_id for arrival in change_set.changed_chunks} == await ids(
        documents, "long", "beta"
    )
    assert change_set.outdated == await ids(documents, "hers", "beta")
    assert {one.tenant for one in (await news(since, 0, "public", "beta")).changed_chunks} == {
        "acme"
    }
    assert {one.tenant for one in (await news(since, 0)).changed_chunks} == {"acme"}


async def test_chunks_are_found_on_whatever_partition_they_stand(
    database: Database,
    documents: DocumentStore,
    since: ChangeLog,
    writer: Writer,
    tenants: TenantStore,
) -> None:
    await many_chunks.settle(documents, "beta", number=9, readers=[("public",)], seed=2)
    async for _ in Partitions(database, limits=StrategyLimits(9 * many_chunks.CHUNKS)).maintain():
        pass
    public = replace(LONG, readers=("public",))
    before = (await tenants.revisions(["public"]))["public"].revision
    await put(writer, public)
    await put(writer, public, "beta")

    change_set = await news(since, before, "public", "gamma")

    partitions = await database.rows("embedding_migration.unpublish_index", "beta")
    assert [row["partition_no"] for row in partitions] == [1]
    both = await ids(documents, "long") | await ids(documents, "long", "beta")
    assert {arrival.chunk_id for arrival in change_set.changed_chunks} == both
    assert len(both) == 8


async def test_a_forgotten_change_or_a_future_one_or_an_unknown_partition_is_no_news(
    since: ChangeLog, writer: Writer, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    for number in range(3):
        await put(writer, replace(LONG, title=str(number)))
    await connection.execute("DELETE FROM change_log WHERE tenant = 'acme' AND revision = 2")

    assert await since.changes_after("acme", "acme", 0) is None
    assert await since.changes_after("acme", "acme", 1) is None
    assert (await news(since, 2)).revision == 3
    assert await since.changes_after("acme", "acme", 4) is None
    assert await since.changes_after("nobody", "nobody", 0) is None


async def test_a_graph_that_opens_leaves_no_news(
    database: Database, documents: DocumentStore, since: ChangeLog
) -> None:
    await many_chunks.settle(documents, "acme", number=9, readers=[("public",)], seed=1)
    before = await news(since, 0)
    async for _ in Partitions(database, limits=StrategyLimits(9 * many_chunks.CHUNKS)).maintain():
        pass

    assert await since.changes_after("acme", "acme", before.revision) is None
    assert await since.changes_after("beta", "public", before.revision) is None


async def test_too_many_changes_or_arrivals_are_no_news(
    since: ChangeLog, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    few, many = changes.CHANGES_MAX, changes.CHANGED_CHUNKS_MAX
    await connection.execute(
        "INSERT INTO change_log (tenant, revision, added_chunks, removed_chunks, updated_chunks)"
        " SELECT 'acme', number, '{}', '{}', '{}' FROM generate_series(1, $1::int) AS number",
        few + 1,
    )
    await connection.execute("UPDATE tenants SET revision = $1 WHERE tenant = 'acme'", few + 1)
    change_set = [await since.changes_after("acme", "acme", revision) for revision in (0, 1)]
    assert [None if one is None else one.revision for one in change_set] == [None, few + 1]

    await connection.execute(
        "UPDATE change_log SET added_chunks = ARRAY(SELECT generate_series(1, $1::int))"
        " WHERE revision = 2",
        many,
    )
    assert (await news(since, 1)).changed_chunks == []
    await connection.execute("UPDATE change_log SET updated_chunks = '{1}' WHERE revision = 3")
    assert await since.changes_after("acme", "acme", 1) is None
    assert await since.changes_after("acme", "acme", 2) is not None
