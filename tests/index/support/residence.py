"""Shards beside the tables of an index, with a searcher for each."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from index.model.query import Filter, Query
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database
from index.resident import matching_documents
from index.resident.building.shard_folder import ShardFolder
from index.resident.matching_documents import MatchingDocuments
from index.resident.resident_shards import ResidentShards
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher, SearchResult
from index.tenants.tenant_store import TenantStore
from tests.threads import new_threads

WAIT_S_MAX = 120.0


@dataclass(frozen=True, slots=True)
class Residence:
    """searcher: uses the shards. plain: uses none. events: of the shards, counted.

    in_memory: the searches that shards answered without PostgreSQL.
    tenants: whose revisions are read before each search, in a region; else None.
    """

    tenants: TenantStore | None
    shards: ResidentShards
    searcher: Searcher
    plain: Searcher
    events: Counter[str]
    in_memory: list[Query] = field(default_factory=list)

    async def load(self, scope: Scope) -> None:
        await self.until(lambda: self.shards.use(scope) is not None)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S_MAX):
            while not condition():
                await asyncio.sleep(0.005)

    async def search(self, scope: Scope, query: Query) -> SearchResult:
        """The result, which is that of a search without shards."""
        through_shards = await self._search(scope, query)
        expected = await self.plain.search(scope, query)
        if through_shards.access_revision is None:
            self.in_memory.append(query)
            through_shards = replace(through_shards, access_revision=expected.access_revision)
        assert through_shards == expected
        assert through_shards.dependencies.encode() == expected.dependencies.encode()
        return expected

    async def _search(self, scope: Scope, query: Query) -> SearchResult:
        if self.tenants is None:
            return await self.searcher.search(scope, query)
        read = await self.tenants.revisions_aside([*scope.partitions])
        return await self.searcher.search(
            scope,
            query,
            history=read[PUBLIC if PUBLIC in read else scope.tenant].history,
            revisions={name: counter.revision for name, counter in read.items()},
        )

    async def found(self, scope: Scope, text: str) -> list[str]:
        """The documents of the hits."""
        return [hit.document_id for hit in (await self.search(scope, Query(text))).hits]


@asynccontextmanager
async def residence(
    database: Database,
    *embedders: Embedder,
    bytes_max: int = 1 << 30,
    chunks_max: int = 10_000,
    in_region: bool = False,
    folder: ShardFolder | None = None,
    clock_s: Callable[[], float] = time.monotonic,
) -> AsyncIterator[Residence]:
    events: Counter[str] = Counter()
    shards = ResidentShards(
        database,
        bytes_max=bytes_max,
        chunks_max=chunks_max,
        on_event=lambda event: events.update([event]),
        threads=new_threads(),
        folder=folder,
        clock_s=clock_s,
    )
    searcher = Searcher(database, *embedders, shards=shards, in_region=in_region)
    tenants = TenantStore(database) if in_region else None
    yield Residence(tenants, shards, searcher, Searcher(database, *embedders), events)
    await shards.close()


def recorded_lists(monkeypatch: pytest.MonkeyPatch) -> list[Scope]:
    """The scopes for which PostgreSQL lists the documents that a filter admits."""
    scopes: list[Scope] = []
    read = matching_documents.read

    async def recording(database: Database, scope: Scope, conditions: Filter) -> MatchingDocuments:
        scopes.append(scope)
        return await read(database, scope, conditions)

    monkeypatch.setattr(matching_documents, "read", recording)
    return scopes
