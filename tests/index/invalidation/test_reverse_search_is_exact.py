"""No answer that the reverse search leaves is another one after the change, on real PostgreSQL.

Answers of two tenants are kept by what they say they depend on, while documents of three change in
every way. After each news every answer that is left is computed anew.
"""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.extensions.rag.postprocessing import postprocess
from gateway.search.response_body import encode
from index.embedders import index_version
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.static_embedder import StaticEmbedder
from index.invalidation.answer_dependencies import AnswerDependencies
from index.invalidation.changes import ChangeLog
from index.invalidation.reverse_search import ReverseIndex
from index.model.query import Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.search.searcher import SearchResult
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.index.conftest import connected
from tests.index.support.changing_index import ChangingIndex
from tests.index.support.random_changes import Story
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HOMES = ("acme", "beta")
ANSWERS = 60 if is_thorough() else 30  # kept of each of the two
STEPS = 60 if is_thorough() else 10  # with fewer too few answers end to judge their share


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    scope: Scope
    query: Query
    body: bytes


@dataclass(slots=True)
class RecordedAnswers:
    """A tenant's answers, and up to where each partition's news has been taken in."""

    home: str
    applied: dict[str, int]
    answers: dict[str, RecordedAnswer] = field(default_factory=dict)
    reverse: ReverseIndex = field(default_factory=ReverseIndex)


def body_of(found: SearchResult, query: Query) -> bytes:
    """All that a caller is sent."""
    if query.postprocessing is not None:
        return encode(found, query, postprocess(found.hits, query, found.scope.tenant))
    hits = [
        {
            **{name: value for name, value in hit._asdict().items() if name != "tenant"},
            "ranking": str(hit.ranking) if query.explain else None,
        }
        for hit in found.hits
    ]
    return orjson.dumps([hits, found.corrections if query.explain else None, found.facets])


class ReverseWorld(ChangingIndex):
    """A changing index, and answers that are kept as long as their dependencies allow."""

    openings_share = 0.15

    def __init__(self, database: Database, static: StaticEmbedder, seed: int) -> None:
        super().__init__(database, static, Story(seed))
        self.changes = ChangeLog(database)
        self.counts: Counter[str] = Counter()
        self._number = 0

    async def begin_answers(self) -> list[RecordedAnswers]:
        await self.begin()
        _, revisions = await self.tenants.all_revisions()
        kept = [
            RecordedAnswers(home, {name: revisions[name] for name in (home, "public")})
            for home in HOMES
        ]
        for one in kept:
            await self.fill(one)
        return kept

    async def fill(self, kept: RecordedAnswers) -> None:
        """New answers for those that are missing."""
        while len(kept.answers) < ANSWERS:
            self._number += 1
            scope, query = self.story.scope(kept.home), self.story.query()
            await self._keep(kept, str(self._number), scope, query)

    async def _keep(self, kept: RecordedAnswers, key: str, scope: Scope, query: Query) -> None:
        found = await self.searcher.search(scope, query)
        assert not found.degraded
        recorded = AnswerDependencies.decode(found.dependencies.encode())
        assert recorded.query.digest == query.digest
        kept.answers[key] = RecordedAnswer(scope, recorded.query, body_of(found, query))
        kept.reverse.add(key, found.dependencies.encode())

    async def take_in(self, kept: RecordedAnswers, *, checked: bool) -> None:
        """The news of both partitions; afterwards what is left must be what would be found."""
        doomed: set[str] = set()
        for partition, revision in kept.applied.items():
            news = await self.changes.changes_after(kept.home, partition, revision)
            assert news is not None
            doomed |= kept.reverse.invalidated(news)
            kept.applied[partition] = news.revision
        for key, answer in list(kept.answers.items()):
            if checked or key in doomed:
                found = await self.searcher.search(answer.scope, answer.query)
                is_same = body_of(found, answer.query) == answer.body
                assert is_same or key in doomed, (answer, found)
                self.counts["kept" if key not in doomed else "vain" if is_same else "ended"] += 1
            if key in doomed:
                del kept.answers[key]
                kept.reverse.discard(key)
                if self.story.chance(0.5):
                    await self._keep(kept, key, answer.scope, answer.query)
        await self.fill(kept)


@pytest.fixture(params=range(4 if is_thorough() else 1))
async def world(
    request: pytest.FixtureRequest,
    servers: Servers,
    databases: DatabaseCopies,
    static_embedder: StaticEmbedder,
) -> AsyncIterator[ReverseWorld]:
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        async with connected(own.database_url.get_secret_value()) as database:
            await index_version.check_or_create(database, static_embedder, HashingEmbedder(32))
            yield ReverseWorld(database, static_embedder, request.param)


async def test_whatever_happens_no_answer_is_left_that_a_search_would_give_otherwise(
    world: ReverseWorld, record_property: Any
) -> None:
    tenants = await world.begin_answers()
    for _ in range(STEPS):
        for _ in range(world.story.random.choice([1, 1, 1, 3])):
            await world.happen()
        for kept in tenants:
            await world.take_in(kept, checked=True)

    counts = world.counts
    for name in ("kept", "ended", "vain"):
        record_property(name, counts[name])
    # What is left is most of all, and of what is ended no small part would have been another.
    print(dict(counts))
    assert counts["kept"] > counts["ended"] + counts["vain"]
    assert counts["ended"] > counts["vain"] / 3
