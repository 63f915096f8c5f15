"""A search through shards gives what a search of the tables gives, byte for byte, at any time."""

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.embedders import index_version
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.static_embedder import StaticEmbedder
from index.model.attributes import Condition
from index.model.query import Filter, Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.resident import matching_documents, shard
from index.resident.building.shard_folder import ShardFolder
from index.resident.matching_documents import MatchingDocuments
from index.resident.shard import Shard, ShardQuestion
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies, copies_of, name_of
from tests.index.conftest import connected
from tests.index.support.changing_index import ChangingIndex
from tests.index.support.random_changes import Story
from tests.index.support.residence import Residence, recorded_lists, residence
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HOMES = ("acme", "beta")
STEPS = 60 if is_thorough() else 8
SEARCHES = 12 if is_thorough() else 4  # after each change
UNINDEXED = Filter(attributes=Condition("ne", "team", ("sales",)))


@pytest.fixture(scope="module", params=range(4 if is_thorough() else 1))
async def begun(
    request: pytest.FixtureRequest,
    servers: Servers,
    databases: DatabaseCopies,
    static_embedder: StaticEmbedder,
) -> AsyncIterator[tuple[ChangingIndex, DatabaseCopies]]:
    """An index in which nothing has changed yet, and copies of its database."""
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        async with connected(url) as database:
            await index_version.check_or_create(database, static_embedder, HashingEmbedder(32))
            index = ChangingIndex(database, static_embedder, Story(request.param))
            await index.begin()
        async with copies_of(name_of(url), servers.database_url) as copies:
            yield index, copies


@pytest.fixture
async def index(
    servers: Servers, begun: tuple[ChangingIndex, DatabaseCopies]
) -> AsyncIterator[ChangingIndex]:
    first, copies = begun
    async with fresh_settings(servers, copies) as own:
        assert own.database_url is not None
        async with connected(own.database_url.get_secret_value()) as database:
            yield first.at(database)


@pytest.fixture
async def resident(
    index: ChangingIndex, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Residence]:
    """Its filters, which seldom come again, are listed at once."""
    monkeypatch.setattr(matching_documents, "_SEARCHES_MIN", 1)
    async with residence(index.database, *index.embedders) as opened:
        yield opened


async def test_shards_in_a_region_answer_as_the_tables_do_without_them(
    index: ChangingIndex,
) -> None:
    story = index.story
    hits = 0
    async with residence(index.database, *index.embedders, in_region=True) as resident:
        for home in HOMES:
            await resident.load(story.scope(home))
        for _ in range(STEPS):
            await index.happen()
            for _ in range(SEARCHES):
                scope, query = story.scope(story.random.choice(HOMES)), story.query()
                hits += len((await resident.search(scope, query)).hits)
                plain = replace(query, fusion="absolute", explain=False, expand=False)
                plain = replace(plain, facets=(), diversity=0.0, boost=None)
                hits += len((await resident.search(scope, plain)).hits)
        assert hits > STEPS * SEARCHES
        assert len(resident.in_memory) > STEPS * SEARCHES / 5
        assert resident.events["followed"] > STEPS / 2
        assert resident.events["outdated"] < STEPS / 4


