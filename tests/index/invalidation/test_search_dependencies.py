"""What an answer of a search depends on, so that it is known when it ends."""

import math
from dataclasses import replace
from typing import Any

import pytest

from index.documents.document_store import DocumentStore
from index.embedders import index_version
from index.embedders.static_embedder import StaticEmbedder
from index.invalidation.answer_dependencies import AnswerDependencies
from index.model.query import Filter, Query
from index.model.scope import ScopeName, resolve
from index.postgres.database import Database
from index.search.searcher import Searcher, SearchResult
from ingest.write.writer import Writer
from tests.index.search.test_search import ANA
from tests.index.support.questions import SCOPES, QuestionWorld
from tests.index.support.samples import IndifferentEmbedder, RecordingInvalidation, a_document, put

pytestmark = pytest.mark.anyio


@pytest.mark.sampled("private")
@pytest.mark.parametrize("names", SCOPES, ids="+".join)
async def test_an_answer_says_the_revisions_of_the_partitions_that_it_depends_on(
    world: QuestionWorld, names: tuple[ScopeName, ...]
) -> None:
    scope = resolve("beta", "ben", ["ops"], names, receives_public=True)

    found = await world.searcher.search(scope, Query("farol", alpha=0.25))

    revisions = await world.tenants.revisions(["beta", "public"])
    assert found.as_of == {name: revisions[name].revision for name in scope.partitions}
    assert set(found.as_of) == ({"beta", "public"} if "public" in names else {"beta"})


async def test_an_answer_depends_on_the_candidates_of_the_legs_that_have_weight(
    world: QuestionWorld,
) -> None:
    query = Query("sensor lighthouse", candidates=5, top_k=2, fusion="relative")

    async def dependence(**fields: Any) -> AnswerDependencies:
        return (await world.searcher.search(ANA, replace(query, **fields))).dependencies

    both, words, meaning = [await dependence(alpha=alpha) for alpha in (0.5, 0.0, 1.0)]
    assert set(both.candidates) == {*words.candidates, *meaning.candidates}
    assert (len(words.candidates), len(meaning.candidates)) == (5, 5)
    assert (words.dense_floor, words.lexical_floor) == (math.inf, both.lexical_floor)
    assert (meaning.dense_floor, meaning.lexical_floor) == (both.dense_floor, math.inf)
    assert {one.fused_floor for one in (both, words, meaning)} == {math.inf}
    for fields in ({"explain": True}, {"fusion": "rrf"}):
        for alpha in (0.0, 1.0):
            every = await dependence(alpha=alpha, **fields)
            assert set(every.candidates) == set(both.candidates)
            assert every.dense_floor == both.dense_floor
            assert every.lexical_floor == both.lexical_floor


async def test_a_leg_that_found_less_than_it_asked_for_has_no_floor(world: QuestionWorld) -> None:
    query = Query("sensor", alpha=0.5, candidates=1000, fusion="relative")

    few = await world.searcher.search(ANA, query)

    assert few.dependencies.dense_floor is few.dependencies.lexical_floor is None
    assert few.dependencies.exact


async def test_what_is_judged_by_itself_depends_on_the_hits_and_on_the_score_of_the_last(
    world: QuestionWorld,
) -> None:
    query = Query("sensor lighthouse", alpha=0.5, top_k=3)

    async def searched(**fields: Any) -> SearchResult:
        return await world.searcher.search(ANA, replace(query, **fields))

    three, every = await searched(), await searched(top_k=1000, candidates=1000)
    assert len(three.hits) == 3
    assert three.dependencies.fused_floor == three.hits[-1].score
    assert three.dependencies.candidates == ()
    assert three.dependencies.dense_floor == three.dependencies.lexical_floor == math.inf
    assert every.dependencies.fused_floor == 0.0
    least = every.hits[5].score
    some = await searched(top_k=1000, candidates=1000, min_score=least)
    assert some.dependencies.fused_floor == least
    assert (await searched(min_score=least)).dependencies.fused_floor == three.hits[-1].score


async def test_what_is_not_looked_at_for_it_lies_too_deep_can_not_end_an_answer(
    world: QuestionWorld,
) -> None:
    query = Query("sensor", alpha=0.5, top_k=40, candidates=20, document_hits_max=1)

    found = await world.searcher.search(ANA, query)

    assert len(found.hits) < len(found.dependencies.examined) == 40
    assert 0 < found.dependencies.fused_floor <= found.hits[-1].score


async def test_an_answer_depends_on_languages_and_on_words_if_one_is_unknown(
    world: QuestionWorld,
) -> None:
    async def dependence(text: str, language: str | None = None) -> AnswerDependencies:
        return (await world.searcher.search(ANA, Query(text, language=language))).dependencies

    (held,) = [
        row["tenant_vocabulary_size"]
        for row in await world.database.searching.rows(
            "search.survey", "acme", *([None] * 11), True, False, 1
        )
    ]
    assert (await dependence("sensor")).vocabulary_size is None
    assert (await dependence("lighthuose")).vocabulary_size == held
    assert (await dependence("sensor")).languages == frozenset({"en", "pt", "und"})
    assert (await dependence("sensor", "en")).languages == frozenset({"en", "pt", "und"})


async def test_an_expanded_answer_depends_on_the_documents_that_it_takes_its_texts_from(
    world: QuestionWorld,
) -> None:
    query = Query("sensor lighthouse", alpha=0.5, top_k=3)

    plain = await world.searcher.search(ANA, query)
    expanded = await world.searcher.search(ANA, replace(query, expand=True))

    assert plain.dependencies.documents == ()
    assert len(expanded.dependencies.documents) >= len({hit.document for hit in expanded.hits}) > 0


async def test_an_answer_depends_on_what_was_looked_at_and_left_out(world: QuestionWorld) -> None:
    query = Query("sensor", alpha=0.5, top_k=40, document_hits_max=1)

    found = await world.searcher.search(ANA, query)

    assert {hit.chunk_id for hit in found.hits} < set(found.dependencies.examined)


async def test_where_there_is_meaning_of_another_kind_alone_the_words_count(
    database: Database, documents: DocumentStore, static_embedder: StaticEmbedder
) -> None:
    other = IndifferentEmbedder()
    await index_version.check_or_create(database, static_embedder)
    await database.rows("embedding_migration.set_space", "beta", other.space)
    writer = Writer(documents, static_embedder, RecordingInvalidation(), other)
    await put(writer, a_document("hers", readers=("public",)), "beta")

    searcher = Searcher(database, static_embedder)
    judged = await searcher.search(ANA, Query("leave", alpha=1.0))
    ranked = await searcher.search(ANA, Query("leave", alpha=1.0, fusion="relative"))

    (hit,) = judged.hits
    assert hit.ranking.lexical is not None
    assert hit.score == hit.ranking.lexical.score
    assert ranked.dependencies.candidates == (hit.chunk_id,)
    assert ranked.dependencies.dense_floor is ranked.dependencies.lexical_floor is None


async def test_a_recorded_query_is_computed_anew_as_the_one_that_was_asked(
    world: QuestionWorld,
) -> None:
    query = Query("lighthuose", filter=Filter(tags_any=("red",)), explain=True, expand=True)
    found = await world.searcher.search(ANA, query)

    recorded = AnswerDependencies.decode(found.dependencies.encode())

    assert await world.searcher.search(recorded.scope, recorded.query) == found
