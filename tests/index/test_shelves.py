"""Chunks that move to a shelf of their own while they are searched, written and interrupted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import Any

import asyncpg
import pytest

from index.database import Database, connect
from index.documents import Documents
from index.hits import Hit
from index.query import Query
from index.scope import everything
from index.search import Searcher
from index.shelves import Indexed, Moved, Shelves
from index.strategy import Limits
from index.tenants import Tenants
from ingest.write import Writer
from tests.index import crowd
from tests.index.conftest import connected
from tests.index.samples import RecordingInvalidation, a_document, put

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NUMBER = 40  # documents of acme
OUTGROWN = Limits(crossover_chunks=NUMBER * crowd.CHUNKS, swept_chunks=0, swept_share=0)
QUERY = Query(crowd.QUESTION, alpha=0.5, top_k=20)
ANA = everything("acme", "ana", [])
BEA = everything("beta", "bea", [])


@pytest.fixture
async def town(documents: Documents) -> Documents:
    """Acme has as many chunks as are too many for the shared shelf, beta has fewer."""
    await crowd.settle(documents, "acme", number=NUMBER, readers=[("tenant",)], seed=1)
    await crowd.settle(documents, "beta", number=10, readers=[("tenant",), ("public",)], seed=2)
    return documents


@pytest.fixture
def writer(documents: Documents) -> Writer:
    return Writer(documents, crowd.EMBEDDER, RecordingInvalidation())


class Shelf:
    """The tables themselves."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection

    async def chunks(self, tenant: str) -> list[tuple[Any, ...]]:
        """Everything of the tenant's chunks but where they stand, by identifier."""
        rows = await self._connection.fetch(
            "SELECT chunk_id, document_key, dense::text, lexical::text FROM chunks"
            " WHERE tenant = $1 ORDER BY chunk_id",
            tenant,
        )
        return [tuple(row) for row in rows]

    async def shelves(self, tenant: str) -> list[int]:
        """The shelves that the tenant's chunks stand on."""
        rows = await self._connection.fetch(
            "SELECT DISTINCT shelf FROM chunks WHERE tenant = $1 ORDER BY 1", tenant
        )
        return [row["shelf"] for row in rows]

    async def of(self, tenant: str) -> int:
        return int(
            await self._connection.fetchval("SELECT shelf FROM tenants WHERE tenant = $1", tenant)
        )

    async def width(self, shelf: int) -> int | None:
        width: int | None = await self._connection.fetchval(
            "SELECT width FROM shelves WHERE shelf = $1", shelf
        )
        return width

    async def indexes(self, shelf: int) -> dict[str, bool]:
        """The shelf's own indexes, and whether they are whole."""
        rows = await self._connection.fetch(
            "SELECT indexrelid::regclass::text AS name, indisvalid FROM pg_index"
            " WHERE indrelid = to_regclass($1) AND indexrelid::regclass::text = ANY ($2)",
            f"chunks_{shelf}",
            [f"chunks_{shelf}_graph", f"chunks_{shelf}_terms"],
        )
        return {row["name"]: row["indisvalid"] for row in rows}

    async def assert_whole(self, shelf: int) -> None:
        assert await self.indexes(shelf) == {
            f"chunks_{shelf}_graph": True,
            f"chunks_{shelf}_terms": True,
        }
        assert await self.width(shelf) == crowd.EMBEDDER.dimensions


@pytest.fixture
def shelf(connection: "asyncpg.Connection[asyncpg.Record]") -> Shelf:
    return Shelf(connection)


async def tend(database: Database, limits: Limits = OUTGROWN) -> list[Moved | Indexed]:
    return [done async for done in Shelves(database, limits=limits).tend()]


