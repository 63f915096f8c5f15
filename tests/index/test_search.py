"""The search statement against brute force, and what an answer says beside its hits."""

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings

from gateway.embedded import Servers
from index import generation
from index.database import Database
from index.dependence import Dependence
from index.documents import Documents
from index.query import Filter, Query
from index.scope import ScopeName, everything, resolve
from index.search import Found, Searcher
from index.static_embedder import StaticEmbedder
from ingest.cuts.structure import chunks
from ingest.write import Writer
from tests.conftest import fresh_settings
from tests.index import questions, worlds
from tests.index.conftest import connected
from tests.index.questions import SCOPES, World
from tests.index.samples import (
    AbsentEmbedder,
    IndifferentEmbedder,
    RecordingInvalidation,
    a_document,
    put,
    subsets,
)
from tests.index.worlds import Principal

pytestmark = pytest.mark.anyio

EVERY_READERS = subsets(["user:ben", "user:eve", "group:sales", "tenant", "public"])
BEN = Principal("acme", "ben", ())
ANA = everything("acme", "ana", ["sales"])


@pytest.fixture(scope="module")
async def world(
    servers: Servers, databases: "asyncio.Queue[str]", static_embedder: StaticEmbedder
) -> AsyncIterator[World]:
    """Three tenants that share identifiers, words and some texts; nothing changes it."""
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        async with connected(url) as database:
            world = World(database, static_embedder)
            await world.settle(url, worlds.made_up_documents(seed=2026))
            yield world


@pytest.mark.parametrize("names", SCOPES, ids="+".join)
@settings(max_examples=20, deadline=None)
@given(asking=questions.principals, query=questions.queries)
async def test_a_search_finds_what_brute_force_finds(
    world: World, names: tuple[ScopeName, ...], asking: Principal, query: Query
) -> None:
    await world.assert_right(world.searcher, asking, names, query)


async def test_updated_after_is_inclusive_and_updated_before_exclusive(world: World) -> None:
    scope = resolve("acme", "ana", [], ["private"])
    every = Query("sensor", alpha=1, top_k=1000, candidates=1000)
    times = {piece.chunk_id: piece.updated_at for piece in world.pieces}

    async def found(wanted: Filter) -> set[datetime]:
        answer = await world.searcher.search(scope, replace(every, filter=wanted))
        return {times[hit.chunk_id] for hit in answer.hits}

    moments = await found(Filter())
    assert len(moments) > 2
    for moment in moments:
        assert min(await found(Filter(updated_after=moment))) == moment
        assert moment not in await found(Filter(updated_before=moment))
        assert moments == await found(Filter(updated_after=moment)) | await found(
            Filter(updated_before=moment)
        )


async def test_every_scope_admits_what_is_defined_and_scope_admits_says_the_same(
    writer: Writer, searcher: Searcher
) -> None:
    made = {
        f"d{number}": a_document(f"d{number}", f"Leave number {number}.", owner=owner, readers=to)
        for number, (owner, to) in enumerate(product([None, "ana", "ben"], EVERY_READERS))
    }
    for document in made.values():
        await put(writer, document)
    query = Query("leave", alpha=1, top_k=1000, candidates=1000)

    for names, asking in product(SCOPES, [BEN, replace(BEN, groups=("sales",))]):
        scope = resolve(asking.tenant, asking.subject, asking.groups, names)
        found = await searcher.search(scope, query)

        assert {hit.document_id for hit in found.hits} == {
            document_id
            for document_id, document in made.items()
            if worlds.is_in_scope("acme", document, asking, names)
        }
        for document in made.values():
            admitted = scope.admits(document.owner, document.readers)
            assert admitted == worlds.is_in_scope("acme", document, asking, names)


@pytest.mark.parametrize("names", SCOPES, ids="+".join)
async def test_documents_of_another_tenant_appear_only_if_public_and_in_the_public_scope(
    world: World, names: tuple[ScopeName, ...]
) -> None:
    scope = resolve("acme", "ana", ["sales", "ops"], names)
    query = Query("sensor", alpha=1, top_k=1000, candidates=1000)

    found = await world.searcher.search(scope, query)

    by_chunk = {piece.chunk_id: piece for piece in world.pieces}
    foreign = [by_chunk[hit.chunk_id] for hit in found.hits]
    foreign = [piece for piece in foreign if piece.tenant != "acme"]
    assert all("public" in piece.document.readers for piece in foreign)
    assert bool(foreign) == ("public" in names)


