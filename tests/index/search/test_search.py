"""The search statement against brute force, and what an answer says beside its hits."""

import asyncio
from dataclasses import replace
from datetime import datetime
from itertools import product

import pytest
from hypothesis import given, settings

from index.documents.document_store import DocumentStore
from index.model.query import Filter, Query
from index.model.scope import ScopeName, everything, resolve
from index.postgres.database import Database
from index.search.searcher import Searcher, SearchResult
from ingest.chunkers.structure import chunks
from ingest.write.writer import Writer
from tests.index.support import questions, worlds
from tests.index.support.questions import SCOPES, QuestionWorld
from tests.index.support.samples import (
    IndifferentEmbedder,
    RecordingInvalidation,
    a_document,
    put,
    subsets,
)
from tests.index.support.worlds import IndexPrincipal
from tests.sampling import examples

pytestmark = pytest.mark.anyio

EVERY_READERS = subsets(["user:ben", "user:eve", "group:sales", "tenant", "public"])
BEN = IndexPrincipal("acme", "ben", ())
ANA = everything("acme", "ana", ["sales"], receives_public=True)


@pytest.mark.parametrize("names", SCOPES, ids="+".join)
@settings(max_examples=examples(20), deadline=None)
@given(asking=questions.principals, query=questions.queries)
async def test_a_search_finds_what_brute_force_finds(
    world: QuestionWorld, names: tuple[ScopeName, ...], asking: IndexPrincipal, query: Query
) -> None:
    await world.assert_right(world.searcher, asking, names, query)


async def test_updated_after_is_inclusive_and_updated_before_exclusive(
    world: QuestionWorld,
) -> None:
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


@pytest.mark.slow
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
        scope = resolve(asking.tenant, asking.subject, asking.groups, names, receives_public=True)
        found = await searcher.search(scope, query)

        assert {hit.document_id: hit.scope_name for hit in found.hits} == {
            document_id: worlds.scope_name("acme", document, asking, names)
            for document_id, document in made.items()
            if worlds.is_in_scope("acme", document, asking, names)
        }
        for document in made.values():
            admitted = scope.admits(document.owner, document.readers)
            assert admitted == worlds.is_in_scope("acme", document, asking, names)


@pytest.mark.parametrize("names", SCOPES, ids="+".join)
async def test_documents_of_another_tenant_appear_only_if_public_and_in_the_public_scope(
    world: QuestionWorld, names: tuple[ScopeName, ...]
) -> None:
    scope = resolve("acme", "ana", ["sales", "ops"], names, receives_public=True)
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
        answer = await searcher.search(
            resolve("acme", "ana", [], names, receives_public=True), Query("leave", alpha=1)
        )
        return {hit.document_id for hit in answer.hits}

    assert await found("shared") == {"bens"}
    assert await found("shared", "tenant") == {"bens", "all"}
    assert await found("shared", "private") == {"own", "bens", "all"}
    assert await found("private") == {"own", "all"}


@pytest.mark.slow
async def test_an_answer_holds_exactly_what_was_committed_up_to_the_revision_that_it_says(
    writer: Writer, searcher: Searcher
) -> None:
    """Each write adds one document, so there are as many hits as revisions."""

    async def write() -> None:
        for number in range(900):
            await put(writer, a_document(f"d{number}", f"Leave number {number}."))
            if number > 30 and len(revisions()) > 3:
                break

    def revisions() -> set[int]:
        return {answer.as_of["acme"] for answer in answers}

    answers: list[SearchResult] = []
    writing = asyncio.create_task(write())
    while not writing.done():
        answers.append(await searcher.search(ANA, Query("leave", alpha=1, top_k=1000)))
    await writing

    assert len(revisions()) > 3
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
    database: Database, documents: DocumentStore
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


async def test_a_tenant_that_does_not_exist_gets_an_answer_without_hits(searcher: Searcher) -> None:
    scope = everything("nobody", "ana", [], receives_public=True)

    async with asyncio.timeout(60):
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


async def test_an_expanded_hit_begins_with_the_header_of_its_table(
    writer: Writer, searcher: Searcher
) -> None:
    header, rows = "| no | lamp |\n|---|---|\n", [f"| {n} | lamp{n} |" for n in range(200)]
    text = header + "\n".join(rows)
    await put(writer, a_document("lamps", text))
    query = Query("lamp150", alpha=0.0, top_k=1)

    (narrow,) = (await searcher.search(ANA, query)).hits
    (wide,) = (await searcher.search(ANA, replace(query, expand=True))).hits

    assert narrow.text == header + text[narrow.start : narrow.end]
    assert 0 < wide.start < narrow.start
    assert wide.text == header + text[wide.start : wide.end]


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