async def test_a_tenant_that_outgrows_the_shared_shelf_moves_with_all_its_chunks_to_one_of_its_own(
    database: Database, town: Documents, shelf: Shelf
) -> None:
    before, others = await shelf.chunks("acme"), await shelf.chunks("beta")

    done = await tend(database)

    assert done == [Moved("acme", 1, NUMBER * crowd.CHUNKS), Indexed(1, "acme")]
    assert await shelf.chunks("acme") == before
    assert await shelf.shelves("acme") == [1]
    assert (await shelf.of("acme"), await shelf.of("beta")) == (1, 0)
    assert await shelf.chunks("beta") == others
    assert await shelf.shelves("beta") == [0]
    await shelf.assert_whole(1)
    assert await tend(database) == []


async def test_a_tenant_just_below_the_limit_stays(
    database: Database, town: Documents, shelf: Shelf
) -> None:
    limits = Limits(OUTGROWN.crossover_chunks + 1, 0, 0)

    assert await tend(database, limits) == []
    assert await shelf.shelves("acme") == [0]


async def test_the_shared_shelf_gets_its_index_when_enough_of_it_is_public(
    database: Database, documents: Documents, shelf: Shelf
) -> None:
    await crowd.settle(documents, "acme", number=4, readers=[("public",)], seed=1)
    await crowd.settle(documents, "beta", number=3, readers=[("public",)], seed=2)

    too_few = await tend(database, Limits(7 * crowd.CHUNKS + 1, 0, 0))
    enough = await tend(database, Limits(7 * crowd.CHUNKS, 0, 0))

    assert too_few == []
    assert enough == [Indexed(0, "everybody")]
    await shelf.assert_whole(0)
    found = await searcher(database).search(ANA, QUERY)
    nearest = await searcher(database, crowd.NEAREST).search(ANA, QUERY)
    assert ids(nearest.hits) == ids(found.hits)


def searcher(database: Database, limits: Limits = crowd.SWEEP) -> Searcher:
    return Searcher(database, crowd.EMBEDDER, limits=limits)


def ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk_id for hit in hits]


@pytest.mark.parametrize("limits", [crowd.SWEEP, crowd.WALK, crowd.NEAREST], ids=str)
async def test_searches_find_the_same_while_chunks_move_and_are_indexed(
    database: Database, database_url: str, town: Documents, limits: Limits
) -> None:
    own, others = searcher(database, limits), searcher(database, limits)
    expected = await own.search(ANA, QUERY), await others.search(BEA, QUERY)
    found = []

    async with connected(database_url) as apart:
        tending = asyncio.create_task(tend(apart, Limits(50, 0, 0)))
        while not tending.done():
            found.append((await own.search(ANA, QUERY), await others.search(BEA, QUERY)))
    found.append((await own.search(ANA, QUERY), await others.search(BEA, QUERY)))

    assert len(await tending) == 4
    assert len(found) > 3
    for ours, theirs in found:
        assert ids(ours.hits) == ids(expected[0].hits)
        assert ids(theirs.hits) == ids(expected[1].hits)


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
    async with asyncio.timeout(10):
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
    "SELECT pg_advisory_xact_lock(hashtextextended(chr(31) || 'shelf' || chr(31) || 'acme', 0))"
)

Change = Callable[[Writer], Coroutine[Any, Any, None]]


async def add(writer: Writer) -> None:
    await put(writer, a_document("new", "A new lighthouse."))


async def edit(writer: Writer) -> None:
    await put(writer, a_document("acme0", "Another lighthouse."))


async def retitle(writer: Writer) -> None:
    """Keeps the chunks, whose words change with the title."""
    await put(writer, a_document("kept", "A kept lighthouse.", title="Telescope"))


async def remove(writer: Writer) -> None:
    await writer.remove("acme", "acme1", lambda stored: stored)


CHANGES = [add, edit, retitle, remove]


