"""Summaries in the index: never older than their text, seen by whom that is, and searched."""

from collections.abc import Mapping
from dataclasses import replace

import asyncpg
import pytest

from common.shares.threads import TenantThreads
from gateway.extensions.audits.consistency_counts import ConsistencyReader
from gateway.extensions.audits.index_audit import IndexAudit
from gateway.extensions.preprocessing.llm_preprocessor import LlmPreprocessor
from gateway.extensions.reembed.embedding_migration import EmbeddingMigration
from gateway.extensions.reembed.reembedder import Reembedder
from index.documents.document_store import DocumentStore
from index.documents.partitions import Partitions
from index.documents.stored_document import StoredDocument
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.index_version import check_or_create
from index.embedders.static_embedder import StaticEmbedder
from index.invalidation.changes import ChangeLog
from index.model.chunk_kind import kind_of
from index.model.document import Document
from index.model.query import Filter, Query
from index.model.scope import resolve
from index.postgres.database import Database
from index.search.hits import Hit
from index.search.searcher import Searcher
from index.search.tables.strategy import StrategyLimits
from ingest.summaries.extract import extract
from ingest.write.writer import Writer
from tests.index.conftest import connected
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, a_document, put
from tests.threads import new_threads

pytestmark = pytest.mark.anyio

BOTH = ("summary", "text")


