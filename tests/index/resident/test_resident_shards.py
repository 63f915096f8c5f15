"""Which partitions are loaded, followed, compacted and evicted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from index.documents.document_store import DocumentStore
from index.errors import DatabaseUnavailable
from index.model.document import Document
from index.model.query import Filter, Query
from index.model.scope import everything, resolve
from index.postgres.database import Database
from index.resident import matching_documents, shard
from index.resident.matching_documents import MatchingDocuments, MatchingDocumentsReader
from index.search.confidence import Confidence, ConfidenceStore
from index.tenants.tenant_store import TenantStore
from index.vocabulary.vocabulary import Spelling, Vocabulary
from ingest.write.writer import Writer
from tests.index.support.residence import Residence, recorded_lists, residence
from tests.index.support.samples import PLAIN, RecordingEmbedder, a_document
from tests.index.support.samples import put as put_document

pytestmark = pytest.mark.anyio

ANA = resolve("acme", "ana", [], ["private", "shared", "tenant"])
BEN = resolve("beta", "ben", [], ["private", "shared", "tenant"])
"""Scopes of one partition each: they leave out public documents."""


async def put(writer: Writer, tenant: str, document_id: str, text: str, **fields: Any) -> None:
    await put_document(writer, a_document(document_id, text, **fields), tenant)


@pytest.fixture(
    params=[
        pytest.param(False, id="confirmed by PostgreSQL"),
        pytest.param(True, id="in a region", marks=pytest.mark.thorough),
    ]
)
async def resident(
    request: pytest.FixtureRequest,
    database: Database,
    tenants: TenantStore,
    embedder: RecordingEmbedder,
) -> AsyncIterator[Residence]:
    async with residence(database, embedder, in_region=request.param) as opened:
        yield opened


@pytest.mark.thorough
async def test_a_partition_is_loaded_once_it_is_searched_three_times(
    resident: Residence, writer: Writer
) -> None:
    await put(writer, "acme", "leave", "Everybody has 25 days of leave.")
    for _ in range(2):
        assert resident.shards.use(ANA) is None
    await asyncio.sleep(0.1)
    assert not resident.events

    await resident.load(ANA)
    assert resident.events == {"loaded": 1}
    assert await resident.found(ANA, "days of leave") == ["leave"]


async def test_a_partition_with_more_chunks_is_not_loaded(
    database: Database, documents: DocumentStore, writer: Writer, embedder: RecordingEmbedder
) -> None:
    async with residence(database, embedder, chunks_max=1) as resident:
        await put(writer, "acme", "leave", "Everybody has 25 days of leave.")
        await put(writer, "acme", "travel", "Trains first.")
        for _ in range(5):
            assert resident.shards.use(ANA) is None
        await resident.until(lambda: resident.events["unsuitable"] == 1)

        assert await resident.found(ANA, "days of leave") == ["leave", "travel"]
        assert resident.shards.use(ANA) is None


async def test_a_processor_that_sums_in_half_precision_uses_no_shards(
    database: Database,
    documents: DocumentStore,
    writer: Writer,
    embedder: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shard.products_are_precise()
    products = shard._products  # noqa: SLF001  what is made worse
    monkeypatch.setattr(
        shard, "_products", lambda *parts: products(*parts).astype(np.float16).astype(np.float32)
    )
    assert not shard.products_are_precise()
    await put(writer, "acme", "leave", "Everybody has 25 days of leave.")
    async with residence(database, embedder) as resident:
        for _ in range(5):
            assert resident.shards.use(ANA) is None
        await asyncio.sleep(0.1)
        assert not resident.events


async def test_the_shard_that_was_searched_longest_ago_is_evicted(
    database: Database, documents: DocumentStore, writer: Writer, embedder: RecordingEmbedder
) -> None:
    text = "Everybody has 25 days of leave."
    for tenant in ("acme", "beta"):
        await put(writer, tenant, "leave", text)
    async with residence(database, embedder) as measured:
        await measured.load(ANA)
        size_bytes = measured.shards.size_bytes
    assert size_bytes > 500

    async with residence(database, embedder, bytes_max=size_bytes * 3 // 2) as resident:
        await resident.load(ANA)
        await resident.load(BEN)
        assert resident.events == {"loaded": 2, "evicted": 1}
        assert resident.shards.use(ANA) is None
        assert resident.shards.use(BEN) is not None
        assert resident.shards.size_bytes <= size_bytes * 3 // 2
        for scope in (ANA, BEN):
            assert await resident.found(scope, "days of leave") == ["leave"]


@pytest.mark.thorough
async def test_a_large_tenant_displaces_no_small_one_until_that_is_idle(
    database: Database, documents: DocumentStore, writer: Writer, embedder: RecordingEmbedder
) -> None:
    await put(writer, "acme", "leave", "Everybody has 25 days of leave.")
    for number in range(20):
        await put(writer, "beta", f"leave-{number}", f"Office {number} has {number} days of leave.")
    async with residence(database, embedder) as measured:
        await measured.load(BEN)
        large_bytes = measured.shards.size_bytes
        await measured.load(ANA)
        both_bytes = measured.shards.size_bytes
    now_s = [0.0]
    async with residence(
        database, embedder, bytes_max=both_bytes - 1, clock_s=lambda: now_s[0]
    ) as resident:
        await resident.load(ANA)

        await resident.until(
            lambda: resident.shards.use(BEN) is not None or resident.events["evicted"] == 1
        )
        assert resident.shards.use(ANA) is not None
        for _ in range(5):  # its size is known, so it is not loaded in vain again
            assert resident.shards.use(BEN) is None

        now_s[0] = 61.0
        await resident.load(BEN)
        assert resident.shards.use(ANA) is None
        assert resident.shards.size_bytes == large_bytes
        assert resident.events == {"loaded": 3, "evicted": 2}


async def test_every_change_is_followed_and_small_segments_become_one(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index.resident.resident_partition._CHANGED_ROWS_MAX", 20)
    monkeypatch.setattr("index.resident.resident_partition._CHANGED_SHARE", 4)
    await put(writer, "acme", "d0", "Item zero of the list.")
    await resident.load(ANA)
    for number in range(1, 60):
        await put(writer, "acme", f"d{number}", f"Item {number} of the list.")
        if number % 3 == 0:
            await writer.remove("acme", f"d{number - 1}", lambda document: document)
        found = await resident.found(ANA, f"item {number} of the list")
        assert found[0] == f"d{number}"
    await resident.until(lambda: resident.events["compacted"] > 0)

    (followed,) = resident.shards.use(ANA) or []
    assert len(followed.segments) <= 7
    assert sum(int(live.sum()) for live in followed.live) == 60 - 19
    assert resident.events["outdated"] == 0


async def test_a_document_that_is_shared_or_hidden_is_so_in_the_next_search(
    resident: Residence, writer: Writer
) -> None:
    ben = resolve("acme", "ben", [], ["private", "shared", "tenant"])
    await put(writer, "acme", "pay", "Salaries of everybody.", owner="ana", readers=())
    await resident.load(ben)
    assert await resident.found(ben, "salaries") == []
    assert await resident.found(ANA, "salaries") == ["pay"]

    def with_readers(*readers: str) -> Callable[[Document | None], Document]:
        return lambda stored: replace(stored or PLAIN, readers=readers)

    await writer.put_access("acme", "pay", with_readers("user:ben"))
    assert await resident.found(ben, "salaries") == ["pay"]
    await writer.put_access("acme", "pay", with_readers())
    assert await resident.found(ben, "salaries") == []
    assert resident.events == {"loaded": 1, "followed": 2}


async def test_public_documents_of_other_tenants_come_from_a_shard_of_their_own(
    resident: Residence, writer: Writer
) -> None:
    scope = everything("acme", "ana", [], receives_public=True)
    await put(writer, "beta", "leave", "Everybody has 25 days of leave.", readers=("public",))
    await put(writer, "acme", "leave", "Nobody has leave on Sundays.", readers=("public",))
    await resident.load(scope)
    assert sorted(await resident.found(scope, "leave")) == ["leave", "leave"]
    await writer.remove("beta", "leave", lambda document: document)
    assert await resident.found(scope, "leave") == ["leave"]


async def test_a_history_that_ended_ends_its_shards(
    resident: Residence, writer: Writer, tenants: TenantStore
) -> None:
    await put(writer, "acme", "leave", "Everybody has 25 days of leave.")
    await resident.load(ANA)
    (ended,) = resident.shards.use(ANA) or []
    await tenants.begin_history()
    assert await resident.found(ANA, "leave") == ["leave"]
    assert resident.events["outdated"] == 1
    assert all(each.history != ended.history for each in resident.shards.use(ANA) or ())


async def test_the_score_that_a_tenant_requires_counts_from_the_next_search(
    resident: Residence, database: Database, writer: Writer
) -> None:
    await put(writer, "acme", "leave", "Everybody has 25 days of leave.")
    await resident.load(ANA)
    store = ConfidenceStore(database)
    for score_min in (1.0, 0.01, 1.0):
        await store.put("acme", Confidence(score_min, {}, None))
        for _ in range(2):  # once as it follows or is loaded again, once as it is loaded
            await resident.load(ANA)
            found = await resident.search(ANA, Query("days of leave"))
            assert found.low_confidence is (score_min == 1.0)
    assert bool(resident.in_memory) is (resident.tenants is not None)


async def test_words_of_the_tenant_are_looked_up_in_memory(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[Sequence[str]] = []
    look_up = Vocabulary._look_up  # noqa: SLF001  what is counted

    async def counted(self: Vocabulary, *arguments: Any) -> Spelling:
        looked_up.append(arguments[1])
        return await look_up(self, *arguments)

    monkeypatch.setattr(Vocabulary, "_look_up", counted)
    await put(writer, "acme", "engine", "The turboencabulator needs a marzelvane.")
    await resident.load(ANA)
    await resident.searcher.search(ANA, Query("turboencabulator marzelvane"))
    assert looked_up == []

    corrected = await resident.searcher.search(ANA, Query("turboencabulatr"))
    assert corrected.corrections == {"turboencabulatr": ("turboencabulator",)}
    await put(writer, "acme", "valve", "The dingle arm of a lotus-o-delta.")
    learned = await resident.searcher.search(ANA, Query("dimgle turboencabulator"))
    assert learned.corrections == {"dimgle": ("dingle",)}
    assert looked_up == []


async def test_a_filter_on_metadata_is_asked_of_postgresql_once_until_something_changes(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = recorded_lists(monkeypatch)
    query = Query("days of leave", filter=Filter(metadata={"team": "sales"}))
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await put(writer, "acme", "travel", "Trains on days of leave.", metadata={"team": "ops"})
    await resident.load(ANA)

    async def found() -> list[str]:
        return [hit.document_id for hit in (await resident.search(ANA, query)).hits]

    assert [await found() for _ in range(3)] == [["leave"]] * 3
    assert len(lists) == 1
    await put(writer, "acme", "travel", "Trains on days of leave.", metadata={"team": "sales"})
    assert sorted(await found()) == ["leave", "travel"]
    assert len(lists) == 2
    assert resident.events == {"loaded": 1, "followed": 1}


async def test_a_filter_on_the_last_edit_sees_an_edit_that_keeps_every_chunk(
    resident: Residence, writer: Writer, database: Database
) -> None:
    await put(writer, "acme", "leave", "25 days of leave.", uri="/old")
    async with database.session() as session:
        now = await session.connection.fetchval("SELECT clock_timestamp()")
    await resident.load(ANA)
    before = Query("days of leave", filter=Filter(updated_before=now))
    after = Query("days of leave", filter=Filter(updated_after=now))

    assert [len((await resident.search(ANA, query)).hits) for query in (before, after)] == [1, 0]
    await put(writer, "acme", "leave", "25 days of leave.", uri="/new")
    assert [len((await resident.search(ANA, query)).hits) for query in (before, after)] == [0, 1]
    assert resident.events["outdated"] == 0


async def test_what_a_filter_admits_is_listed_for_each_scope(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its time would reveal what callers with other grants have asked."""
    lists = recorded_lists(monkeypatch)
    query = Query("days of leave", filter=Filter(metadata={"team": "sales"}))
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await resident.load(ANA)
    cid = resolve("acme", "cid", [], ["private", "shared", "tenant"])

    for scope in (ANA, cid, ANA, cid):
        await resident.search(scope, query)

    assert [scope.owner for scope in lists] == ["owner:ana", "owner:cid"]