async def test_what_is_shared_leaves_out_what_the_caller_owns_unless_it_is_seen_otherwise(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("own", "Leave of ana.", owner="ana", readers=("user:ana",)))
    await put(writer, a_document("bens", "Leave of ben.", owner="ben", readers=("user:ana",)))
    await put(
        writer, a_document("all", "Leave of all.", owner="ana", readers=("user:ana", "tenant"))
    )

    async def found(*names: ScopeName) -> set[str]:
        answer = await searcher.search(resolve("acme", "ana", [], names), Query("leave", alpha=1))
        return {hit.document_id for hit in answer.hits}

    assert await found("shared") == {"bens"}
    assert await found("shared", "tenant") == {"bens", "all"}
    assert await found("shared", "private") == {"own", "bens", "all"}
    assert await found("private") == {"own", "all"}


@pytest.mark.parametrize("names", SCOPES, ids="+".join)
async def test_an_answer_says_the_revisions_of_the_partitions_that_it_depends_on(
    world: World, names: tuple[ScopeName, ...]
) -> None:
    scope = resolve("beta", "ben", ["ops"], names)

    found = await world.searcher.search(scope, Query("farol", alpha=0.25))

    revisions = await world.tenants.revisions(["beta", "public"])
    assert found.as_of == {name: revisions[name].revision for name in scope.partitions}
    assert set(found.as_of) == ({"beta", "public"} if "public" in names else {"beta"})


async def test_an_answer_holds_exactly_what_was_committed_up_to_the_revision_that_it_says(
    writer: Writer, searcher: Searcher
) -> None:
    """Each write adds one document, so there are as many hits as revisions."""

    async def write() -> None:
        for number in range(30):
            await put(writer, a_document(f"d{number}", f"Leave number {number}."))

    writing = asyncio.create_task(write())
    answers = []
    while not writing.done():
        answers.append(await searcher.search(ANA, Query("leave", alpha=1, top_k=1000)))
    await writing

    assert len({answer.as_of["acme"] for answer in answers}) > 1
    assert [len(answer.hits) for answer in answers] == [answer.as_of["acme"] for answer in answers]


async def test_equal_chunks_are_one_hit_the_best_ranked(writer: Writer, searcher: Searcher) -> None:
    await put(writer, a_document("first", title="Miscellanea"))
    await put(writer, a_document("second", title="Vacation of lighthouse keepers"))
    await put(writer, a_document("third", title="Miscellanea"))

    by_meaning = await searcher.search(ANA, Query("leave", alpha=1))
    by_words = await searcher.search(ANA, Query("lighthouse leave", alpha=0))

    assert [hit.document_id for hit in by_meaning.hits] == ["first"]
    assert [hit.document_id for hit in by_words.hits] == ["second"]


async def test_equal_chunks_do_not_use_up_the_places_of_an_answer(
    writer: Writer, searcher: Searcher
) -> None:
    for number in range(5):
        await put(writer, a_document(f"twin{number}"))
    await put(writer, a_document("other", "Leave your shoes at the door."))

    found = await searcher.search(ANA, Query("annual leave", alpha=0.5, top_k=2))

    assert [hit.document_id for hit in found.hits] == ["twin0", "other"]


async def test_ties_go_to_the_lower_chunk_id_in_each_leg_and_at_the_last_place(
    database: Database, documents: Documents
) -> None:
    embedder = IndifferentEmbedder()
    writer = Writer(documents, embedder, RecordingInvalidation())
    searcher = Searcher(database, embedder)
    letters = ["zeta", "beta", "eta", "alpha", "delta"]  # equal in length and in rarity to the leg
    for letter in letters:
        await put(writer, a_document(letter, f"Lighthouse {letter}."))

    for alpha in (0.0, 0.5, 1.0):
        by_legs = Query("lighthouse", alpha=alpha, top_k=10, candidates=3, fusion="relative")
        by_score = Query("lighthouse", alpha=alpha, top_k=3)
        for query in (by_legs, by_score):
            found = await searcher.search(ANA, query)

            assert [hit.document_id for hit in found.hits] == letters[:3]
            assert len({hit.score for hit in found.hits}) == 1


