"""Shards beside the tables of an index, with a searcher for each."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from index.model.query import Filter, Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.resident import matching_documents
from index.resident.matching_documents import MatchingDocuments
from index.resident.resident_shards import ResidentShards
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher, SearchResult

WAIT_S_MAX = 10.0


@dataclass(frozen=True, slots=True)
class Residence:
    """searcher: uses the shards. plain: uses none. events: of the shards, counted."""

    shards: ResidentShards
    searcher: Searcher
    plain: Searcher
    events: Counter[str]

    async def load(self, scope: Scope) -> None:
        await self.until(lambda: self.shards.use(scope) is not None)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S_MAX):
            while not condition():
                await asyncio.sleep(0.005)

    async def search(self, scope: Scope, query: Query) -> SearchResult:
        """The result, which is that of a search without shards."""
        through_shards = await self.searcher.search(scope, query)
        expected = await self.plain.search(scope, query)
        assert through_shards == expected
        assert through_shards.dependencies.encode() == expected.dependencies.encode()
        return expected

    async def found(self, scope: Scope, text: str) -> list[str]:
        """The documents of the hits."""
        return [hit.document_id for hit in (await self.search(scope, Query(text))).hits]


@asynccontextmanager
async def residence(
    database: Database,
    *embedders: Embedder,
    bytes_max: int = 1 << 30,
    chunks_max: int = 10_000,
) -> AsyncIterator[Residence]:
    events: Counter[str] = Counter()
    shards = ResidentShards(
        database,
        bytes_max=bytes_max,
        chunks_max=chunks_max,
        on_event=lambda event: events.update([event]),
    )
    searcher = Searcher(database, *embedders, shards=shards)
    yield Residence(shards, searcher, Searcher(database, *embedders), events)
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
