"""Openings on PostgreSQL: whose count, how often, and what remains of them."""

from collections.abc import Sequence
from datetime import date, timedelta

import asyncpg
import pytest

from gateway.extensions.popularity.popularity_rollup import PopularityRollup
from gateway.extensions.popularity.popularity_store import PopularityStore, opening
from index.documents.document_store import DocumentStore
from index.documents.visible_documents import VisibleDocuments
from index.model.query import Filter, Query
from index.model.query_parts.boost import Boost
from index.model.scope import Scope, everything
from index.postgres.database import Database
from index.search.searcher import Searcher
from index.tenants.principals import CountedOpenings
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.conftest import *  # noqa: F403  the fixtures
from tests.index.support.samples import a_document, put

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", ["sales"])
BEN = everything("acme", "ben", [])
TODAY = date(2026, 3, 1)
LEAVE = "Everybody gets annual leave."
QUERY = Query("annual leave", top_k=20, explain=True, boost=Boost(popularity=1.0))


class Openings(PopularityStore):
    """The store, and which documents may be opened."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.openable = VisibleDocuments(database).openable


@pytest.fixture
async def store(database: Database, tenants: TenantStore) -> Openings:
    store = Openings(database)
    for tenant in ("acme", "beta"):
        await store.put_counted(tenant, "feedback")
    return store


@pytest.fixture
def rollup(database: Database) -> PopularityRollup:
    return PopularityRollup(database, interval_s=3_600)


async def open_as(
    store: Openings,
    scope: Scope,
    *document_ids: str,
    subject: str = "ana",
    tenant: str = "acme",
    day: date = TODAY,
) -> int:
    """Returns how many of the documents the scope admits."""
    keys = await store.openable(scope, Filter(), [(tenant, name) for name in document_ids])
    await store.add(opening(scope.tenant, subject, key, day) for key in keys)
    return len(keys)


async def popularities(searcher: Searcher, scope: Scope = ANA) -> dict[str, float | None]:
    found = await searcher.search(scope, QUERY)
    return {hit.document_id: hit.boosts.popularity for hit in found.hits if hit.boosts}


async def test_a_subject_counts_once_a_day_and_document_and_many_subjects_count_more(
    store: Openings, rollup: PopularityRollup, writer: Writer, searcher: Searcher
) -> None:
    for name in ("a", "b", "c"):
        await put(writer, a_document(name, f"{LEAVE} {name}"))

    for _ in range(5):
        await open_as(store, ANA, "a")
    for subject in ("ana", "ben", "cy"):
        await open_as(store, ANA, "b", subject=subject)
    before = await popularities(searcher)
    committed = await rollup.roll_up("acme", TODAY)

    assert before == {"a": 0, "b": 0, "c": 0}
    assert committed is not None
    assert list(committed.revisions) == ["acme"]
    assert await popularities(searcher) == {"a": 1, "b": 2, "c": 0}
    assert list(await popularities(searcher)) == ["b", "a", "c"]
    assert await rollup.roll_up("acme", TODAY) is None  # each opening counts once
    await open_as(store, ANA, "a", day=TODAY)
    assert await rollup.roll_up("acme", TODAY) is None
    await open_as(store, ANA, "a", day=TODAY + timedelta(days=1))
    await rollup.roll_up("acme", TODAY + timedelta(days=1))
    assert (await popularities(searcher))["a"] == 1.5


async def test_only_documents_that_the_opener_may_read_and_searches_find_can_be_opened(
    store: Openings, rollup: PopularityRollup, writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("mine", f"{LEAVE} 1", readers=(), owner="ana"))
    await put(writer, a_document("hidden", f"{LEAVE} 2", is_active=False))
    await put(writer, a_document("theirs", f"{LEAVE} 3", readers=("public",)), "beta")
    await put(writer, a_document("secret", f"{LEAVE} 4"), "beta")
    receiving = everything("acme", "ben", [], receives_public=True)

    assert await open_as(store, BEN, "mine", "hidden", "absent") == 0
    assert await open_as(store, BEN, "secret", tenant="beta") == 0
    assert await open_as(store, receiving, "secret", tenant="beta") == 0
    assert await open_as(store, BEN, "theirs", tenant="beta") == 0
    assert await open_as(store, receiving, "theirs", tenant="beta") == 1
    assert await open_as(store, ANA, "mine") == 1
    assert await store.openable(ANA, Filter(sources=("other",)), [("acme", "mine")]) == []
    (chunk_id,) = [
        hit.chunk_id
        for hit in (await searcher.search(ANA, QUERY)).hits
        if hit.document_id == "mine"
    ]
    assert len(await store.openable(ANA, Filter(), chunk_ids=[chunk_id])) == 1
    assert await store.openable(BEN, Filter(), chunk_ids=[chunk_id]) == []


async def test_what_one_tenant_opens_is_popular_in_no_other(
    store: Openings, rollup: PopularityRollup, writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("theirs", LEAVE, readers=("public",)), "beta")
    beta = everything("beta", "bob", [])

    receiving = everything("acme", "ana", [], receives_public=True)
    assert await open_as(store, receiving, "theirs", tenant="beta") == 1
    assert await rollup.due(TODAY) == ["acme"]
    committed = await rollup.roll_up("acme", TODAY)

    assert committed is not None
    assert list(committed.revisions) == ["acme"]
    assert await popularities(searcher, receiving) == {"theirs": 1}
    assert await popularities(searcher, beta) == {"theirs": 0}


async def test_a_level_falls_by_itself_and_the_last_row_goes(
    store: Openings,
    rollup: PopularityRollup,
    writer: Writer,
    searcher: Searcher,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await put(writer, a_document("a", LEAVE))
    await open_as(store, ANA, "a")
    await rollup.roll_up("acme", TODAY)
    await connection.execute("UPDATE tenants SET popularity_rolled_up_at = NULL")

    seen, day = [1.0], TODAY
    while falls_on := await connection.fetchval("SELECT falls_on FROM document_popularity"):
        assert await rollup.due(falls_on - timedelta(days=1)) == []
        assert await rollup.due(falls_on) == ["acme"]
        day = falls_on + timedelta(days=1)
        assert await rollup.roll_up("acme", day) is not None
        await connection.execute("UPDATE tenants SET popularity_rolled_up_at = NULL")
        seen.append((await popularities(searcher))["a"] or 0.0)

    assert seen == [1, 0.75, 0.5, 0.25, 0]
    assert timedelta(days=90) < day - TODAY < timedelta(days=120)
    await rollup.delete_openings(TODAY + timedelta(days=1))
    assert await connection.fetchval("SELECT count(*) FROM document_openings") == 1
    await rollup.delete_openings(day)
    assert await connection.fetchval("SELECT count(*) FROM document_openings") == 0


async def test_a_tenant_waits_between_two_roll_ups(
    store: Openings, rollup: PopularityRollup, writer: Writer, database: Database
) -> None:
    await put(writer, a_document("a", LEAVE))
    await open_as(store, ANA, "a")
    await rollup.roll_up("acme", TODAY)
    await open_as(store, ANA, "a", subject="ben")

    assert await rollup.due(TODAY) == []
    assert await PopularityRollup(database, interval_s=0).due(TODAY) == ["acme"]


async def test_a_document_that_is_being_removed_delays_nobody_and_leaves_nothing(
    store: Openings,
    rollup: PopularityRollup,
    writer: Writer,
    searcher: Searcher,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    for name in ("a", "b"):
        await put(writer, a_document(name, f"{LEAVE} {name}"))
    await open_as(store, ANA, "a", "b")

    async with connection.transaction():
        await connection.execute("SELECT FROM documents WHERE document_id = 'a' FOR UPDATE")
        await rollup.roll_up("acme", TODAY)
        await open_as(store, ANA, "a", subject="ben")
    assert await popularities(searcher) == {"a": 0, "b": 1}
    await rollup.roll_up("acme", TODAY)
    assert await popularities(searcher) == {"a": 1, "b": 1}

    await writer.remove("acme", "a", lambda document: document)
    await put(writer, a_document("a", f"{LEAVE} a"))
    assert await popularities(searcher) == {"a": 0, "b": 1}
    for table in ("document_openings", "document_popularity"):
        assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 1  # noqa: S608


@pytest.mark.parametrize("counts", ["nothing", "all"])
async def test_turning_it_off_deletes_all_in_a_change_and_nothing_comes_after(
    store: Openings,
    rollup: PopularityRollup,
    writer: Writer,
    searcher: Searcher,
    documents: DocumentStore,
    counts: CountedOpenings,
) -> None:
    await put(writer, a_document("a", LEAVE))
    await open_as(store, ANA, "a")
    await rollup.roll_up("acme", TODAY)

    committed = await store.put_counted("acme", counts)
    await open_as(store, ANA, "a", subject="ben")
    await rollup.roll_up("acme", TODAY)

    is_off = counts == "nothing"
    assert (committed is not None) is is_off
    assert await popularities(searcher) == {"a": 0 if is_off else 1.5}
    assert await store.counted("acme") == counts


async def test_an_opener_has_another_digest_for_each_day_and_document() -> None:
    rows: Sequence[tuple[str, str, int, date]] = [
        ("acme", "ana", 1, TODAY),
        ("acme", "ana", 1, TODAY + timedelta(days=1)),
        ("acme", "ana", 2, TODAY),
        ("acme", "ben", 1, TODAY),
        ("beta", "ana", 1, TODAY),
    ]

    assert len({opening(*row).opener for row in rows}) == len(rows)
    assert opening(*rows[0]) == opening(*rows[0])