async def test_nothing_below_min_score_is_a_hit(writer: Writer, searcher: Searcher) -> None:
    for number in range(10):
        await put(writer, a_document(f"d{number}", f"{'Leave. ' * number} Harbour probe."))
    every = (await searcher.search(ANA, Query("leave", alpha=0.5, top_k=10))).hits

    for hit in every:
        query = Query("leave", alpha=0.5, top_k=10, min_score=hit.score)
        assert (await searcher.search(ANA, query)).hits == tuple(
            better for better in every if better.score >= hit.score
        )
    nothing = await searcher.search(ANA, Query("leave", alpha=0.5, min_score=1.01))
    assert nothing.hits == ()


async def test_an_answer_has_no_more_hits_than_there_are_chunks(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("one", "Leave."))
    await put(writer, a_document("two", "# Harbour\n\nProbes.\n\n# Leave\n\nNone."))

    by_legs = Query("leave", alpha=1, top_k=1000, fusion="relative")
    found = await searcher.search(ANA, by_legs)
    alike = await searcher.search(ANA, replace(by_legs, fusion="absolute"))

    assert [hit.document_id for hit in found.hits].count("two") == 2
    assert len(found.hits) == 3
    assert [hit.document_id for hit in alike.hits] == ["one", "two"], "probes are no leave"


async def test_a_tenant_without_documents_gets_an_answer_without_hits(searcher: Searcher) -> None:
    found = await searcher.search(ANA, Query("leave", alpha=0.5))

    assert (found.hits, found.as_of) == ((), {"acme": 0, "public": 0})
    assert not found.degraded


async def test_a_hit_says_where_it_stands_in_its_document(
    writer: Writer, searcher: Searcher
) -> None:
    text = "# Harbour\n\nProbes.\n\n# Leave\n\n25 days of férias.\n"
    document = a_document("guide", text, tags=("a", "b"), language="pt")
    await put(writer, document)

    best, _ = (await searcher.search(ANA, Query("leave", alpha=0.5))).hits

    assert best.text == text[best.start : best.end] == "# Leave\n\n25 days of férias."
    assert (best.document_id, best.title, best.source) == ("guide", document.title, "handbook")
    assert (best.uri, best.language, best.tags) == (document.uri, "pt", ("a", "b"))


async def test_a_language_that_comes_in_is_understood_by_the_next_search(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("leave"))
    before = await searcher.search(ANA, Query("pagamentos", alpha=0))
    await put(writer, a_document("pagar", "O pagamento sai no dia 25.", language="pt-BR"))

    after = await searcher.search(ANA, Query("pagamentos", alpha=0))

    assert before.hits == ()
    assert [hit.document_id for hit in after.hits] == ["pagar"]


async def test_a_language_that_comes_in_with_a_public_document_of_another_tenant_is_understood(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("leave"))
    await searcher.search(ANA, Query("pagamentos", alpha=0))
    public = a_document(
        "pagar", "O pagamento sai no dia 25.", language="pt-BR", readers=("public",)
    )
    await put(writer, public, "beta")

    found = await searcher.search(ANA, Query("pagamentos", alpha=0))

    assert [hit.document_id for hit in found.hits] == ["pagar"]


@pytest.mark.parametrize("alpha", [0.0, 0.25, 1.0])
async def test_without_the_embedder_words_alone_decide_on_the_whole_scale(
    writer: Writer, searcher: Searcher, database: Database, alpha: float
) -> None:
    for number in range(5):
        await put(writer, a_document(f"d{number}", f"{'Leave. ' * number} Harbour probe."))
    degraded_searcher = Searcher(database, AbsentEmbedder())

    for query in (Query("leave", alpha=alpha), Query("leave", alpha=alpha, fusion="relative")):
        by_words = await searcher.search(ANA, replace(query, alpha=0))
        found = await degraded_searcher.search(ANA, query)

        assert found.degraded
        assert not by_words.degraded
        assert [(hit.chunk_id, hit.score) for hit in found.hits] == [
            (hit.chunk_id, hit.score) for hit in by_words.hits
        ]
        assert len(found.hits) == 5
        assert all(hit.ranking.dense is None for hit in found.hits)


