"""Chunks that move to a partition of their own while they are searched, written and interrupted."""

import asyncio

import asyncpg
import pytest

from index.documents.document_store import DocumentStore
from index.documents.partitions import IndexedPartition, MovedTenant
from index.model.query import Query
from index.postgres.database import Database
from index.search.tables.strategy import StrategyLimits
from ingest.write.writer import Writer
from tests.index.conftest import connected
from tests.index.support import many_chunks
from tests.index.support.partitions import (
    ANA,
    BEA,
    CHANGES,
    NUMBER,
    OUTGROWN,
    QUERY,
    ChunkPartitions,
    assert_consistent,
    ids,
    remove,
    retitle,
    searcher,
    tend,
)
from tests.index.support.samples import RecordingInvalidation, a_document, put

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def writer(documents: DocumentStore) -> Writer:
    return Writer(documents, many_chunks.EMBEDDER, RecordingInvalidation())


@pytest.mark.thorough
async def test_a_tenant_that_outgrows_the_shared_partition_moves_to_its_own(
    database: Database, town: DocumentStore, partitions: ChunkPartitions
) -> None:
    before, others = await partitions.chunks("acme"), await partitions.chunks("beta")

    done = await tend(database)

    assert done == [
        MovedTenant("acme", 1, NUMBER * many_chunks.CHUNKS),
        IndexedPartition(1, "acme"),
    ]
    assert await partitions.chunks("acme") == before
    assert await partitions.holding("acme") == [1]
    assert (await partitions.of("acme"), await partitions.of("beta")) == (1, 0)
    assert await partitions.chunks("beta") == others
    assert await partitions.holding("beta") == [0]
    await partitions.assert_whole(1)
    assert await tend(database) == []


@pytest.mark.thorough
async def test_a_tenant_just_below_the_limit_stays(
    database: Database, town: DocumentStore, partitions: ChunkPartitions
) -> None:
    limits = StrategyLimits(OUTGROWN.crossover_chunks + 1)

    assert await tend(database, limits) == []
    assert await partitions.holding("acme") == [0]


@pytest.mark.thorough
async def test_the_shared_partition_gets_its_index_when_enough_of_it_is_public(
    database: Database, documents: DocumentStore, partitions: ChunkPartitions
) -> None:
    await many_chunks.settle(documents, "acme", number=4, readers=[("public",)], seed=1)
    await many_chunks.settle(documents, "beta", number=3, readers=[("public",)], seed=2)

    too_few = await tend(database, StrategyLimits(7 * many_chunks.CHUNKS + 1))
    enough = await tend(database, StrategyLimits(7 * many_chunks.CHUNKS))

    assert too_few == []
    assert enough == [IndexedPartition(0, "everybody")]
    await partitions.assert_whole(0)
    found = await searcher(database).search(ANA, QUERY)
    nearest = await searcher(database, many_chunks.NEAREST).search(ANA, QUERY)
    assert ids(nearest.hits) == ids(found.hits)


@pytest.mark.sampled("StrategyLimits(crossover_chunks=0)")
@pytest.mark.parametrize("limits", [many_chunks.EXACT, many_chunks.NEAREST], ids=str)
async def test_searches_find_the_same_while_chunks_move_and_are_indexed(
    database: Database, database_url: str, town: DocumentStore, limits: StrategyLimits
) -> None:
    own, others = searcher(database, limits), searcher(database, limits)
    expected = await own.search(ANA, QUERY), await others.search(BEA, QUERY)
    found = []

    async with connected(database_url) as apart:
        tending = asyncio.create_task(tend(apart, StrategyLimits(50)))
        while not tending.done():
            found.append((await own.search(ANA, QUERY), await others.search(BEA, QUERY)))
    found.append((await own.search(ANA, QUERY), await others.search(BEA, QUERY)))

    assert len(await tending) == 4
    assert len(found) > 3
    for ours, theirs in found:
        assert ids(ours.hits) == ids(expected[0].hits)
        assert ids(theirs.hits) == ids(expected[1].hits)


async def test_documents_on_a_partition_of_their_own_are_edited_shared_and_removed(
    database: Database, town: DocumentStore, writer: Writer, partitions: ChunkPartitions
) -> None:
    await tend(database)
    for change in CHANGES[:2]:
        await change(writer)
    await put(writer, a_document("kept", "A kept lighthouse."))
    await retitle(writer)
    await writer.put_access(
        "acme", "acme2", lambda _stored: a_document("acme2", owner=None, readers=())
    )
    await remove(writer)

    await assert_consistent(partitions, town, "acme")
    for limits in (many_chunks.EXACT, many_chunks.NEAREST):
        query = Query("lighthouse telescope", alpha=0.5, top_k=1000, candidates=100)
        found = await searcher(database, limits).search(ANA, query)
        documents = {hit.document_id for hit in found.hits}
        assert {"new", "acme0", "kept"} <= documents
        assert documents.isdisjoint({"acme1", "acme2"})


async def test_a_removed_document_takes_its_chunks_from_a_partition_of_its_own(
    database: Database,
    town: DocumentStore,
    partitions: ChunkPartitions,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await tend(database)
    before = await partitions.chunks("acme")
    stored = await town.stored("acme", "acme7")
    assert stored is not None

    await town.remove("acme", stored)

    left = [chunk for chunk in before if chunk[0] not in stored.chunk_ids]
    assert await partitions.chunks("acme") == left
    assert len(left) == len(before) - many_chunks.CHUNKS
    texts = await connection.fetchval(
        "SELECT count(*) FROM chunk_texts WHERE chunk_id = ANY ($1)", stored.chunk_ids
    )
    assert texts == 0
