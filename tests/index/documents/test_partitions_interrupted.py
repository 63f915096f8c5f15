"""Moves to partitions and writers that meet, and tending that ends after any statement."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import Any

import asyncpg
import pytest

from index.documents.document_store import DocumentStore
from index.documents.partitions import IndexedPartition, MovedTenant, Partitions
from index.model.scope import everything
from index.postgres.database import Database
from index.search.tables.strategy import StrategyLimits
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.conftest import connected
from tests.index.support import many_chunks
from tests.index.support.partitions import (
    ANA,
    CHANGES,
    NUMBER,
    OUTGROWN,
    QUERY,
    ChunkPartitions,
    assert_consistent,
    ids,
    searcher,
    tend,
)
from tests.index.support.samples import RecordingInvalidation, a_document, put
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def writer(documents: DocumentStore) -> Writer:
    return Writer(documents, many_chunks.EMBEDDER, RecordingInvalidation())


@asynccontextmanager
async def held(url: str, statement: str) -> AsyncIterator[None]:
    """Whoever needs what the statement locks waits until this ends."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute(statement)
            yield
    finally:
        await connection.close()


async def until_waiting(connection: "asyncpg.Connection[asyncpg.Record]", *, sessions: int) -> None:
    """Wait until so many sessions of the database wait for a lock."""
    async with asyncio.timeout(60):
        while True:
            waiting = await connection.fetchval(
                "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid)"
                " WHERE NOT granted AND datname = current_database()"
            )
            if waiting >= sessions:
                return
            await asyncio.sleep(0.01)


ACME_ROW = "SELECT FROM tenants WHERE tenant = 'acme' FOR UPDATE"
ACME_CHUNKS = "UPDATE chunks SET tenant = tenant WHERE tenant = 'acme'"
ACME_CLOSED = (  # as by a move that is under way
    "SELECT pg_advisory_xact_lock(hashtextextended(chr(31) || 'partition' || chr(31) || 'acme', 0))"
)

Change = Callable[[Writer], Coroutine[Any, Any, None]]


@pytest.mark.sampled("edit")
@pytest.mark.parametrize("change", CHANGES)
async def test_a_move_waits_for_a_writer_at_work_and_takes_along_what_it_wrote(
    database: Database,
    database_url: str,
    town: DocumentStore,
    writer: Writer,
    partitions: ChunkPartitions,
    connection: "asyncpg.Connection[asyncpg.Record]",
    change: Change,
) -> None:
    await put(writer, a_document("kept", "A kept lighthouse."))

    async with held(database_url, ACME_ROW):
        writing = asyncio.create_task(change(writer))
        await until_waiting(connection, sessions=1)
        tending = asyncio.create_task(tend(database))
        await until_waiting(connection, sessions=2)
    await writing

    assert await tending != []
    assert await partitions.of("acme") == 1
    await assert_consistent(partitions, town, "acme")


@pytest.mark.sampled("remove")
@pytest.mark.parametrize("change", CHANGES)
async def test_a_writer_waits_for_a_move_and_writes_to_the_new_partition(
    database: Database,
    database_url: str,
    town: DocumentStore,
    writer: Writer,
    partitions: ChunkPartitions,
    connection: "asyncpg.Connection[asyncpg.Record]",
    change: Change,
) -> None:
    await put(writer, a_document("kept", "A kept lighthouse."))

    async with held(database_url, ACME_CHUNKS):
        tending = asyncio.create_task(tend(database))
        await until_waiting(connection, sessions=1)  # it has copied them, and can't clear them yet
        writing = asyncio.create_task(change(writer))
        await searcher(database, many_chunks.EXACT).search(ANA, QUERY)
        assert not writing.done()
    await writing

    assert await tending != []
    assert await partitions.of("acme") == 1
    await assert_consistent(partitions, town, "acme")


@pytest.mark.thorough
async def test_writers_wait_for_a_move_on_no_connection_that_searches_need(
    database_url: str, town: DocumentStore, partitions: ChunkPartitions
) -> None:
    async with connected(database_url, connections_max=1, statement_timeout_s=10) as small:
        writer = Writer(DocumentStore(small), many_chunks.EMBEDDER, RecordingInvalidation())
        async with held(database_url, ACME_CLOSED):
            documents = [a_document(f"late-{number}", "A late lighthouse.") for number in range(6)]
            writing = [asyncio.create_task(put(writer, document)) for document in documents]
            for _ in range(20):
                assert (await searcher(small, many_chunks.EXACT).search(ANA, QUERY)).hits
            assert not any(task.done() for task in writing)
        await asyncio.gather(*writing)

    await assert_consistent(partitions, town, "acme")


@pytest.mark.thorough
async def test_writers_that_never_pause_lose_nothing_to_a_move(
    database: Database, town: DocumentStore, writer: Writer, partitions: ChunkPartitions
) -> None:
    tending = asyncio.create_task(tend(database))

    async def write(name: str) -> int:
        for number in count():
            await put(writer, a_document(f"{name}{number}", f"Lighthouse {name} {number}."))
            if tending.done():
                return number + 1
        raise AssertionError

    written = await asyncio.gather(*(write(name) for name in ("a", "b", "c")))

    assert await tending == [
        MovedTenant("acme", 1, NUMBER * many_chunks.CHUNKS),
        IndexedPartition(1, "acme"),
    ]
    assert len(await partitions.chunks("acme")) == NUMBER * many_chunks.CHUNKS + sum(written)
    await assert_consistent(partitions, town, "acme")