async def test_without_the_embedder_rrf_ranks_by_words_too(
    writer: Writer, database: Database
) -> None:
    await put(writer, a_document("probe", "Harbour probe.", title="Probes"))
    await put(writer, a_document("leave", "Leave."))
    degraded_searcher = Searcher(database, AbsentEmbedder())

    found = await degraded_searcher.search(ANA, Query("leave", alpha=1, fusion="rrf"))

    assert [(hit.document_id, hit.score) for hit in found.hits] == [("leave", 1 / 61)]


async def test_a_tenant_that_does_not_exist_gets_an_answer_without_hits(searcher: Searcher) -> None:
    scope = everything("nobody", "ana", [])

    async with asyncio.timeout(5):
        found = await searcher.search(scope, Query("leave", alpha=0.5))

    assert (found.hits, found.as_of) == ((), {"nobody": 0, "public": 0})


LANDMARKS = ("lighthouse", "volcano", "telescope", "orchestra", "cathedral")
GUIDE = "\n\n".join(
    f"## 🗼 {word.title()}\n\nThe {word} é très 🎻 alt." for word in LANDMARKS
)  # characters of two, three and four bytes: places are counted in characters


@pytest.mark.parametrize("place", range(len(LANDMARKS)))
async def test_an_expanded_hit_takes_in_the_chunk_before_and_the_one_after(
    writer: Writer, searcher: Searcher, place: int
) -> None:
    pieces = chunks(GUIDE)
    assert len(pieces) == len(LANDMARKS)
    await put(writer, a_document("other", "Nothing but harbours."))
    await put(writer, a_document("guide", GUIDE))

    query = Query(LANDMARKS[place], alpha=0, top_k=1)
    (plain,) = (await searcher.search(ANA, query)).hits
    (wide,) = (await searcher.search(ANA, replace(query, expand=True))).hits

    first, last = pieces[max(place - 1, 0)], pieces[min(place + 1, len(pieces) - 1)]
    assert (plain.start, plain.end) == (pieces[place].start, pieces[place].end)
    assert (wide.start, wide.end) == (first.start, last.end)
    for hit in (plain, wide):
        assert hit.text == GUIDE[hit.start : hit.end]
    assert (wide.chunk_id, wide.score) == (plain.chunk_id, plain.score)


async def test_expanded_hits_that_overlap_are_one(writer: Writer, searcher: Searcher) -> None:
    await put(writer, a_document("guide", GUIDE))
    query = Query(" ".join(LANDMARKS), alpha=0, top_k=5)

    plain = await searcher.search(ANA, query)
    wide = await searcher.search(ANA, replace(query, expand=True))

    assert len(plain.hits) == len(LANDMARKS)
    assert [hit.text for hit in wide.hits] == [GUIDE]


async def test_a_document_of_one_chunk_expands_to_itself(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("leave"))
    query = Query("leave", alpha=0)

    plain, wide = [
        (await searcher.search(ANA, one)).hits for one in (query, replace(query, expand=True))
    ]

    assert plain == wide


async def test_no_document_has_more_hits_than_asked_for(writer: Writer, searcher: Searcher) -> None:
    for name in ("one", "two"):
        sections = (f"## {name} {number}\n\nLeave number {number}." for number in range(4))
        await put(writer, a_document(name, "\n\n".join(sections)))
    query = Query("leave", alpha=0.5, top_k=8)

    for limit, hits in ((None, 8), (3, 6), (1, 2)):
        found = await searcher.search(ANA, replace(query, document_hits_max=limit))

        per_document = [hit.document_id for hit in found.hits]
        assert len(per_document) == hits
        assert per_document.count("one") == per_document.count("two") == hits / 2


async def test_words_are_analysed_in_the_language_that_the_caller_names(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("english", "Pay by invoice; one sensor.", title="", language="en"))
    await put(writer, a_document("portuguese", "Pagamentos: um sensor.", title="", language="pt"))

    async def found(text: str, language: str | None) -> set[str]:
        answer = await searcher.search(ANA, Query(text, alpha=0, language=language))
        return {hit.document_id for hit in answer.hits}

    assert await found("sensor", None) == {"english", "portuguese"}
    assert await found("sensor", "en") == {"english"}
    assert await found("sensor", "pt") == await found("sensor", "pt-BR") == {"portuguese"}
    assert await found("pagamento", "pt") == {"portuguese"}
    assert await found("pagamento", "en") == set()
    assert await found("sensor", "de") == set()


