"""A search through shards gives what a search of the tables gives, byte for byte, at any time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from gateway.embedded.embedded_servers import Servers
from index.embedders import index_version
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.static_embedder import StaticEmbedder
from index.model.query import Query
from index.model.scope import Scope
from index.resident.resident_shards import ResidentShards
from index.resident.shard import Shard, ShardQuestion
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
            while self.shards.use(scope) is None:
                await asyncio.sleep(0.005)

    async def assert_same(self, scope: Scope, query: Query) -> SearchResult:
        through_shards = await self.searcher.search(scope, query)
        expected = await self.index.searcher.search(scope, query)
        assert through_shards == expected
        assert through_shards.dependencies.encode() == expected.dependencies.encode()
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


# What PostgreSQL refuses to confirm: shards that propose what a scope may not see, or what is gone.
CONFIRMED = {
    "a mask that admits everybody": (
        "_admitted",
        lambda _shard, segment, _scope: np.ones(len(segment), np.bool_),
    ),
    "a deletion that is forgotten": ("without", lambda shard, _removed: shard),
}
# What only a comparison shows: shards that leave out what should be found.
COMPARED = {
    "a mask that admits nobody": (
        "_admitted",
        lambda _shard, segment, _scope: np.zeros(len(segment), np.bool_),
    ),
    "a change that is not applied": ("with_segment", lambda shard, _segment: shard),
}


@pytest.mark.parametrize("defect", CONFIRMED)
async def test_a_shard_that_proposes_too_much_shows_nothing_of_it(
    shards: Shards, monkeypatch: pytest.MonkeyPatch, defect: str
) -> None:
    name, wrong = CONFIRMED[defect]
    monkeypatch.setattr(Shard, name, wrong)
    await shards.load(shards.index.story.scope("acme"))
    await ask_amid_changes(shards)
    assert shards.events["outdated"] > 0
    assert shards.events["loaded"] <= 2  # acme and public, each once: they are refused afterwards


@pytest.mark.parametrize("defect", COMPARED)
async def test_a_shard_that_proposes_too_little_differs_from_the_tables(
    shards: Shards, monkeypatch: pytest.MonkeyPatch, defect: str
) -> None:
    name, wrong = COMPARED[defect]
    monkeypatch.setattr(Shard, name, wrong)
    await shards.load(shards.index.story.scope("acme"))
    with pytest.raises(AssertionError):
        await ask_amid_changes(shards)


async def test_an_error_bound_that_is_too_narrow_differs_from_the_tables(
    shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShardQuestion, "error_max", -0.05)
    await shards.load(shards.index.story.scope("acme"))
    with pytest.raises(AssertionError):
        await ask_amid_changes(shards)


async def ask_amid_changes(shards: Shards) -> None:
    story = shards.index.story
    for _ in range(20):
        await shards.index.happen()
        for _ in range(SEARCHES):
            query = replace(story.query(), fusion="absolute", explain=False)
            await shards.assert_same(story.scope("acme"), query)