async def test_shards_that_are_compared_in_threads_answer_concurrent_questions_as_the_tables_do(
    index: ChangingIndex, resident: Residence, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()
    compared = shard._compared  # noqa: SLF001  what runs in threads
    calls, both = itertools.count(), threading.Barrier(2)

    def recorded(*arguments: Any) -> Any:
        threads.add(threading.get_ident())
        if next(calls) < both.parties:
            both.wait(timeout=60)  # the first two run at once, each in its thread
        return compared(*arguments)

    monkeypatch.setattr(shard, "_INLINE_ROWS_MAX", 0)
    monkeypatch.setattr(shard, "_compared", recorded)
    story = index.story
    await resident.load(story.scope("acme"))
    for _ in range(STEPS // 4):
        await index.happen()
        questions = [(story.scope("acme"), Query(story.query().text)) for _ in range(SEARCHES)]
        await asyncio.gather(*(resident.search(*question) for question in questions))
    assert threading.get_ident() not in threads


async def test_shards_answer_as_the_tables_do_after_every_change(
    index: ChangingIndex, resident: Residence, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = recorded_lists(monkeypatch)
    story = index.story
    for home in HOMES:
        await resident.load(story.scope(home))
    hits = 0
    for _ in range(STEPS):
        await index.happen()
        for _ in range(SEARCHES):
            scope, query = story.scope(story.random.choice(HOMES)), story.query()
            hits += len((await resident.search(scope, query)).hits)
            wanted = story.random.choice([query.filter, UNINDEXED])
            plain = replace(query, fusion="absolute", explain=False, diversity=0.0)
            plain = replace(plain, filter=wanted)
            hits += len((await resident.search(scope, plain)).hits)
    assert hits > STEPS * SEARCHES
    assert resident.events["followed"] > STEPS / 3
    assert resident.events["outdated"] < STEPS / 4
    assert len(lists) > STEPS / 2


@pytest.mark.sampled("0-confirmed")
@pytest.mark.parametrize("in_region", [False, True], ids=["confirmed", "alone"])
async def test_workers_that_share_a_folder_answer_as_the_tables_do_after_every_change(
    index: ChangingIndex,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    in_region: bool,  # noqa: FBT001  pytest passes it by name
) -> None:
    """Compacting often, so that they take new bases from each other."""
    monkeypatch.setattr("index.resident.resident_partition._CHANGED_ROWS_MAX", 2)
    folder = ShardFolder(tmp_path / "shards", "edition", 1 << 30)
    story = index.story
    async with (
        residence(index.database, *index.embedders, folder=folder, in_region=in_region) as one,
        residence(index.database, *index.embedders, folder=folder, in_region=in_region) as other,
    ):
        for step in range(4 * STEPS):
            if step >= STEPS and (one.events + other.events)["compacted"] > 3:
                break  # a slow machine compacts more changes at once
            await index.happen()
            for _ in range(SEARCHES // 2):
                scope, query = story.scope(story.random.choice(HOMES)), story.query()
                plain = replace(query, fusion="absolute", explain=False, expand=False)
                assert await one.search(scope, plain) == await other.search(scope, plain)
                unboosted = replace(plain, facets=(), diversity=0.0, boost=None)
                assert await one.search(scope, unboosted) == await other.search(scope, unboosted)
        events = one.events + other.events
    assert all(bool(each.in_memory) == in_region for each in (one, other))
    assert events["mapped"] > 3
    assert events["compacted"] > 3
    assert events["followed"] > STEPS / 2
    assert events["outdated"] < STEPS / 2


# What PostgreSQL does not confirm: shards that show what a scope may not see, or what is gone.
CONFIRMED = {
    "a mask that admits everybody": (
        "admitted",
        lambda _shard, segment, _scope: np.ones(len(segment), np.bool_),
    ),
    "a deletion that is forgotten": ("without", lambda shard, _removed: shard),
    "a filter that admits every document": ("of_documents", lambda shard, _keys: shard),
}
# What only a comparison shows: shards that leave out what should be found.
COMPARED = {
    "a mask that admits nobody": (
        "admitted",
        lambda _shard, segment, _scope: np.zeros(len(segment), np.bool_),
    ),
    "a change that is not applied": ("with_segment", lambda shard, _segment: shard),
    "a filter that admits no document": (
        "of_documents",
        lambda shard, _keys: replace(shard, live=tuple(rows & False for rows in shard.live)),
    ),
}


# Of both, what only a comparison shows in a region: no statement tells what is gone.
COMPARED_IN_A_REGION = {
    defect: (name, wrong)
    for defect, (name, wrong) in (CONFIRMED | COMPARED).items()
    if name != "of_documents" and defect != "a mask that admits everybody"
}


@pytest.mark.parametrize("defect", COMPARED_IN_A_REGION)
async def test_a_defect_of_a_shard_in_a_region_differs_from_the_tables(
    index: ChangingIndex, monkeypatch: pytest.MonkeyPatch, defect: str
) -> None:
    name, wrong = COMPARED_IN_A_REGION[defect]
    async with residence(index.database, *index.embedders, in_region=True) as resident:
        monkeypatch.setattr(Shard, name, wrong)
        await resident.load(index.story.scope("acme"))
        with pytest.raises(AssertionError):
            await ask_in_memory(index, resident)


async def test_a_mask_that_admits_everybody_shows_nothing_in_a_region(
    index: ChangingIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with residence(index.database, *index.embedders, in_region=True) as resident:
        monkeypatch.setattr(Shard, *CONFIRMED["a mask that admits everybody"])
        await resident.load(index.story.scope("acme"))
        await ask_in_memory(index, resident)
        assert resident.events["outdated"] > 0
        assert resident.events["loaded"] <= 2  # acme and public, each once


@pytest.mark.sampled("0-a mask that admits everybody")
@pytest.mark.parametrize("defect", CONFIRMED)
async def test_a_shard_that_finds_too_much_shows_nothing_of_it(
    index: ChangingIndex, resident: Residence, monkeypatch: pytest.MonkeyPatch, defect: str
) -> None:
    name, wrong = CONFIRMED[defect]
    monkeypatch.setattr(Shard, name, wrong)
    await resident.load(index.story.scope("acme"))
    await ask_amid_changes(index, resident)
    assert resident.events["outdated"] > 0
    assert resident.events["loaded"] <= 2  # acme and public, each once: they are refused afterwards


@pytest.mark.parametrize("defect", COMPARED)
async def test_a_shard_that_finds_too_little_differs_from_the_tables(
    index: ChangingIndex, resident: Residence, monkeypatch: pytest.MonkeyPatch, defect: str
) -> None:
    name, wrong = COMPARED[defect]
    monkeypatch.setattr(Shard, name, wrong)
    await resident.load(index.story.scope("acme"))
    with pytest.raises(AssertionError):
        await ask_amid_changes(index, resident)


async def test_an_error_bound_that_is_too_narrow_differs_from_the_tables(
    index: ChangingIndex, resident: Residence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShardQuestion, "error_max", -0.05)
    await resident.load(index.story.scope("acme"))
    with pytest.raises(AssertionError):
        await ask_amid_changes(index, resident)


async def test_a_filter_that_is_not_asked_for_again_after_a_change_differs_from_the_tables(
    index: ChangingIndex, resident: Residence, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = matching_documents.read
    first: dict[bytes, MatchingDocuments] = {}

    async def forgetful(database: Database, scope: Scope, conditions: Filter) -> MatchingDocuments:
        current = await read(database, scope, conditions)
        before = first.setdefault(matching_documents.cache_key(scope, conditions), current)
        return replace(current, keys=before.keys)

    monkeypatch.setattr(matching_documents, "read", forgetful)
    story = index.story
    scope = story.scope("acme")
    await resident.load(scope)
    query = Query("leave travel sensor lighthouse", filter=Filter(metadata={"team": "sales"}))

    async def ask() -> None:
        for _ in range(200):
            await index.happen()
            await resident.search(scope, query)
            assert not resident.events["outdated"]

    with pytest.raises(AssertionError):
        await ask()


async def ask_amid_changes(index: ChangingIndex, resident: Residence) -> None:
    story = index.story
    for _ in range(20):
        await index.happen()
        for _ in range(SEARCHES):
            query = replace(story.query(), fusion="absolute", explain=False)
            await resident.search(story.scope("acme"), query)


async def ask_in_memory(index: ChangingIndex, resident: Residence) -> None:
    story = index.story
    for _ in range(20):
        await index.happen()
        for _ in range(SEARCHES):
            await resident.search(story.scope("acme"), Query(story.query().text))