async def assert_consistent(shelf: Shelf, documents: Documents, tenant: str) -> None:
    """Each chunk that a document says to have stands on the tenant's shelf, once."""
    listed = await documents.of_source(tenant, "handbook")
    stored = [await documents.stored(tenant, document_id) for document_id in listed]
    told = sorted(chunk_id for one in stored if one for chunk_id in one.chunk_ids)
    assert [chunk[0] for chunk in await shelf.chunks(tenant)] == told
    assert await shelf.shelves(tenant) == [await shelf.of(tenant)]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_move_waits_for_a_writer_at_work_and_takes_along_what_it_wrote(
    database: Database,
    database_url: str,
    town: Documents,
    writer: Writer,
    shelf: Shelf,
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
    assert await shelf.of("acme") == 1
    await assert_consistent(shelf, town, "acme")


@pytest.mark.parametrize("change", CHANGES)
async def test_a_writer_waits_for_a_move_and_writes_to_the_new_shelf(
    database: Database,
    database_url: str,
    town: Documents,
    writer: Writer,
    shelf: Shelf,
    connection: "asyncpg.Connection[asyncpg.Record]",
    change: Change,
) -> None:
    await put(writer, a_document("kept", "A kept lighthouse."))

    async with held(database_url, ACME_CHUNKS):
        tending = asyncio.create_task(tend(database))
        await until_waiting(connection, sessions=1)  # it has copied them, and can't clear them yet
        writing = asyncio.create_task(change(writer))
        await searcher(database, crowd.WALK).search(ANA, QUERY)
        assert not writing.done()
    await writing

    assert await tending != []
    assert await shelf.of("acme") == 1
    await assert_consistent(shelf, town, "acme")


async def test_writers_wait_for_a_move_on_no_connection_that_searches_need(
    database_url: str, town: Documents, shelf: Shelf
) -> None:
    async with connect(
        database_url,
        connections_max=1,
        statement_timeout_s=10,
        observe=lambda _name, _seconds: None,
    ) as small:
        writer = Writer(Documents(small), crowd.EMBEDDER, RecordingInvalidation())
        async with held(database_url, ACME_CLOSED):
            documents = [a_document(f"late-{number}", "A late lighthouse.") for number in range(6)]
            writing = [asyncio.create_task(put(writer, document)) for document in documents]
            for _ in range(20):
                assert (await searcher(small, crowd.WALK).search(ANA, QUERY)).hits
            assert not any(task.done() for task in writing)
        await asyncio.gather(*writing)

    await assert_consistent(shelf, town, "acme")


async def test_writers_that_never_pause_lose_nothing_to_a_move(
    database: Database, town: Documents, writer: Writer, shelf: Shelf
) -> None:
    tending = asyncio.create_task(tend(database))

    async def write(name: str) -> int:
        for number in count():
            await put(writer, a_document(f"{name}{number}", f"Lighthouse {name} {number}."))
            if tending.done():
                return number + 1
        raise AssertionError

    written = await asyncio.gather(*(write(name) for name in ("a", "b", "c")))

    assert await tending == [Moved("acme", 1, NUMBER * crowd.CHUNKS), Indexed(1, "acme")]
    assert len(await shelf.chunks("acme")) == NUMBER * crowd.CHUNKS + sum(written)
    await assert_consistent(shelf, town, "acme")


async def test_of_two_processes_at_once_one_tends_the_shelves(
    database: Database, database_url: str, town: Documents, shelf: Shelf
) -> None:
    async with connected(database_url) as other:
        done = await asyncio.gather(tend(database), tend(other))

    assert sorted(map(len, done)) == [0, 2]
    await assert_consistent(shelf, town, "acme")
    await shelf.assert_whole(1)


async def test_a_process_that_finds_another_one_tending_leaves_it_alone(
    database: Database,
    database_url: str,
    town: Documents,
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


@pytest.mark.parametrize("kills", [False, True], ids=["cancelled", "killed"])
async def test_tending_that_ends_after_any_statement_is_taken_up_again_and_ends_well(
    database: Database,
    database_url: str,
    documents: Documents,
    tenants: Tenants,
    shelf: Shelf,
    *,
    kills: bool,
) -> None:
    limits = Limits(2 * crowd.CHUNKS, 0, 0)
    cut, whole = 0, await statements_of_a_whole_tending(database_url, documents, limits)
    for statements in range(1, whole + 1):
        tenant = f"t{statements}"
        await tenants.create(tenant, tenant)
        await crowd.settle(documents, tenant, number=2, readers=[("tenant",)], seed=statements)
        before, scope = await shelf.chunks(tenant), everything(tenant, "ana", [])
        expected = ids((await searcher(database).search(scope, QUERY)).hits)

        cutter = Cutter(database_url, kills=kills)
        async with connect(
            database_url, connections_max=1, statement_timeout_s=10, observe=cutter.observe
        ) as own:
            task = asyncio.create_task(tend(own, limits))
            cutter.aim(task, statements=statements)
            await asyncio.wait([task])
            await cutter.settled()
            if task.cancelled() or task.exception() is not None:
                cut += 1

            assert await shelf.chunks(tenant) == before
            assert await shelf.shelves(tenant) == [await shelf.of(tenant)]
            assert ids((await searcher(database).search(scope, QUERY)).hits) == expected
            # By another process, while the one that failed is still there.
            await tend(database, limits)
        assert await shelf.chunks(tenant) == before
        assert await shelf.of(tenant) > 0
        await assert_consistent(shelf, documents, tenant)
        await shelf.assert_whole(await shelf.of(tenant))
        nearest = await searcher(database, crowd.NEAREST).search(scope, QUERY)
        assert ids(nearest.hits) == expected
    # A kill comes a little later than asked for, so some of the last ones come too late.
    assert cut >= (1 if kills else whole - 1)


async def statements_of_a_whole_tending(url: str, documents: Documents, limits: Limits) -> int:
    ran: list[str] = []
    await crowd.settle(documents, "acme", number=2, readers=[("tenant",)], seed=0)
    async with connect(
        url,
        connections_max=1,
        statement_timeout_s=10,
        observe=lambda name, _seconds: ran.append(name),
    ) as own:
        assert len(await tend(own, limits)) == 2
    return len(ran)


async def test_an_index_that_was_left_half_built_is_dropped_and_built_again(
    database: Database,
    database_url: str,
    town: Documents,
    shelf: Shelf,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    async with aclosing(Shelves(database, limits=OUTGROWN).tend()) as begun:
        assert isinstance(await anext(begun), Moved)
    async with held(database_url, ACME_CHUNKS):
        tending = asyncio.create_task(tend(database))
        await until_waiting(connection, sessions=1)
        tending.cancel()
        await asyncio.wait([tending])

    assert await shelf.indexes(1) == {"chunks_1_terms": False}
    assert await shelf.width(1) is None
    before = await searcher(database, crowd.NEAREST).search(ANA, QUERY)
    assert await tend(database) == [Indexed(1, "acme")]
    await shelf.assert_whole(1)
    after = await searcher(database, crowd.NEAREST).search(ANA, QUERY)
    assert after.hits == before.hits
    assert after.as_of["acme"] == before.as_of["acme"] + 1  # a graph may find other chunks


async def test_documents_on_a_shelf_of_their_own_are_edited_shared_and_removed(
    database: Database, town: Documents, writer: Writer, shelf: Shelf
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

    await assert_consistent(shelf, town, "acme")
    for limits in (crowd.SWEEP, crowd.WALK, crowd.NEAREST):
        query = Query("lighthouse telescope", alpha=0.5, top_k=1000, candidates=100)
        found = await searcher(database, limits).search(ANA, query)
        documents = {hit.document_id for hit in found.hits}
        assert {"new", "acme0", "kept"} <= documents
        assert documents.isdisjoint({"acme1", "acme2"})


async def test_a_removed_document_takes_its_chunks_from_a_shelf_of_its_own(
    database: Database,
    town: Documents,
    shelf: Shelf,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await tend(database)
    before = await shelf.chunks("acme")
    stored = await town.stored("acme", "acme7")
    assert stored is not None

    await town.remove("acme", stored)

    left = [chunk for chunk in before if chunk[0] not in stored.chunk_ids]
    assert await shelf.chunks("acme") == left
    assert len(left) == len(before) - crowd.CHUNKS
    texts = await connection.fetchval(
        "SELECT count(*) FROM chunk_texts WHERE chunk_id = ANY ($1)", stored.chunk_ids
    )
    assert texts == 0