async def test_a_word_with_a_typo_finds_and_the_answer_says_what_it_was_taken_for(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("tower", "The old lighthouse of Norrvik."))
    await put(writer, a_document("leave"))

    for alpha in (0.0, 0.5):
        found = await searcher.search(ANA, Query("lihgthouse", alpha=alpha, top_k=1))

        assert [hit.document_id for hit in found.hits] == ["tower"]
        assert found.corrections == {"lihgthouse": ("lighthouse",)}


async def test_a_word_as_it_should_be_is_not_corrected(writer: Writer, searcher: Searcher) -> None:
    await put(writer, a_document("tower", "The old lighthouse of Norrvik."))

    for text in ("lighthouse", "lighthouses", "Norrvik"):
        found = await searcher.search(ANA, Query(text, alpha=0))

        assert [hit.document_id for hit in found.hits] == ["tower"]
        assert found.corrections == {}


async def test_a_word_that_came_in_a_moment_ago_is_what_a_typo_is_taken_for(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("leave"))
    before = await searcher.search(ANA, Query("lihgthouse", alpha=0))
    await put(writer, a_document("tower", "The old lighthouse of Norrvik."))

    after = await searcher.search(ANA, Query("lihgthouse", alpha=0))

    assert (before.hits, before.corrections) == ((), {})
    assert [hit.document_id for hit in after.hits] == ["tower"]
    assert after.corrections == {"lihgthouse": ("lighthouse",)}


async def test_words_that_only_some_may_read_correct_nobody_until_all_may(
    writer: Writer, searcher: Searcher
) -> None:
    secret = a_document("secret", "The lighthouse.", owner="ben", readers=("user:ben",))
    await put(writer, secret)
    await put(writer, a_document("open", "The telescope."))
    typed, ben = Query("lihgthouse telescpoe", alpha=0.5), everything("acme", "ben", [])

    before = [await searcher.search(scope, typed) for scope in (ANA, ben)]
    await writer.put_access("acme", "secret", lambda _: replace(secret, readers=("tenant",)))
    after = await searcher.search(ANA, typed)

    assert [found.corrections for found in before] == [{"telescpoe": ("telescope",)}] * 2
    assert after.corrections == {"lihgthouse": ("lighthouse",), "telescpoe": ("telescope",)}


async def test_a_document_that_is_written_for_all_at_last_teaches_what_it_kept(
    writer: Writer, searcher: Searcher
) -> None:
    secret = a_document("secret", "The lighthouse.", owner="ben", readers=("user:ben",))
    await put(writer, secret)

    await put(writer, replace(secret, readers=("tenant",), tags=("told",)))

    found = await searcher.search(ANA, Query("lihgthouse", alpha=0))
    assert [hit.document_id for hit in found.hits] == ["secret"]


async def test_an_answer_says_nothing_of_corrections_that_its_hits_do_not_show(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("all", "The lighthouse.", owner=None))
    await put(writer, a_document("own", "My telescope.", owner="ana", readers=("tenant",)))

    found = await searcher.search(
        resolve("acme", "ana", [], ["private"]), Query("lihgthouse telescpoe", alpha=0.5)
    )

    assert [hit.document_id for hit in found.hits] == ["own"]
    assert found.corrections == {"telescpoe": ("telescope",)}


@pytest.mark.parametrize("reader", ["tenant", "public"])
async def test_the_words_of_another_tenant_correct_nothing(
    writer: Writer, searcher: Searcher, reader: str
) -> None:
    await put(writer, a_document("tower", "The lighthouse.", readers=(reader,)), "beta")
    await put(writer, a_document("leave"))

    found = await searcher.search(ANA, Query("lihgthouse", alpha=0))

    assert (found.hits, found.corrections) == ((), {})


async def test_an_answer_depends_on_the_candidates_of_the_legs_that_have_weight(
    world: World,
) -> None:
    query = Query("sensor lighthouse", candidates=5, top_k=2, fusion="relative")

    async def dependence(**fields: Any) -> Dependence:
        return (await world.searcher.search(ANA, replace(query, **fields))).dependence

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