@pytest.mark.thorough
async def test_of_two_processes_at_once_one_tends_the_partitions(
    database: Database, database_url: str, town: DocumentStore, partitions: ChunkPartitions
) -> None:
    async with connected(database_url) as other:
        done = await asyncio.gather(tend(database), tend(other))

    assert sorted(map(len, done)) == [0, 2]
    await assert_consistent(partitions, town, "acme")
    await partitions.assert_whole(1)


async def test_a_process_that_finds_another_one_tending_leaves_it_alone(
    database: Database,
    database_url: str,
    town: DocumentStore,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    async with connected(database_url) as other, held(database_url, ACME_ROW):
        tending = asyncio.create_task(tend(database))
        await until_waiting(connection, sessions=1)

        assert await tend(other) == []
        assert not tending.done()

    assert len(await tending) == 2


class Cutter:
    """Ends a task as soon as so many statements were answered, or its sessions."""

    def __init__(self, url: str, *, kills: bool) -> None:
        self._url = url
        self._kills = kills
        self._statements_left = 0
        self._task: asyncio.Task[Any] | None = None
        self._killing: asyncio.Task[None] | None = None

    def aim(self, task: asyncio.Task[Any], *, statements: int) -> None:
        self._task, self._statements_left = task, statements

    def observe(self, _name: str, _seconds: float) -> None:
        self._statements_left -= 1
        if self._task is not None and self._statements_left == 0:
            if self._kills:
                self._killing = asyncio.create_task(_kill(self._url))
            else:
                self._task.cancel()

    async def settled(self) -> None:
        if self._killing is not None:
            await self._killing


async def _kill(url: str) -> None:
    """End the sessions that tend, as the end of their process or machine would."""
    connection = await asyncpg.connect(url)
    await connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks"
        " JOIN pg_database ON pg_database.oid = pg_locks.database"
        " WHERE locktype = 'advisory' AND objid = 6324272 AND datname = current_database()"
    )
    await connection.close()


@pytest.mark.sampled("killed")
@pytest.mark.parametrize("kills", [False, True], ids=["cancelled", "killed"])
async def test_tending_that_ends_after_any_statement_is_taken_up_again_and_ends_well(
    database: Database,
    database_url: str,
    documents: DocumentStore,
    tenants: TenantStore,
    partitions: ChunkPartitions,
    *,
    kills: bool,
) -> None:
    limits = StrategyLimits(2 * many_chunks.CHUNKS)
    cut, whole = 0, await statements_of_a_whole_tending(database_url, documents, limits)
    places = range(1, whole + 1, 1 if is_thorough() else 3)
    for statements in places:
        tenant = f"t{statements}"
        await tenants.create(tenant, tenant)
        await many_chunks.settle(
            documents, tenant, number=2, readers=[("tenant",)], seed=statements
        )
        before, scope = (
            await partitions.chunks(tenant),
            everything(tenant, "ana", [], receives_public=True),
        )
        expected = ids((await searcher(database).search(scope, QUERY)).hits)

        cutter = Cutter(database_url, kills=kills)
        async with connected(
            database_url, connections_max=1, observe=cutter.observe, statement_timeout_s=10
        ) as own:
            task = asyncio.create_task(tend(own, limits))
            cutter.aim(task, statements=statements)
            await asyncio.wait([task])
            await cutter.settled()
            if task.cancelled() or task.exception() is not None:
                cut += 1

            assert await partitions.chunks(tenant) == before
            assert await partitions.holding(tenant) == [await partitions.of(tenant)]
            assert ids((await searcher(database).search(scope, QUERY)).hits) == expected
            # By another process, while the one that failed is still there.
            await tend(database, limits)
        assert await partitions.chunks(tenant) == before
        assert await partitions.of(tenant) > 0
        await assert_consistent(partitions, documents, tenant)
        await partitions.assert_whole(await partitions.of(tenant))
        nearest = await searcher(database, many_chunks.NEAREST).search(scope, QUERY)
        assert ids(nearest.hits) == expected
    # A kill comes a little later than asked for, so some of the last ones come too late.
    assert cut >= (1 if kills else len(places) - 1)


async def statements_of_a_whole_tending(
    url: str, documents: DocumentStore, limits: StrategyLimits
) -> int:
    ran: list[str] = []
    await many_chunks.settle(documents, "acme", number=2, readers=[("tenant",)], seed=0)
    async with connected(
        url,
        connections_max=1,
        observe=lambda name, _seconds: ran.append(name),
        statement_timeout_s=10,
    ) as own:
        assert len(await tend(own, limits)) == 2
    return len(ran)


@pytest.mark.thorough
async def test_an_index_that_was_left_half_built_is_dropped_and_built_again(
    database: Database,
    database_url: str,
    town: DocumentStore,
    partitions: ChunkPartitions,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    async with aclosing(Partitions(database, limits=OUTGROWN).maintain()) as begun:
        assert isinstance(await anext(begun), MovedTenant)
    async with held(database_url, ACME_CHUNKS):
        tending = asyncio.create_task(tend(database))
        await until_waiting(connection, sessions=1)
        tending.cancel()
        await asyncio.wait([tending])

    assert await partitions.indexes(1) == {"chunks_1_terms": False}
    assert await partitions.width(1) is None
    before = await searcher(database, many_chunks.NEAREST).search(ANA, QUERY)
    assert await tend(database) == [IndexedPartition(1, "acme")]
    await partitions.assert_whole(1)
    after = await searcher(database, many_chunks.NEAREST).search(ANA, QUERY)
    assert after.hits == before.hits
    assert after.as_of["acme"] == before.as_of["acme"] + 1  # a graph may find other chunks
