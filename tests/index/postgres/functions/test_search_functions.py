"""The wall: the role that serves searches gets what its functions answer, and nothing else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from itertools import product
from typing import Any, TypeAlias, cast

import asyncpg
import orjson
import pytest

from gateway.extensions.context_check.held_passages import HeldPassage, HeldPassages
from gateway.extensions.popularity.popularity_rollup import PopularityRollup
from gateway.extensions.popularity.popularity_store import PopularityStore, opening
from gateway.extensions.vector_stores.stored.file_store import FileListing
from gateway.extensions.vector_stores.stored.vector_store_store import (
    AttachRequest,
    FileFilter,
    VectorStoreStore,
)
from index.documents.document_store import DocumentStore
from index.documents.partitions import Partitions
from index.documents.visible_documents import VisibleDocuments
from index.errors import DatabaseUnavailable
from index.model.query import Filter, Query
from index.model.query_parts.boost import Boost
from index.model.scope import everything
from index.postgres.database import Database
from index.postgres.functions import function_roles, security_definer_functions
from index.postgres.functions.function_roles import Connection
from index.postgres.session import Row
from index.resident import matching_documents
from index.resident.resident_shards import ResidentShards
from index.search.searcher import Searcher
from index.search.sight_reader import SightReader
from index.search.tables.strategy import StrategyLimits
from tests.index.conftest import connected
from tests.index.support import many_chunks
from tests.index.support.captured_statements import held
from tests.threads import new_threads

pytestmark = pytest.mark.anyio

Call: TypeAlias = tuple[tuple[Any, ...], dict[str, int]]

ANA = everything("acme", "ana", [], receives_public=True)
SEARCHES = security_definer_functions.statements_of(function_roles.SEARCH).keys()
QUERY = Query(many_chunks.QUESTION, alpha=0.5)
CONFIRM = "search_confirmation.confirm"
NUMBER = 40  # documents of acme
OUTGROWN = StrategyLimits(crossover_chunks=NUMBER * many_chunks.CHUNKS)
WAIT_S_MAX = 120.0

SHOWN = (
    *("chunk_id", "document_id", "text", "source"),
    *("dense_ids", "lexical_ids", "own_share", "others_share"),
    *("own_documents", "others_documents", "field"),
    *("document_key", "allowed_tokens", "visible", "document_keys"),
)


class StatementRecorder:
    """A database that keeps with which arguments each statement was asked for."""

    def __init__(self, database: Database) -> None:
        self.searching = self
        self._searching = database.searching
        self.is_pinned = False
        self.calls: dict[str, Call] = {}

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        self.calls[name] = arguments, numbers
        return await self._searching.rows(name, *arguments, **numbers)

    async def shared_rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        self.calls[name] = arguments, {}
        return await self._searching.shared_rows(name, *arguments)

    @asynccontextmanager
    async def snapshot(self, tenant: str) -> AsyncIterator[None]:
        async with self._searching.snapshot(tenant):
            yield

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None


@pytest.fixture
async def town(database: Database, documents: DocumentStore) -> None:
    """Acme stands in a partition of its own with indexes, and beta has something for everybody."""
    await many_chunks.settle(documents, "acme", number=NUMBER, readers=[("tenant",)], seed=1)
    await many_chunks.settle(documents, "beta", number=10, readers=[("public",)], seed=2)
    async for _ in Partitions(database, limits=OUTGROWN).maintain():
        pass
    replaced = {"replaces": [f"acme{number}" for number in range(NUMBER)]}
    async with database.session() as session:
        await session.connection.execute(
            "UPDATE documents SET metadata = $1 WHERE document_id = 'acme0'", replaced
        )


@pytest.fixture
async def calls(database: Database, town: None) -> dict[str, Call]:
    """Of each statement that searches go by, one that brings something."""
    recorder = StatementRecorder(database)
    recorded = cast("Database", recorder)
    for limits in (many_chunks.EXACT, many_chunks.NEAREST):
        searcher = Searcher(recorded, many_chunks.EMBEDDER, limits=limits)
        for query in (QUERY, replace(QUERY, fusion="rrf"), replace(QUERY, text="lighthuose")):
            await searcher.search(ANA, query)
    shards = ResidentShards(
        database,
        bytes_max=1 << 30,
        chunks_max=10_000,
        on_event=lambda _event: None,
        threads=new_threads(),
    )
    async with asyncio.timeout(60):
        while shards.use(ANA) is None:
            await asyncio.sleep(0.01)
    searcher = Searcher(recorded, many_chunks.EMBEDDER, shards=shards)
    for document_filter in (Filter(), Filter(exclude_documents=("acme1",))):
        await searcher.search(ANA, replace(QUERY, expand=True, filter=document_filter))
    await shards.close()
    await matching_documents.read(recorded, ANA, Filter())
    more = replace(
        QUERY,
        facets=("source",),
        diversity=0.5,
        boost=Boost(replaced=0.1, popularity=0.1),
        relations=True,
    )
    documents = VisibleDocuments(recorded)
    keys = await documents.openable(ANA, Filter(), [("acme", f"acme{n}") for n in range(NUMBER)])
    today = date(2026, 3, 1)
    await PopularityStore(database).put_counted("acme", "feedback")
    await PopularityStore(database).add(opening("acme", "ana", key, today) for key in keys)
    await PopularityRollup(database, interval_s=0).roll_up("acme", today)
    await Searcher(recorded, many_chunks.EMBEDDER).search(ANA, more)
    assert await SightReader(recorded, new_threads()).read(ANA, "of no database", 0) is None
    known = await documents.read(ANA, Filter(), "acme1")
    assert known is not None
    await documents.read_of(ANA, Filter(), "beta", "beta1")
    await documents.page(ANA, Filter(), after="", limit=100)
    await documents.page(ANA, Filter(), after="", source=known.document.source, limit=100)
    assert await documents.total(ANA, Filter(), limit=2) == 2
    assert await documents.total(ANA, Filter(), source=known.document.source, limit=100) == NUMBER
    await documents.sources(ANA, Filter(), limit=100)
    assert await documents.count(ANA, Filter(), [("acme", "acme1"), ("beta", "beta1")], ()) == 2
    passage = HeldPassage(None, "acme", "acme1", None)
    await HeldPassages(recorded).check(ANA, Filter(), [passage])
    request = AttachRequest("ben", None, "key_1")
    await VectorStoreStore(database).attach("acme", "handbook", "file-1", "acme1", request)
    stores, one = VectorStoreStore(recorded), FileFilter(file_id="file-1")
    for newest_first in (True, False):
        page = FileListing(None, newest_first=newest_first, limit=10)
        await stores.files(ANA, Filter(), "handbook", page, maker=None)
    await stores.files(ANA, Filter(), "handbook", page, one, maker=None)
    return recorder.calls


def shows(rows: Sequence[Row]) -> bool:
    return any(row.get(name) for row in rows for name in SHOWN)


async def test_each_statement_of_searches_is_a_function_that_its_role_alone_may_call(
    calls: dict[str, Call], connection: Connection
) -> None:
    assert calls.keys() == SEARCHES

    rows = await connection.fetch(
        "SELECT proname, proacl::text[] AS granted, proconfig, prosecdef FROM pg_proc"
        " WHERE proname ~ '^(search|vocabulary)_'"
    )
    names = {row["proname"].rpartition("_")[0] for row in rows}
    assert names == {name.replace(".", "_") for name in SEARCHES}
    for row in rows:
        assert row["prosecdef"]
        assert row["proconfig"][0] == "search_path=public, pg_temp"
        assert (len(row["proconfig"]) > 1) == row["proname"].startswith("search_confirmation_")
        granted = {grant.partition("=")[0] for grant in row["granted"]}
        assert granted == {"nearhit", "nearhit_search"}


@pytest.mark.slow
async def test_without_a_tenant_or_without_grants_a_function_shows_nothing(
    database: Database, calls: dict[str, Call]
) -> None:
    nothing: list[list[str] | None] = [None, []]
    for name in sorted(SEARCHES - {"vocabulary.look_up", CONFIRM}):
        arguments, numbers = calls[name]
        _tenant, grants_given, shared, *rest = arguments
        assert shows(await database.searching.rows(name, *arguments, **numbers)), name

        for tenant in (None, "", "nobody", "acme"):
            for grants, others in product(nothing, nothing):
                rows = await database.searching.rows(name, tenant, grants, others, *rest, **numbers)
                assert not shows(rows), (name, tenant, grants, others)
        rows = await database.searching.rows(name, None, grants_given, shared, *rest, **numbers)
        assert not shows(rows), name


async def test_without_a_tenant_or_without_grants_no_chunk_is_confirmed(
    database: Database, calls: dict[str, Call]
) -> None:
    (argument,), _ = calls[CONFIRM]
    (question,) = orjson.loads(argument)

    async def visible(**fields: object) -> int:
        asked = orjson.dumps([question | fields]).decode()
        (row,) = await database.searching.shared_rows(CONFIRM, asked)
        count: int = row["visible"]
        return count

    assert await visible() > 0

    for nobody in (None, "", "nobody", "acme"):
        for nothing in (None, [], [None], [""]):
            assert await visible(tenant=nobody, grants=nothing, shared=nothing) == 0
    assert await visible(tenant=None) == 0


@pytest.mark.slow
async def test_of_words_a_function_tells_those_of_the_tenant_that_asks(
    database: Database, calls: dict[str, Call]
) -> None:
    (_, words, *rest), _ = calls["vocabulary.look_up"]

    for tenant in (None, "", "nobody", "beta"):
        (row,) = await database.searching.rows("vocabulary.look_up", tenant, words, *rest)
        assert not row["is_known"]
        assert row["near_words"] is None


async def test_what_searches_ask_for_is_no_statement_of_the_owners(database: Database) -> None:
    for name in SEARCHES:
        with pytest.raises(KeyError):
            await database.rows(name)
    for name in ("documents.stored", "keys.holder", "partitions.delete_copied_chunks"):
        with pytest.raises(KeyError):
            await database.searching.rows(name, "acme")


async def test_a_table_of_the_sessions_own_is_not_taken_for_one_of_ours(
    database_url: str, town: None
) -> None:
    async with held(database_url) as (searching, connection):
        await connection.execute(
            "CREATE TEMP TABLE documents AS SELECT 'forged' AS document_id, '' AS source,"
            " 'acme' AS tenant, ARRAY['tenant'] AS allowed_tokens, ARRAY['public'] AS readers"
        )

        recorder = cast("Database", StatementRecorder(cast("Database", _With(searching))))
        listed = await VisibleDocuments(recorder).page(
            ANA, Filter(), after="", source=None, limit=100
        )

    assert len(listed) == NUMBER


class _With:
    def __init__(self, searching: Any) -> None:
        self.searching = searching


@pytest.mark.thorough
@pytest.mark.slow
async def test_processes_that_search_a_new_database_at_once_make_each_function_once(
    database_url: str, town: None, connection: Connection
) -> None:
    async def search() -> bool:
        async with connected(database_url) as database:
            searcher = Searcher(database, many_chunks.EMBEDDER)
            found = await asyncio.gather(*(searcher.search(ANA, QUERY) for _ in range(5)))
            return all(one.hits == found[0].hits for one in found)

    assert await asyncio.gather(*(search() for _ in range(4))) == [True] * 4
    names = await connection.fetch("SELECT proname FROM pg_proc WHERE proname ~ '^search_'")
    made = [row["proname"].rpartition("_")[0] for row in names]
    without_numbers = SEARCHES - security_definer_functions.WITH_NUMBERS - {"vocabulary.look_up"}
    assert sorted(made) == sorted(name.replace(".", "_") for name in without_numbers)


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_function_that_is_dropped_is_made_again(
    database: Database, calls: dict[str, Call], connection: Connection
) -> None:
    arguments, numbers = calls["search.exact"]
    before = await database.searching.rows("search.exact", *arguments, **numbers)
    (row,) = await connection.fetch(
        "SELECT oid::regprocedure::text AS name FROM pg_proc WHERE proname ~ '^search_exact_[^l]'"
    )
    await connection.execute(f"DROP FUNCTION {row['name']}")

    assert await database.searching.rows("search.exact", *arguments, **numbers) == before


@pytest.mark.thorough
@pytest.mark.slow
async def test_another_statement_is_another_function(
    database: Database, calls: dict[str, Call], connection: Connection
) -> None:
    """As that of another version of Nearhit is, or that of another partition."""
    arguments, numbers = calls["search.nearest"]
    other = numbers | {"partition_no": 0}

    await database.searching.rows("search.nearest", *arguments, **other)

    names = await connection.fetch("SELECT proname FROM pg_proc WHERE proname ~ '^search_nearest_'")
    assert len(names) == 2


@pytest.mark.thorough
async def test_a_search_that_is_given_up_ends_inside_its_function(
    database: Database, database_url: str, town: None, connection: Connection
) -> None:
    searcher = Searcher(database, many_chunks.EMBEDDER)
    await searcher.search(ANA, QUERY)
    async with connection.transaction():
        await connection.execute("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
        searching = asyncio.create_task(searcher.search(ANA, QUERY))
        await until(database_url, 1)

        searching.cancel()

        await until(database_url, 0)
    assert (await searcher.search(ANA, QUERY)).hits


@pytest.mark.slow
async def test_a_statement_past_its_time_ends_inside_its_function(
    database_url: str, town: None, connection: Connection
) -> None:
    async with connected(database_url, connections_max=1, statement_timeout_s=1.5) as hasty:
        searcher = Searcher(hasty, many_chunks.EMBEDDER)
        await searcher.search(ANA, QUERY)
        async with connection.transaction():
            await connection.execute("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(DatabaseUnavailable):
                await searcher.search(ANA, QUERY)
            await until(database_url, 0)


async def until(url: str, number: int) -> None:
    """So many searches wait for somebody."""
    watcher = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(WAIT_S_MAX):
            while number != await watcher.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                r" AND wait_event_type = 'Lock' AND query ~ '^SELECT \* FROM public\.search_'"
            ):
                await asyncio.sleep(0.01)
    finally:
        await watcher.close()