SALES = Query("days of leave", filter=Filter(metadata={"team": "sales"}))


async def test_a_filter_that_comes_once_is_not_listed(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = recorded_lists(monkeypatch)
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await resident.load(ANA)

    for team in ("sales", "ops", "law"):
        query = replace(SALES, filter=Filter(metadata={"team": team}))
        assert len((await resident.search(ANA, query)).hits) == (team == "sales")
    assert lists == []
    assert not resident.shards.holds(ANA, SALES.filter)

    await resident.search(ANA, SALES)
    assert lists == [ANA]
    assert resident.shards.holds(ANA, SALES.filter)


async def test_a_filter_that_came_long_ago_is_not_listed(
    database: Database,
    tenants: TenantStore,
    writer: Writer,
    embedder: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matching_documents, "_WINDOW_S", 0.0)
    lists = recorded_lists(monkeypatch)
    async with residence(database, embedder) as opened:
        await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
        await opened.load(ANA)
        for _ in range(5):
            await opened.search(ANA, SALES)
    assert lists == []


class SlowLists:
    """Lists of documents that wait after PostgreSQL has answered, until they may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = self.read = 0
        self.may_end = asyncio.Event()
        self._read = matching_documents.read
        monkeypatch.setattr(matching_documents, "read", self._slow)

    async def _slow(self, *arguments: Any) -> MatchingDocuments:
        self.begun += 1
        matching = await self._read(*arguments)
        self.read += 1
        await self.may_end.wait()
        return matching


async def test_concurrent_searches_with_a_filter_share_one_list(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await resident.load(ANA)
    await resident.search(ANA, SALES)
    lists = SlowLists(monkeypatch)

    searches = [asyncio.create_task(resident.searcher.search(ANA, SALES)) for _ in range(20)]
    await resident.until(lambda: lists.begun > 0)
    await asyncio.sleep(0.05)
    lists.may_end.set()

    assert [len(result.hits) for result in await asyncio.gather(*searches)] == [1] * 20
    assert lists.begun == 1


async def test_a_search_after_a_commit_does_not_use_a_list_that_began_before(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await resident.load(ANA)
    await resident.search(ANA, SALES)
    lists = SlowLists(monkeypatch)
    early = asyncio.create_task(resident.searcher.search(ANA, SALES))
    await resident.until(lambda: lists.read > 0)

    await put(writer, "acme", "travel", "Trains on days of leave.", metadata={"team": "sales"})
    assert len(await resident.found(ANA, "days of leave")) == 2  # so the shard has followed
    late = asyncio.create_task(resident.searcher.search(ANA, SALES))
    await asyncio.sleep(0.05)
    lists.may_end.set()

    assert len((await late).hits) == 2
    assert len((await early).hits) == 2
    assert lists.begun == 2
    assert resident.events["outdated"] == 0


async def test_who_waits_for_a_list_makes_it_if_its_reader_is_cancelled(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await resident.load(ANA)
    await resident.search(ANA, SALES)
    lists = SlowLists(monkeypatch)
    reader = asyncio.create_task(resident.searcher.search(ANA, SALES))
    await resident.until(lambda: lists.begun == 1)
    waiting = [asyncio.create_task(resident.searcher.search(ANA, SALES)) for _ in range(3)]
    await asyncio.sleep(0.05)

    waiting.pop().cancel()
    reader.cancel()
    await resident.until(lambda: lists.begun == 2)
    lists.may_end.set()

    assert [len(result.hits) for result in await asyncio.gather(*waiting)] == [1] * 2
    assert lists.begun == 2


async def test_who_waits_for_a_list_fails_as_its_reader_does(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await resident.load(ANA)
    await resident.search(ANA, SALES)
    begun = asked = 0
    all_ask, read = asyncio.Event(), MatchingDocumentsReader.read

    async def failing(*_arguments: Any) -> MatchingDocuments:
        nonlocal begun
        begun += 1
        await all_ask.wait()
        raise DatabaseUnavailable("away")

    async def counted(reader: MatchingDocumentsReader, *arguments: Any) -> MatchingDocuments:
        nonlocal asked
        asked += 1
        if asked == 3:
            all_ask.set()
        return await read(reader, *arguments)

    monkeypatch.setattr(matching_documents, "read", failing)
    monkeypatch.setattr(MatchingDocumentsReader, "read", counted)
    searches = [resident.searcher.search(ANA, SALES) for _ in range(3)]
    outcomes = await asyncio.gather(*searches, return_exceptions=True)

    assert [type(each) for each in outcomes] == [DatabaseUnavailable] * 3
    assert begun == 1


async def test_a_commit_while_documents_are_listed_sends_the_search_to_the_tables(
    resident: Residence, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = Query("days of leave", filter=Filter(metadata={"team": "sales"}))
    await put(writer, "acme", "leave", "25 days of leave.", metadata={"team": "sales"})
    await resident.load(ANA)
    read = matching_documents.read

    async def slow(*arguments: Any) -> MatchingDocuments:
        matching = await read(*arguments)
        await put(writer, "acme", "travel", "Trains on days of leave.", metadata={"team": "ops"})
        await put(writer, "acme", "leave", "No days of leave.", metadata={"team": "ops"})
        return matching

    assert len((await resident.search(ANA, query)).hits) == 1
    with monkeypatch.context() as context:
        context.setattr(matching_documents, "read", slow)
        assert (await resident.searcher.search(ANA, query)).hits == ()
    assert (await resident.search(ANA, query)).hits == ()
    assert resident.events["outdated"] == 0
