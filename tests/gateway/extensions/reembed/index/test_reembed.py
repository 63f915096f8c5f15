"""A tenant's move to another embedder, while searches and writers go on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray

from common.command_errors import CommandError
from common.shares.threads import FairThreads
from gateway.extensions.reembed.embedding_migration import EmbeddingMigration
from gateway.extensions.reembed.errors import NotReembedded
from gateway.extensions.reembed.reembedder import Reembedder, ReembedProgress
from gateway.extensions.reembed.tenant_moves import move
from index.documents.document_store import DocumentStore
from index.documents.outbox import CommitResult
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.index_version import check_or_create
from index.errors import EmbeddingUnavailable, TenantMissing
from index.model.query import Query
from index.model.scope import everything
from index.postgres.database import Database
from index.search.searcher import Searcher
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, a_document, put
from tests.threads import new_threads

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ANA = everything("acme", "ana", [], receives_public=True)
DOCUMENTS = 120


class Stops(RecordingEmbedder):
    """Gives out after so many calls, as a service does whose credit has run out."""

    def __init__(self, embedder: HashingEmbedder, calls: int) -> None:
        super().__init__(embedder)
        self._left = calls

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self._left:
            raise EmbeddingUnavailable("no credit left")
        self._left -= 1
        return await super().embed_passages(texts)


class Waits(RecordingEmbedder):
    """Embeds a little at a time, and a search comes before each time."""

    def __init__(self, embedder: HashingEmbedder) -> None:
        super().__init__(embedder)
        self.batch_texts_max = 4
        self.searched = asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.searched.clear()
        await self.searched.wait()
        return await super().embed_passages(texts)


class CallsBeforeSwitch(EmbeddingMigration):
    """Awaits a hook, with the round's number, between each round's fill and its switch."""

    def __init__(self, database: Database, hook: Callable[[int], Awaitable[None]]) -> None:
        super().__init__(database)
        self._hook = hook
        self.rounds = 0

    async def switch(self, tenant: str, space: str) -> CommitResult | None:
        self.rounds += 1
        await self._hook(self.rounds)
        return await super().switch(tenant, space)


@pytest.fixture
def coming() -> RecordingEmbedder:
    return RecordingEmbedder(HashingEmbedder(64))


@pytest.fixture
async def full(database: Database, writer: Writer, embedder: RecordingEmbedder) -> None:
    await check_or_create(database, embedder)
    for number in range(DOCUMENTS):
        await put(writer, a_document(f"d{number}", f"Lamp {number} burns oil of whales."))
    await put(writer, a_document("d0", "Ours burns gas."), tenant="beta")


@pytest.fixture
def mover(
    database: Database,
    documents: DocumentStore,
    coming: RecordingEmbedder,
    invalidation: RecordingInvalidation,
) -> Reembedder:
    return Reembedder(documents, EmbeddingMigration(database), coming, invalidation, new_threads())


@pytest.fixture
def everyone(
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    coming: RecordingEmbedder,
    invalidation: RecordingInvalidation,
) -> Writer:
    """A writer that knows both spaces."""
    return Writer(documents, embedder, invalidation, coming)


async def widths(connection: "asyncpg.Connection[asyncpg.Record]", tenant: str) -> set[int]:
    rows = await connection.fetch(
        "SELECT DISTINCT vector_dims(dense) FROM chunks WHERE tenant = $1", tenant
    )
    return {row[0] for row in rows}


def ignore(_: ReembedProgress) -> None:
    pass


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_all_vectors_of_the_tenant_change_and_nobody_elses(
    mover: Reembedder,
    database: Database,
    embedder: RecordingEmbedder,
    coming: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
    invalidation: RecordingInvalidation,
) -> None:
    before = await DocumentStore(database).stored("acme", "d7")

    assert await mover.run("acme", coming.dimensions, ignore)

    assert await widths(connection, "acme") == {64}
    assert await widths(connection, "beta") == {256}
    after = await DocumentStore(database).stored("acme", "d7")
    assert before is not None
    assert after is not None
    assert after.chunk_ids == before.chunk_ids
    assert invalidation.drained[-1] == ("acme", {"acme": after.revision})
    found = await Searcher(database, embedder, coming).search(ANA, Query("lamp 7", alpha=1.0))
    assert not found.degraded
    assert found.hits


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_a_tenant_that_is_there_already_stays_and_costs_nothing(
    mover: Reembedder, coming: RecordingEmbedder
) -> None:
    await mover.run("acme", coming.dimensions, ignore)
    paid = len(coming.texts)

    assert not await mover.run("acme", coming.dimensions, ignore)
    assert len(coming.texts) == paid == DOCUMENTS


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_an_interrupted_move_changes_nothing_and_the_next_pays_only_for_the_rest(
    mover: Reembedder,
    database: Database,
    documents: DocumentStore,
    coming: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
    invalidation: RecordingInvalidation,
) -> None:
    stops = Stops(HashingEmbedder(64), calls=1)
    halting = Reembedder(
        documents, EmbeddingMigration(database), stops, invalidation, new_threads()
    )

    with pytest.raises(EmbeddingUnavailable):
        await halting.run("acme", 64, ignore)

    assert await widths(connection, "acme") == {256}
    assert stops.texts
    assert await mover.run("acme", coming.dimensions, ignore)
    assert len(coming.texts) == DOCUMENTS - len(stops.texts)


@pytest.mark.usefixtures("full")
async def test_searches_never_mix_the_spaces_and_never_go_without(
    database: Database,
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    invalidation: RecordingInvalidation,
) -> None:
    waits = Waits(HashingEmbedder(64))
    mover = Reembedder(documents, EmbeddingMigration(database), waits, invalidation, new_threads())
    searcher = Searcher(database, embedder, waits)
    moving = asyncio.create_task(mover.run("acme", waits.dimensions, ignore))

    seen = []
    while not moving.done():
        found = await searcher.search(ANA, Query("oil of whales", alpha=1.0, top_k=50))
        seen.append((len(found.hits), found.degraded))
        waits.searched.set()
    found = await searcher.search(ANA, Query("oil of whales", alpha=1.0, top_k=50))

    assert await moving
    assert len(seen) >= DOCUMENTS / waits.batch_texts_max
    assert {*seen, (len(found.hits), found.degraded)} == {(50, False)}


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_what_is_written_during_the_move_comes_along(
    mover: Reembedder,
    everyone: Writer,
    coming: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    async def write() -> None:
        for number in range(40):
            await put(everyone, a_document(f"late-{number}", f"Lantern {number} burns colza."))

    await asyncio.gather(write(), mover.run("acme", coming.dimensions, ignore))

    assert await widths(connection, "acme") == {64}
    assert await connection.fetchval("SELECT count(*) FROM chunks WHERE tenant = 'acme'") == (
        DOCUMENTS + 40
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_a_round_that_embeds_nothing_does_not_end_the_move_while_documents_are_written(
    database: Database,
    documents: DocumentStore,
    everyone: Writer,
    coming: RecordingEmbedder,
    invalidation: RecordingInvalidation,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    async def write(number: int) -> None:
        if number <= 2:
            await put(everyone, a_document(f"late-{number}", f"Lantern {number} burns colza."))

    class RemovesAfterFirstRefusal(CallsBeforeSwitch):
        async def switch(self, tenant: str, space: str) -> CommitResult | None:
            committed = await super().switch(tenant, space)
            if self.rounds == 1:  # so that the second round finds nothing to embed
                await everyone.remove("acme", "late-1", lambda _stored: None)
            return committed

    spaces = RemovesAfterFirstRefusal(database, write)

    assert await Reembedder(documents, spaces, coming, invalidation, new_threads()).run(
        "acme", 64, ignore
    )

    assert spaces.rounds == 3
    assert await widths(connection, "acme") == {64}


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_a_document_written_before_each_of_many_switches_only_takes_more_rounds(
    database: Database,
    documents: DocumentStore,
    everyone: Writer,
    coming: RecordingEmbedder,
    invalidation: RecordingInvalidation,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    async def write(number: int) -> None:
        if number <= 30:
            await put(everyone, a_document(f"late-{number}", f"Lantern {number} burns colza."))

    spaces = CallsBeforeSwitch(database, write)
    progress: list[ReembedProgress] = []

    moved = await Reembedder(documents, spaces, coming, invalidation, new_threads()).run(
        "acme", 64, progress.append
    )

    assert moved
    assert spaces.rounds == 31
    assert {step.documents for step in progress if step.round > 1} == {1}
    assert await widths(connection, "acme") == {64}


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_afterwards_new_documents_are_embedded_in_the_new_space(
    mover: Reembedder, everyone: Writer, embedder: RecordingEmbedder, coming: RecordingEmbedder
) -> None:
    await mover.run("acme", coming.dimensions, ignore)
    before = len(embedder.texts)

    await put(everyone, a_document("new", "A new lamp."))

    assert len(embedder.texts) == before
    assert coming.texts[-1].endswith("A new lamp.")


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_a_writer_without_the_new_embedder_is_refused_and_stores_nothing(
    mover: Reembedder, writer: Writer, documents: DocumentStore, coming: RecordingEmbedder
) -> None:
    await mover.run("acme", coming.dimensions, ignore)

    with pytest.raises(EmbeddingUnavailable, match="no embedder is configured"):
        await put(writer, a_document("new", "A new lamp."))

    assert await documents.stored("acme", "new") is None


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_a_searcher_without_the_new_embedder_answers_by_words_alone(
    mover: Reembedder, searcher: Searcher, coming: RecordingEmbedder
) -> None:
    await mover.run("acme", coming.dimensions, ignore)

    found = await searcher.search(ANA, Query("lamp 7"))

    assert found.degraded
    assert found.hits[0].document_id == "d7"


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_public_documents_in_another_space_are_found_by_their_words(
    mover: Reembedder,
    everyone: Writer,
    database: Database,
    embedder: RecordingEmbedder,
    coming: RecordingEmbedder,
) -> None:
    public = a_document("news", "A lighthouse is lit again.", readers=("public",))
    await put(everyone, public, tenant="beta")
    await mover.run("acme", coming.dimensions, ignore)
    searcher = Searcher(database, embedder, coming)

    by_words = await searcher.search(ANA, Query("lighthouse lit", alpha=0.0))
    by_meaning = await searcher.search(
        ANA, Query("lighthouse lit", alpha=1.0, top_k=50, fusion="relative")
    )

    assert by_words.hits[0].document_id == "news"
    assert "news" not in {hit.document_id for hit in by_meaning.hits}


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_when_the_last_tenant_has_moved_the_index_is_the_new_embedders(
    mover: Reembedder, database: Database, tenants: TenantStore, coming: RecordingEmbedder
) -> None:
    await tenants.create("gamma", "Gamma")
    for tenant in ("acme", "beta", "gamma"):
        await mover.run(tenant, coming.dimensions, ignore)

    await check_or_create(database, coming)  # refused unless the index is in its space
    assert await DocumentStore(database).space("gamma") == coming.space


@pytest.mark.usefixtures("full")
async def test_a_tenant_that_can_not_be_moved_keeps_no_other_from_it(
    database: Database,
    documents: DocumentStore,
    coming: RecordingEmbedder,
    invalidation: RecordingInvalidation,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await connection.execute(
        "UPDATE chunk_texts SET digest = sha256(digest) WHERE document_key = "
        "(SELECT document_key FROM documents WHERE tenant = 'acme' AND document_id = 'd3')"
    )
    services: Any = SimpleNamespace(
        worker=SimpleNamespace(embedders=[coming]),
        stores=SimpleNamespace(documents=documents),
        caches=SimpleNamespace(invalidation=invalidation),
        documents=SimpleNamespace(writer=SimpleNamespace(threads=new_threads())),
    )

    with pytest.raises(CommandError, match=r"moved: beta\. acme stays in its space.* d3"):
        await move(services, database, [], on_tenant=lambda *_: ignore)

    assert await documents.space("beta") == coming.space


class RecordingThreads(FairThreads):
    def __init__(self) -> None:
        super().__init__(1, name="test", waiting_max=10, wait_s_max=60.0)
        self.tenants: list[str] = []

    async def run(self, tenant: str, *arguments: Any, **keywords: Any) -> Any:
        self.tenants.append(tenant)
        return await super().run(tenant, *arguments, **keywords)


@pytest.mark.usefixtures("full")
async def test_texts_are_chunked_in_the_tenants_share_of_threads(
    database: Database,
    documents: DocumentStore,
    coming: RecordingEmbedder,
    invalidation: RecordingInvalidation,
) -> None:
    threads, spaces = RecordingThreads(), EmbeddingMigration(database)

    await Reembedder(documents, spaces, coming, invalidation, threads).run("acme", 64, ignore)

    assert set(threads.tenants) == {"acme"}


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_chunks_that_the_text_is_no_longer_cut_into_are_told_by_their_document(
    mover: Reembedder,
    coming: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await connection.execute(
        "UPDATE chunk_texts SET digest = sha256(digest) WHERE document_key = "
        "(SELECT document_key FROM documents WHERE tenant = 'acme' AND document_id = 'd3')"
    )

    with pytest.raises(NotReembedded, match="d3"):
        await mover.run("acme", coming.dimensions, ignore)

    assert await widths(connection, "acme") == {256}


async def test_a_tenant_that_does_not_exist_is_named(
    mover: Reembedder, coming: RecordingEmbedder
) -> None:
    with pytest.raises(TenantMissing, match="nobody"):
        await mover.run("nobody", coming.dimensions, ignore)


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_a_run_that_ended_before_the_index_was_settled_is_made_up_for(
    mover: Reembedder, database: Database, coming: RecordingEmbedder
) -> None:
    await mover.run("beta", coming.dimensions, ignore)
    await mover.run("acme", coming.dimensions, ignore)
    async with database.session() as session:  # as it was before the last `settle`
        await session.connection.execute(
            "UPDATE index_meta SET embedding_space = 'old', dimensions = 256"
        )
        await session.connection.execute(
            "UPDATE tenants SET embedding_space = $1 WHERE tenant <> 'public'", coming.space
        )

    assert not await mover.run("acme", coming.dimensions, ignore)

    await check_or_create(database, coming)


@pytest.mark.thorough
@pytest.mark.usefixtures("full")
async def test_progress_is_told_to_the_end(mover: Reembedder, coming: RecordingEmbedder) -> None:
    told: list[ReembedProgress] = []

    await mover.run("acme", coming.dimensions, told.append)

    assert told[-1] == ReembedProgress(round=1, documents=DOCUMENTS, embedded=DOCUMENTS)
    assert [one.documents for one in told] == sorted(one.documents for one in told)
