"""What a tenant stores is counted in the transaction of each write, and quotas bound it."""

import asyncio
from collections.abc import Callable

import pytest

from gateway.extensions._sources.source_store import SourceConfig, SourceStore
from gateway.extensions.audits.consistency_counts import ConsistencyReader
from gateway.extensions.vector_stores.stored.file_store import FileStore
from gateway.extensions.vector_stores.stored.vector_store_store import VectorStoreStore
from index.documents.document_store import DocumentStore
from index.documents.outbox import CommitResult
from index.documents.quotas import add_source
from index.errors import QuotaExceeded
from index.model.quota import NO_QUOTAS, Quotas, StoredAmounts
from index.model.scope import Maker
from index.postgres.database import Database
from index.tenants.quota_store import QuotaStore
from index.tenants.tenant_store import TenantStore
from ingest.write.revision import Put
from ingest.write.writer import Writer
from tests.index.support.commits import Rows, a_write, apply, revision, written
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, a_document

pytestmark = pytest.mark.anyio


@pytest.fixture
def quotas(database: Database, tenants: TenantStore) -> QuotaStore:
    return QuotaStore(database, NO_QUOTAS)


async def stored_amounts(quotas: QuotaStore) -> StoredAmounts:
    return (await quotas.get("acme"))[0]


async def test_what_a_tenant_stores_is_counted_through_all_that_it_writes(
    documents: DocumentStore, quotas: QuotaStore, database: Database, tenants: TenantStore
) -> None:
    files = FileStore(database)
    first = await written(documents, a_document("one", text="día", source="a"), "día", "x")
    await written(documents, a_document("two", text="four", source="b", readers=("public",)), "f")
    added = await stored_amounts(quotas)
    longer = a_write(
        a_document("one", text="a longer text", source="b"),
        version=first.version,
        added=["a longer text"],
        removed=first.chunk_ids,
        stored=first.document,
    )
    assert await apply(documents, "acme", longer) is not None
    file = await files.add(
        "acme",
        "ana",
        key_id=None,
        filename="f",
        purpose="assistants",
        content=b"12345",
        files_max=10,
        default_quotas=NO_QUOTAS,
    )
    changed = await stored_amounts(quotas)
    stored = await documents.stored("acme", "two")
    assert stored is not None
    await documents.remove("acme", stored)
    await files.remove(Maker("acme", "ana"), file.file_id)

    assert added == StoredAmounts(documents=2, chunks=3, bytes=4 + 4, sources=2)
    assert changed == StoredAmounts(documents=2, chunks=2, bytes=13 + 4 + 5, sources=2)
    assert await stored_amounts(quotas) == StoredAmounts(1, 1, 13, 2)
    for tenant in ("acme", "beta"):
        counts = await ConsistencyReader(database).counts(tenant)
        assert counts is not None
        assert counts.recorded == counts.counted


async def test_an_audit_finds_and_corrects_counters_that_are_wrong(
    documents: DocumentStore, quotas: QuotaStore, database: Database, rows: Rows
) -> None:
    await written(documents, a_document("one", text="four"), "a")
    async with database.transaction() as session:
        await session.connection.execute("UPDATE tenants SET documents = 7, stored_bytes = 7")
    consistency = ConsistencyReader(database)
    wrong = await consistency.counts("acme")
    assert wrong is not None
    assert wrong.recorded != wrong.counted

    await consistency.recount("acme")

    assert await stored_amounts(quotas) == StoredAmounts(1, 1, 4, 1)


@pytest.mark.parametrize(
    ("own", "quota"),
    [
        (Quotas(documents=1), "documents"),
        (Quotas(chunks=3), "chunks"),
        (Quotas(bytes=7), "bytes"),
        (Quotas(sources=1), "sources"),
    ],
)
async def test_of_two_writes_at_once_that_have_room_alone_one_is_refused(
    documents: DocumentStore, quotas: QuotaStore, tenants: TenantStore, own: Quotas, quota: str
) -> None:
    await quotas.put("acme", own)

    outcomes = await asyncio.gather(
        *(
            documents.apply_all(
                "acme",
                [a_write(a_document(name, text="four", source=name), added=["a" + name, "b"])],
            )
            for name in ("one", "two")
        ),
        return_exceptions=True,
    )

    (refused,) = (outcome for outcome in outcomes if isinstance(outcome, QuotaExceeded))
    ((stored,),) = (outcome for outcome in outcomes if isinstance(outcome, list))
    assert isinstance(stored, CommitResult)
    assert refused.excess.quota == quota
    assert refused.excess.used <= refused.excess.limit < refused.excess.used + refused.excess.added
    assert await revision(tenants, "acme") == 1
    assert await stored_amounts(quotas) == StoredAmounts(1, 2, 4, 1)


async def test_many_writes_at_once_fill_a_quota_exactly(
    documents: DocumentStore, quotas: QuotaStore, rows: Rows
) -> None:
    await quotas.put("acme", Quotas(documents=5))

    outcomes = await asyncio.gather(
        *(
            apply(documents, "acme", a_write(a_document(f"d{number}"), added=["a"]))
            for number in range(12)
        ),
        return_exceptions=True,
    )

    assert sum(isinstance(outcome, QuotaExceeded) for outcome in outcomes) == 7
    assert await rows.count("documents") == 5