def prose(word: str, words: int = 1_200) -> str:
    return " ".join(
        f"The {word} number {number} burns brightly in the night." for number in range(words // 9)
    )


TEXT = f"# Lights\n\nAll of them.\n\n## Lamps\n\n{prose('lamp')}\n\n## Fires\n\n{prose('fire')}"
BOOK = a_document("book", TEXT, summaries="extract")


async def stored(documents: DocumentStore, document_id: str = "book") -> StoredDocument:
    found = await documents.stored("acme", document_id)
    assert found is not None
    return found


async def found(
    searcher: Searcher, words: str, *kinds: str, subject: str = "ana", **asked: object
) -> tuple[Hit, ...]:
    scope = resolve("acme", subject, [], ["private", "shared", "tenant"])
    query = Query(words, filter=Filter(kinds=kinds or ("text",)), **asked)  # type: ignore[arg-type]
    return (await searcher.search(scope, query)).hits


def extracts(text: str, one: StoredDocument) -> list[bool]:
    return [each.text == extract(text[each.start : each.end]) for each in one.summaries]


async def test_a_long_document_and_its_long_sections_are_summed_up_beside_their_chunks(
    writer: Writer, documents: DocumentStore
) -> None:
    plain = await put(writer, replace(BOOK, document_id="plain", summaries="none"))

    written = await put(writer, BOOK)

    book = await stored(documents)
    assert written.added == plain.added + 3
    assert written.embedded == 3
    assert [each.text for each in book.summaries] == [
        extract(TEXT[each.start : each.end]) for each in book.summaries
    ]
    assert [TEXT[each.start : each.start + 8] for each in book.summaries] == [
        "# Lights",
        "## Lamps",
        "## Fires",
    ]
    assert all(each.chunk_id < 0 for each in book.summaries)
    assert book.spans == (await stored(documents, "plain")).spans


async def test_an_edit_makes_anew_what_it_touches_and_keeps_the_rest(
    writer: Writer, documents: DocumentStore
) -> None:
    await put(writer, BOOK)
    whole, lamps, fires = (await stored(documents)).summaries

    edited = TEXT.replace("All of them", "Each of them")
    edited = edited.replace(prose("fire"), prose("beacon"))
    await put(writer, replace(BOOK, text=edited))

    now = await stored(documents)
    assert all(extracts(edited, now))
    assert now.summaries[1] == replace(lamps, start=lamps.start + 1, end=lamps.end + 1)
    assert now.summaries[2].chunk_id != fires.chunk_id
    assert "beacon" in now.summaries[2].text
    assert now.summaries[0] == replace(whole, end=len(edited))  # in the words that were left


async def test_a_document_that_is_short_again_or_asks_for_none_has_none(
    writer: Writer, documents: DocumentStore
) -> None:
    await put(writer, BOOK)
    await put(writer, replace(BOOK, text="Short."))
    assert (await stored(documents)).summaries == ()

    await put(writer, BOOK)
    none = await put(writer, replace(BOOK, summaries="none"))
    assert (none.added, none.removed) == (0, 3)
    assert (await stored(documents)).summaries == ()


async def test_summaries_are_hits_only_if_they_are_asked_for(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, BOOK)

    assert {hit.kind for hit in await found(searcher, "fire", top_k=50)} == {"text"}
    only = await found(searcher, "fire", "summary", top_k=50)
    assert [hit.kind for hit in only] == ["summary"] * 3
    assert only[0].text == extract(TEXT[only[0].start : only[0].end])
    both = await found(searcher, "fire", *BOTH, top_k=50)
    assert {hit.kind for hit in both} == {"text", "summary"}


@pytest.mark.parametrize("fusion", ["absolute", "relative", "rrf"])
async def test_a_hit_brings_the_summaries_of_its_document_and_of_its_section(
    writer: Writer, searcher: Searcher, documents: DocumentStore, fusion: str
) -> None:
    await put(writer, BOOK)
    whole, _, fires = (await stored(documents)).summaries

    for asked in ({}, {"expand": True}, {"top_k": 1}):
        hits = await found(searcher, "fire", summaries=True, fusion=fusion, **asked)
        assert [each.text for each in hits[0].summaries] == [whole.text, fires.text]
        assert (hits[0].summaries[1].start, hits[0].summaries[1].end) == (fires.start, fires.end)
    assert not any(hit.summaries for hit in await found(searcher, "fire", fusion=fusion))


async def test_of_nested_sections_the_innermost_counts_and_a_summary_is_not_its_own(
    writer: Writer, searcher: Searcher
) -> None:
    deep = f"### Deep\n\n{prose('deep')}"
    text = f"# A\n\n{prose('top')}\n\n## B\n\n{prose('low')}\n\n{deep}\n\n# C\n\n{prose('end')}"
    await put(writer, a_document("nest", text, summaries="extract"))

    (hit, *_) = await found(searcher, "deep", summaries=True)
    assert [text[each.start : each.end][:8] for each in hit.summaries] == ["# A\n\nThe", "### Deep"]
    (section, *_) = await found(searcher, "deep", "summary", summaries=True)
    places = [(section.start, section.end), *((one.start, one.end) for one in section.summaries)]
    assert [text[start:end][:4] for start, end in places] == ["### ", "# A\n", "## B"]


@pytest.mark.slow
async def test_a_summary_does_not_melt_into_the_text_that_it_sums_up_nor_stand_beside_it(
    writer: Writer, searcher: Searcher
) -> None:
    # By characters a section begins within a chunk, and its summary stands between two of them.
    cut = replace(BOOK, chunker="characters:1000")
    asked = [f"lamp number {number}" for number in range(0, 132, 6)]
    await put(writer, replace(cut, summaries="none"))
    wide = [await found(searcher, words, top_k=1, expand=True) for words in asked]
    await put(writer, cut)
    assert [await found(searcher, words, top_k=1, expand=True) for words in asked] == wide
    await put(writer, BOOK)
    plain = await found(searcher, "fire", top_k=50, expand=True)
    mixed = await found(searcher, "fire", *BOTH, top_k=50, expand=True)

    assert [hit.text for hit in mixed if hit.kind == "text"] == [hit.text for hit in plain]
    assert all(hit.text == TEXT[hit.start : hit.end] for hit in plain)


async def test_who_may_not_read_the_document_sees_no_summary_of_it(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, replace(BOOK, owner="ana", readers=()))

    assert await found(searcher, "fire", *BOTH, subject="ana", summaries=True)
    assert await found(searcher, "fire", *BOTH, subject="ben", summaries=True) == ()

    await writer.put_access("acme", "book", lambda _: replace(BOOK, readers=("user:ben",)))
    assert await found(searcher, "fire", "summary", subject="ben")


async def test_the_change_names_summaries_as_it_names_chunks(
    writer: Writer, documents: DocumentStore, database: Database
) -> None:
    changes = ChangeLog(database)

    async def news(revision: int) -> tuple[frozenset[int], set[tuple[int, str]]]:
        change_set = await changes.changes_after("acme", "acme", revision)
        assert change_set is not None
        return change_set.outdated, {
            (each.chunk_id, kind_of(each.chunk_id)) for each in change_set.changed_chunks
        }

    written = await put(writer, BOOK)
    book = await stored(documents)
    kinds = {chunk_id: "text" if chunk_id > 0 else "summary" for chunk_id in book.all_ids}
    assert await news(written.revision - 1) == (frozenset(), set(kinds.items()))

    shared = await writer.put_access("acme", "book", lambda _: replace(BOOK, readers=()))
    assert await news(shared.revision - 1) == (frozenset(book.all_ids), set(kinds.items()))

    removed = await writer.remove("acme", "book", lambda document: document)
    assert removed.removed == len(book.all_ids)
    assert await news(removed.revision - 1) == (frozenset(book.all_ids), set())


async def test_nothing_but_the_document_is_left_of_a_removed_one(
    writer: Writer, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await put(writer, BOOK)
    await writer.remove("acme", "book", lambda document: document)

    for table in ("chunks", "chunk_texts", "document_texts"):
        assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 0  # noqa: S608


async def test_another_embedder_embeds_summaries_too(
    writer: Writer,
    database: Database,
    documents: DocumentStore,
    invalidation: RecordingInvalidation,
    searcher: Searcher,
) -> None:
    await put(writer, BOOK)
    summaries = {each.text for each in (await stored(documents)).summaries}
    coming = RecordingEmbedder(HashingEmbedder(64))
    reembedder = Reembedder(
        documents, EmbeddingMigration(database), coming, invalidation, new_threads()
    )

    assert await reembedder.run("acme", coming.dimensions, lambda _progress: None)

    embedded = {text.rpartition("\n")[2] for text in coming.texts}
    assert summaries <= embedded


class Names:
    """The statements that a database was asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def observe(self, name: str, _seconds: float) -> None:
        self.names.append(name)


@pytest.mark.sampled("kinds0-exact", "kinds2-nearest")
@pytest.mark.slow
@pytest.mark.parametrize("way", ["exact", "nearest"])
@pytest.mark.parametrize("kinds", [("text",), ("summary",), BOTH])
async def test_every_way_to_look_leaves_out_what_is_not_asked_for(
    writer: Writer,
    database: Database,
    database_url: str,
    static_embedder: StaticEmbedder,
    searcher: Searcher,
    way: str,
    kinds: tuple[str, ...],
) -> None:
    books = {word: TEXT.replace("lamp", word) for word in ("lamp", "torch", "star", "moon")}
    for word, text in books.items():
        await put(writer, replace(BOOK, document_id=word, text=text))
    limits = StrategyLimits(crossover_chunks=20 if way == "nearest" else 1_000)
    done = [each async for each in Partitions(database, limits=limits).maintain()]
    seen = Names()
    expected = await found(searcher, "fire", *kinds, top_k=9, summaries=True)

    async with connected(
        database_url, connections_max=1, observe=seen.observe, statement_timeout_s=10
    ) as watched:
        asked = Searcher(watched, static_embedder, limits=limits)
        hits = await found(asked, "fire", *kinds, top_k=9, summaries=True)

    assert bool(done) == (way == "nearest")
    used = "exact" if way == "nearest" and kinds == ("summary",) else way  # a graph has too few
    assert [name for name in seen.names if used in name]
    assert hits == expected
    assert {hit.kind for hit in hits} <= set(kinds)


PROBLEMS = {
    "a summary that says something else": (
        "UPDATE chunk_texts SET text = 'Other.' WHERE chunk_id < 0",
        {"summary"},
    ),
    "one that is gone": (
        """
        WITH gone AS (
            DELETE FROM chunk_texts WHERE chunk_id = (SELECT min(chunk_id) FROM chunk_texts)
            RETURNING chunk_id
        )
        DELETE FROM chunks WHERE chunk_id = (SELECT chunk_id FROM gone)
        """,
        {"summary", "count"},
    ),
    "one that nobody asked for": (
        "UPDATE documents SET summaries = 'none'",
        {"summary"},
    ),
    "one without a vector": (
        "DELETE FROM chunks WHERE chunk_id < 0",
        {"orphan"},
    ),
}


@pytest.mark.sampled("one that is gone", "one without a vector")
@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
async def test_an_audit_finds_and_mends_what_is_wrong_with_them(
    writer: Writer,
    documents: DocumentStore,
    database: Database,
    embedder: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
    problem: str,
) -> None:
    statement, kinds = PROBLEMS[problem]
    audit = IndexAudit(ConsistencyReader(database), writer, (), repair=True)
    await check_or_create(database, embedder)
    await put(writer, BOOK)
    assert [each async for each in audit.problems("acme", lambda _: None)] == []

    await connection.execute(statement)
    problems = [each async for each in audit.problems("acme", lambda _: None)]

    assert {each.kind for each in problems} == kinds
    assert [each async for each in audit.problems("acme", lambda _: None)] == []
    mended = await stored(documents)
    assert all(extracts(TEXT, mended))
    assert len(mended.summaries) == (0 if mended.document.summaries == "none" else 3)


class Parrot:
    """A model that says of each part how many it has been asked about before."""

    def __init__(self) -> None:
        self.known: list[Mapping[str, str]] = []
        self.words = "A summary of"

    async def summaries_by_text(
        self, text: str, stored: Mapping[str, str], _threads: TenantThreads
    ) -> Mapping[str, str]:
        self.known.append(stored)
        parts = [TEXT.strip(), *("## " + each.strip() for each in text.split("## ")[1:])]
        return {part: f"{self.words} {part[:10]}" for part in parts} | dict(stored)


async def test_what_a_model_has_said_stays_as_long_as_its_part_does(
    documents: DocumentStore, embedder: RecordingEmbedder, invalidation: RecordingInvalidation
) -> None:
    parrot = Parrot()
    writer = Writer(documents, embedder, invalidation, preprocessor=LlmPreprocessor(None, parrot))
    book = replace(BOOK, summaries="model")
    await put(writer, book)
    before = await stored(documents)
    assert all(each.text.startswith("A summary of") for each in before.summaries)

    parrot.words = "Another word on"
    text = TEXT.replace(prose("fire"), prose("beacon"))
    await put(writer, replace(book, text=text))
    _, lamps, fires = (await stored(documents)).summaries
    assert lamps == before.summaries[1]
    assert fires.text.startswith("Another word on")

    titled = await put(writer, replace(book, text=text, title="Lights"))
    assert (titled.added, titled.removed) == (0, 0)
    assert len(parrot.known[-1]) == 2  # of the three: that of the whole was an extract


async def test_without_a_model_its_summaries_are_extracts_and_asked_for_when_there_is_one(
    writer: Writer,
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    invalidation: RecordingInvalidation,
) -> None:
    book = replace(BOOK, summaries="model")
    await put(writer, book)
    assert all(extracts(TEXT, await stored(documents)))

    parrot = Parrot()
    model = Writer(documents, embedder, invalidation, preprocessor=LlmPreprocessor(None, parrot))
    await put(model, replace(book, title="Other"))

    assert parrot.known == [{}]
    assert not any(extracts(TEXT, await stored(documents)))


async def test_the_words_of_summaries_are_known_once_all_may_read_them(
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    invalidation: RecordingInvalidation,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    parrot = Parrot()
    parrot.words = "Zorvexal about"
    writer = Writer(documents, embedder, invalidation, preprocessor=LlmPreprocessor(None, parrot))
    book: Document = replace(BOOK, summaries="model", readers=("user:ben",))
    asked = "SELECT count(*) FROM vocabulary WHERE word = 'zorvexal'"
    await put(writer, book)
    assert await connection.fetchval(asked) == 0

    await writer.put_access("acme", "book", lambda _: replace(book, readers=("tenant",)))

    assert await connection.fetchval(asked) == 1
