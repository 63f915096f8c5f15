"""A search through shards gives what a search of the tables gives, byte for byte, at any time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest

from gateway.embedded.embedded_servers import Servers
from index.embedders import index_version
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.static_embedder import StaticEmbedder
from index.model.query import Query
from index.model.scope import Scope
from index.resident.resident_shards import ResidentShards
from index.search.searcher import Searcher, SearchResult
from tests.conftest import fresh_settings
from tests.index.conftest import connected
from tests.index.support.changing_index import ChangingIndex
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HOMES = ("acme", "beta")
STEPS = 60
SEARCHES = 12  # after each change
WAIT_S_MAX = 10.0


@dataclass(slots=True)
class Shards:
    """Shards beside an index, and how often each event happened."""

    index: ChangingIndex
    shards: ResidentShards
    searcher: Searcher
    events: Counter[str] = field(default_factory=Counter)

    async def load(self, scope: Scope) -> None:
        async with asyncio.timeout(WAIT_S_MAX):
            while self.shards.of(scope) is None:
                await asyncio.sleep(0.005)

    async def assert_same(self, scope: Scope, query: Query) -> SearchResult:
        through_shards = await self.searcher.search(scope, query)
        expected = await self.index.searcher.search(scope, query)
        assert through_shards == expected
        assert through_shards.dependence.encode() == expected.dependence.encode()
        return expected


def with_shards(index: ChangingIndex, bytes_max: int = 1 << 30) -> Shards:
    events: Counter[str] = Counter()
    shards = ResidentShards(
        index.database,
        bytes_max=bytes_max,
        chunks_max=10_000,
        on_event=lambda event: events.update([event]),
    )
    searcher = Searcher(index.database, *index.embedders, shards=shards)
    return Shards(index, shards, searcher, events)


@pytest.fixture(params=range(4 if is_thorough() else 1))
async def shards(
    request: pytest.FixtureRequest,
    servers: Servers,
    databases: "asyncio.Queue[str]",
    static_embedder: StaticEmbedder,
) -> AsyncIterator[Shards]:
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        async with connected(own.database_url.get_secret_value()) as database:
            await index_version.check_or_create(database, static_embedder, HashingEmbedder(32))
            index = ChangingIndex(database, static_embedder, request.param)
            await index.begin()
            shards = with_shards(index)
            yield shards
            await shards.shards.close()


async def test_shards_answer_as_the_tables_do_after_every_change(shards: Shards) -> None:
    index, story = shards.index, shards.index.story
    for home in HOMES:
        await shards.load(story.scope(home))
    hits = 0
    for _ in range(STEPS):
        await index.happen()
        for _ in range(SEARCHES):
            scope, query = story.scope(story.random.choice(HOMES)), story.query()
            hits += len((await shards.assert_same(scope, query)).hits)
            plain = replace(query, fusion="absolute", explain=False)
            hits += len((await shards.assert_same(scope, plain)).hits)
    assert hits > STEPS * SEARCHES
    assert shards.events["followed"] > STEPS / 2
    assert shards.events["outdated"] < STEPS / 4
