"""An answer of a standby counts only at the revisions that the caller must not miss."""

from collections.abc import Mapping

import pytest

from gateway.extensions.regions.standby import Standby
from index.embedders.static_embedder import StaticEmbedder
from index.errors import DatabaseUnavailable
from index.model.query import Query
from index.model.scope import PUBLIC, everything
from index.postgres.database import Database
from index.search.found_chunks import FoundChunks
from index.search.preparation import AskedSearch
from index.search.query_embedder import QueryEmbedder
from index.search.search_executor import SearchExecutor
from index.search.shards.shard_search import KnownRevisions
from index.search.tables import strategy
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.conftest import (
    database,
    documents,
    embedder,
    invalidation,
    reused,
    reused_databases,
    settings,
    static_embedder,
    tenants,
    writer,
)
from tests.index.support.samples import a_document, put

__all__ = [  # fixtures
    "database",
    "documents",
    "embedder",
    "invalidation",
    "reused",
    "reused_databases",
    "settings",
    "static_embedder",
    "tenants",
    "writer",
]

pytestmark = pytest.mark.anyio

SCOPE = everything("acme", "ana", [], receives_public=True)


class ClaimingStandby(Standby):
    """Says that it has everything, whatever its database has."""

    def __init__(self, standby: Database) -> None:
        super().__init__(standby, wait_s=0.0, count=lambda _outcome: None)
        self.failures: list[None] = []

    async def has_replayed(
        self, _history: str, _revisions: Mapping[str, int], _wait_s: float | None = None, /
    ) -> bool:
        return True

    def failed(self) -> None:
        self.failures.append(None)


@pytest.fixture
def standby(database: Database) -> ClaimingStandby:
    return ClaimingStandby(database)


@pytest.fixture
async def known(writer: Writer, database: Database) -> KnownRevisions:
    await put(writer, a_document("leave", "Everybody has 25 days of leave."))
    counters = await TenantStore(database).revisions(["acme", PUBLIC])
    numbers = {name: each.revision for name, each in counters.items()}
    return KnownRevisions(counters["acme"].history, numbers)


async def execute(
    standby: ClaimingStandby, embedder: StaticEmbedder, known: KnownRevisions
) -> FoundChunks | None:
    executor = SearchExecutor(standby.database, QueryEmbedder(embedder), limits=strategy.MEASURED)
    asked = AskedSearch(SCOPE, Query("leave", top_k=5))
    return await standby.execute(executor, asked, 5, known)


async def test_an_answer_at_the_known_revisions_counts(
    standby: ClaimingStandby, static_embedder: StaticEmbedder, known: KnownRevisions
) -> None:
    results = await execute(standby, static_embedder, known)
    assert results is not None
    assert results.revisions == known.by_partition


@pytest.mark.parametrize("partition", ["acme", PUBLIC])
async def test_an_answer_before_them_does_not(
    standby: ClaimingStandby,
    static_embedder: StaticEmbedder,
    known: KnownRevisions,
    partition: str,
) -> None:
    later = {**known.by_partition, partition: known.by_partition[partition] + 1}
    assert await execute(standby, static_embedder, KnownRevisions(known.history, later)) is None


async def test_an_answer_of_another_history_does_not(
    standby: ClaimingStandby, static_embedder: StaticEmbedder, known: KnownRevisions
) -> None:
    other = KnownRevisions("another", known.by_partition)
    assert await execute(standby, static_embedder, other) is None


async def test_a_standby_that_does_not_answer_has_failed(
    standby: ClaimingStandby,
    static_embedder: StaticEmbedder,
    known: KnownRevisions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def unanswered(*_arguments: object, **_numbers: int) -> None:
        raise DatabaseUnavailable

    monkeypatch.setattr(standby.database.searching, "rows", unanswered)
    assert await execute(standby, static_embedder, known) is None
    assert standby.failures == [None]