async def test_a_leg_that_found_less_than_it_asked_for_has_no_floor(world: World) -> None:
    query = Query("sensor", alpha=0.5, candidates=1000, fusion="relative")

    few = await world.searcher.search(ANA, query)

    assert few.dependence.dense_floor is few.dependence.lexical_floor is None
    assert few.dependence.exact


async def test_what_is_judged_by_itself_depends_on_the_hits_and_on_the_score_of_the_last(
    world: World,
) -> None:
    query = Query("sensor lighthouse", alpha=0.5, top_k=3)

    async def searched(**fields: Any) -> Found:
        return await world.searcher.search(ANA, replace(query, **fields))

    three, every = await searched(), await searched(top_k=1000, candidates=1000)
    assert len(three.hits) == 3
    assert three.dependence.fused_floor == three.hits[-1].score
    assert three.dependence.candidates == ()
    assert three.dependence.dense_floor == three.dependence.lexical_floor == math.inf
    assert every.dependence.fused_floor == 0.0
    least = every.hits[5].score
    some = await searched(top_k=1000, candidates=1000, min_score=least)
    assert some.dependence.fused_floor == least
    assert (await searched(min_score=least)).dependence.fused_floor == three.hits[-1].score


async def test_what_is_not_looked_at_for_it_lies_too_deep_can_not_end_an_answer(
    world: World,
) -> None:
    query = Query("sensor", alpha=0.5, top_k=40, candidates=20, document_hits_max=1)

    found = await world.searcher.search(ANA, query)

    assert len(found.hits) < len(found.dependence.shown) == 40
    assert 0 < found.dependence.fused_floor <= found.hits[-1].score


async def test_an_answer_depends_on_words_if_one_is_unknown_and_on_languages_if_none_is_named(
    world: World,
) -> None:
    async def dependence(text: str, language: str | None = None) -> Dependence:
        return (await world.searcher.search(ANA, Query(text, language=language))).dependence

    (held,) = [
        row["tenant_words"]
        for row in await world.database.searching.rows(
            "search.survey", "acme", *([None] * 11), True, False, 1
        )
    ]
    assert (await dependence("sensor")).words is None
    assert (await dependence("lighthuose")).words == held
    assert (await dependence("sensor")).languages == frozenset({"en", "pt", "und"})
    assert (await dependence("sensor", "en")).languages is None


async def test_an_expanded_answer_depends_on_the_documents_that_it_takes_its_texts_from(
    world: World,
) -> None:
    query = Query("sensor lighthouse", alpha=0.5, top_k=3)

    plain = await world.searcher.search(ANA, query)
    expanded = await world.searcher.search(ANA, replace(query, expand=True))

    assert plain.dependence.documents == ()
    assert len(expanded.dependence.documents) >= len({hit.document for hit in expanded.hits}) > 0


async def test_an_answer_depends_on_what_was_looked_at_and_left_out(world: World) -> None:
    query = Query("sensor", alpha=0.5, top_k=40, document_hits_max=1)

    found = await world.searcher.search(ANA, query)

    assert {hit.chunk_id for hit in found.hits} < set(found.dependence.shown)


async def test_where_there_is_meaning_of_another_kind_alone_the_words_count(
    database: Database, documents: Documents, static_embedder: StaticEmbedder
) -> None:
    other = IndifferentEmbedder()
    await generation.claim(database, static_embedder)
    await database.rows("spaces.enter", "beta", other.space)
    writer = Writer(documents, static_embedder, RecordingInvalidation(), other)
    await put(writer, a_document("hers", readers=("public",)), "beta")

    searcher = Searcher(database, static_embedder)
    judged = await searcher.search(ANA, Query("leave", alpha=1.0))
    ranked = await searcher.search(ANA, Query("leave", alpha=1.0, fusion="relative"))

    (hit,) = judged.hits
    assert hit.ranking.lexical is not None
    assert hit.score == hit.ranking.lexical.score
    assert ranked.dependence.candidates == (hit.chunk_id,)
    assert ranked.dependence.dense_floor is ranked.dependence.lexical_floor is None


async def test_a_recorded_query_is_computed_anew_as_the_one_that_was_asked(world: World) -> None:
    query = Query("lighthuose", filter=Filter(tags_any=("red",)), explain=True, expand=True)
    found = await world.searcher.search(ANA, query)

    recorded = Dependence.decode(found.dependence.encode())

    assert await world.searcher.search(recorded.scope, recorded.query) == found
