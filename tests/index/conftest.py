"""An index for each test, with the tenants acme and beta.

Its database is one that an earlier test has used, without its rows, unless the test is marked
`isolated`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import asyncpg
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.settings.settings import Settings
from index.documents.document_store import DocumentStore
from index.documents.visible_documents import VisibleDocuments
from index.embedders.static_embedder import StaticEmbedder
from index.postgres.database import Database, announce_to_nobody, connect
from index.search.searcher import Searcher
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.index.support import many_chunks, worlds
from tests.index.support.commits import Rows
from tests.index.support.partitions import NUMBER, ChunkPartitions
from tests.index.support.questions import QuestionWorld
from tests.index.support.reused_databases import ReusedDatabase, ReusedDatabases
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation

# What tests elsewhere take by `import *`: an index of their own.
__all__ = [
    "connection",
    "database",
    "documents",
    "embedder",
    "invalidation",
    "reused",
    "reused_databases",
    "searcher",
    "settings",
    "static_embedder",
    "tenants",
    "writer",
]


@pytest.fixture(scope="session")
def static_embedder() -> StaticEmbedder:
    return StaticEmbedder()


def connected(
    url: str,
    *,
    connections_max: int = 10,
    statement_timeout_s: float = 60,
    observe: Callable[[str, float], None] = lambda _name, _seconds: None,
    logged: bool = True,
) -> AbstractAsyncContextManager[Database]:
    """The index's own access to a database, which announces to nobody what is written."""
    return connect(
        url,
        connections_max=connections_max,
        statement_timeout_s=statement_timeout_s,
        observe=observe,
        announce=announce_to_nobody,
        logged=logged,
    )


@pytest.fixture(scope="session")
async def reused_databases(
    servers: Servers, databases: DatabaseCopies
) -> AsyncIterator[ReusedDatabases]:
    reused = ReusedDatabases(servers, databases, connected)
    yield reused
    await reused.drop_all()


@pytest.fixture
async def reused(
    request: pytest.FixtureRequest, reused_databases: ReusedDatabases
) -> AsyncIterator[ReusedDatabase]:
    is_isolated = request.node.get_closest_marker("isolated") is not None
    one = await reused_databases.get(is_new=is_isolated)
    yield one
    await reused_databases.give_back(one)


@pytest.fixture
def settings(reused: ReusedDatabase) -> Settings:
    return reused.settings


@pytest.fixture
def database(reused: ReusedDatabase) -> Database:
    return reused.database


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """For a look at the rows themselves."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def tenants(database: Database) -> TenantStore:
    tenants = TenantStore(database)
    await tenants.create("acme", "Acme")
    await tenants.create("beta", "Beta")
    return tenants


@pytest.fixture
def documents(database: Database, tenants: TenantStore) -> DocumentStore:
    return DocumentStore(database)


@pytest.fixture
def visible_documents(database: Database) -> VisibleDocuments:
    return VisibleDocuments(database)


@pytest.fixture
def embedder(static_embedder: StaticEmbedder) -> RecordingEmbedder:
    return RecordingEmbedder(static_embedder)


@pytest.fixture
def invalidation() -> RecordingInvalidation:
    return RecordingInvalidation()


@pytest.fixture
def writer(
    documents: DocumentStore, embedder: RecordingEmbedder, invalidation: RecordingInvalidation
) -> Writer:
    return Writer(documents, embedder, invalidation)


@pytest.fixture
def searcher(database: Database, tenants: TenantStore, static_embedder: StaticEmbedder) -> Searcher:
    return Searcher(database, static_embedder)


@pytest.fixture
def rows(connection: "asyncpg.Connection[asyncpg.Record]") -> Rows:
    return Rows(connection)


@pytest.fixture(scope="session")
async def world(
    servers: Servers, databases: DatabaseCopies, static_embedder: StaticEmbedder
) -> AsyncIterator[QuestionWorld]:
    """Three tenants that share identifiers, words and some texts; nothing changes it."""
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        async with connected(url) as database:
            world = QuestionWorld(database, static_embedder)
            await world.settle(url, worlds.made_up_documents(seed=2026))
            yield world


@pytest.fixture
async def town(documents: DocumentStore) -> DocumentStore:
    """Acme has as many chunks as are too many for the shared partition, beta has fewer."""
    await many_chunks.settle(documents, "acme", number=NUMBER, readers=[("tenant",)], seed=1)
    await many_chunks.settle(
        documents, "beta", number=10, readers=[("tenant",), ("public",)], seed=2
    )
    return documents


@pytest.fixture
def partitions(connection: "asyncpg.Connection[asyncpg.Record]") -> ChunkPartitions:
    return ChunkPartitions(connection)