async def test_a_tenant_beyond_a_lowered_quota_may_write_less_and_remove(
    documents: DocumentStore, quotas: QuotaStore
) -> None:
    first = await written(documents, a_document("one", text="a long text"), "a", "b")
    await written(documents, a_document("two", text="another"), "c")
    await quotas.put("acme", Quotas(documents=0, chunks=0, bytes=0, sources=0))
    shorter = a_write(
        a_document("one", text="short"),
        version=first.version,
        added=["short"],
        removed=first.chunk_ids,
        stored=first.document,
    )

    assert await apply(documents, "acme", shorter) is not None
    stored = await documents.stored("acme", "one")
    assert stored is not None
    assert await documents.remove("acme", stored) is not None
    with pytest.raises(QuotaExceeded):
        await apply(documents, "acme", a_write(a_document("three"), added=["d"]))


async def test_one_tenants_quota_bounds_no_other(
    documents: DocumentStore, quotas: QuotaStore
) -> None:
    await quotas.put("acme", Quotas(documents=0))

    assert await apply(documents, "beta", a_write(a_document("one"), added=["a"])) is not None


async def test_defaults_bound_tenants_without_quotas_of_their_own(
    database: Database, tenants: TenantStore, quotas: QuotaStore
) -> None:
    documents = DocumentStore(database, default_quotas=Quotas(documents=1))
    await quotas.put("beta", Quotas(documents=2))
    for tenant in ("acme", "beta"):
        assert await apply(documents, tenant, a_write(a_document("one"), added=["a"])) is not None

    assert await apply(documents, "beta", a_write(a_document("two"), added=["a"])) is not None
    with pytest.raises(QuotaExceeded, match="1 of at most 1 documents, and this adds 1"):
        await apply(documents, "acme", a_write(a_document("two"), added=["a"]))


async def read_source(database: Database, source: str) -> None:
    config = SourceConfig("folder", {}, None, paused=True, next_run_at=None)
    await SourceStore(database).put("acme", source, config)


async def vector_store(database: Database, name: str) -> None:
    await VectorStoreStore(database).add(
        "acme",
        name=name,
        description="",
        metadata={},
        owner="ana",
        readers=[],
        stores_max=10,
        default_quotas=NO_QUOTAS,
    )


@pytest.mark.parametrize("add", [read_source, vector_store])
async def test_sources_that_are_read_and_vector_stores_count_as_sources(
    database: Database, quotas: QuotaStore, add: Callable[[Database, str], object]
) -> None:
    await quotas.put("acme", Quotas(sources=2))

    outcomes = await asyncio.gather(
        *(add(database, name) for name in ("a", "b", "c")),  # type: ignore[call-overload]  # coroutines
        return_exceptions=True,
    )

    (refused,) = filter(None, outcomes)
    assert isinstance(refused, QuotaExceeded)
    assert await stored_amounts(quotas) == StoredAmounts(sources=2)


async def test_a_source_waits_for_a_write_under_way_that_may_take_the_last_place(
    database: Database, quotas: QuotaStore
) -> None:
    await quotas.put("acme", Quotas(sources=1))

    async with database.transaction() as session:
        await session.connection.execute(
            "INSERT INTO sources (tenant, source) VALUES ('acme', 'a')"
        )
        await add_source(session, "acme", NO_QUOTAS)
        later = asyncio.create_task(vector_store(database, "b"))
        async with asyncio.timeout(60):
            while not await session.connection.fetchval(_SOMEBODY_WAITS):
                assert not later.done()
                await asyncio.sleep(0.005)

    with pytest.raises(QuotaExceeded):
        await later


_SOMEBODY_WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"


async def test_a_source_that_exists_can_be_changed_when_there_is_no_room(
    database: Database, quotas: QuotaStore
) -> None:
    await read_source(database, "a")
    await quotas.put("acme", Quotas(sources=0))

    await read_source(database, "a")


async def test_a_file_for_which_there_is_no_room_is_refused(
    database: Database, quotas: QuotaStore, rows: Rows
) -> None:
    await quotas.put("acme", Quotas(bytes=4))

    with pytest.raises(QuotaExceeded):
        await FileStore(database).add(
            "acme",
            "ana",
            key_id=None,
            filename="f",
            purpose="assistants",
            content=b"12345",
            files_max=10,
            default_quotas=NO_QUOTAS,
        )

    assert await rows.count("files") == 0
    assert await stored_amounts(quotas) == StoredAmounts()


async def test_a_write_without_room_embeds_nothing_and_leaves_no_vectors(
    documents: DocumentStore, quotas: QuotaStore, embedder: RecordingEmbedder, rows: Rows
) -> None:
    writer = Writer(documents, embedder, RecordingInvalidation())
    await quotas.put("acme", Quotas(bytes=10))

    texts = {"long": "A text for which there is no room.", "short": "Room."}
    puts = [Put(name, lambda _, n=name: a_document(n, text=texts[n])) for name in texts]  # type: ignore[misc]  # n is a default
    long, short = await writer.put_all("acme", puts)

    assert isinstance(long, QuotaExceeded)
    assert not isinstance(short, Exception)
    assert await rows.count("embeddings") == 1
    assert await stored_amounts(quotas) == StoredAmounts(1, 1, 5, 1)
