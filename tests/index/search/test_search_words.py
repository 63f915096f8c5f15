"""Words of a search: in which language they are understood, and what their typos are taken for."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from index.embedders.static_embedder import StaticEmbedder
from index.model.query import Query
from index.model.scope import everything, resolve
from index.postgres.database import Database
from index.search.list_loader import LIST_WAIT_S_MAX
from index.search.searcher import Searcher
from index.text import lexical
from index.text.word_lists import analysed_languages
from ingest.write.writer import Writer
from tests.index.search.test_search import ANA
from tests.index.support.samples import AbsentEmbedder, a_document, put
from tests.index.text.test_long_queries import CHAT, QUESTION

pytestmark = pytest.mark.anyio


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


async def test_a_search_goes_on_without_a_word_list_that_is_not_there_in_time(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("leave"))
    await put(writer, a_document("ferie", "Le ferie sono 25 giorni.", language="it"))
    question = Query("giorni di ferie", language="it", highlights=True)
    analysed_languages.LOADED.pop("it")  # as on a new machine

    with analysed_languages._LOADING:  # noqa: SLF001  the list takes long to make
        found = await searcher.search(ANA, question)
        by_words = asyncio.create_task(searcher.search(ANA, replace(question, alpha=0)))
        await asyncio.wait([by_words], timeout=2 * LIST_WAIT_S_MAX)
        is_by_words_done = by_words.done()

    assert found.degraded
    assert {hit.document_id for hit in found.hits} == {"ferie", "leave"}
    assert all(hit.ranking.lexical is None for hit in found.hits)
    assert not is_by_words_done, "without words nothing is left to go on with"
    assert [hit.document_id for hit in (await by_words).hits] == ["ferie"]
    whole = await searcher.search(ANA, question)
    assert not whole.degraded
    assert whole.hits[0].ranking.lexical is not None


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


@pytest.mark.slow
async def test_a_querys_language_leaves_out_no_language_of_the_scope(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("english", "Pay by invoice; one sensor.", title="", language="en"))
    await put(writer, a_document("portuguese", "Pagamentos: um sensor.", title="", language="pt"))

    async def found(text: str, language: str | None) -> set[str]:
        answer = await searcher.search(ANA, Query(text, alpha=0, language=language))
        return {hit.document_id for hit in answer.hits}

    assert await found("sensor", None) == {"english", "portuguese"}
    assert await found("sensor", "en") == {"english", "portuguese"}
    assert await found("sensor", "de") == {"english", "portuguese"}
    assert await found("pagamento", "en") == await found("pagamento", "pt") == {"portuguese"}


async def test_a_querys_words_are_weighed_in_its_own_language_too(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("english", "Pay by invoice.", language="en"))
    question = "Qual é o prazo de pagamento?"

    async def terms(text: str, **options: Any) -> Mapping[int, float]:
        return (await searcher.search(ANA, Query(text, **options))).dependencies.lexical

    detected, declared = await terms(question), await terms(question, language="pt-BR")
    english = await terms(question, language="en")

    assert detected == declared == lexical.query(question, ["en"], asked_in="pt").weights
    assert english == lexical.query(question, ["en"]).weights
    assert len(detected) < len(english)


async def test_a_word_of_another_language_finds_its_cognate(
    writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("check", "Validate the lease.", title="", language="en"))

    found = await searcher.search(ANA, Query("qual a validade", alpha=0, language="pt"))

    assert [hit.document_id for hit in found.hits] == ["check"]
    assert found.corrections["validade"] == ("validate",)


async def test_a_question_in_another_language_than_all_documents_has_no_required_score(
    writer: Writer, searcher: Searcher
) -> None:
    async def required(text: str, **options: Any) -> float | None:
        found = await searcher.search(ANA, Query(text, explain=True, **options))
        return found.hits[0].required_score

    question = "Qual é o prazo de pagamento?"
    await put(writer, a_document("english", "Pay by invoice.", language="en"))

    assert await required("What is the term of payment?") == StaticEmbedder.confident_score
    assert await required(question) is None
    assert await required(question, language="en") == StaticEmbedder.confident_score
    await put(writer, a_document("portuguese", "O prazo é de dez dias.", language="pt-BR"))
    assert await required(question) == StaticEmbedder.confident_score


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


async def test_words_that_only_a_group_may_read_correct_its_members_until_all_may(
    writer: Writer, searcher: Searcher
) -> None:
    secret = a_document("secret", "The lighthouse.", owner="ben", readers=("group:staff",))
    await put(writer, secret)
    await put(writer, a_document("open", "The telescope."))
    typed = Query("lihgthouse telescpoe", alpha=0.5)
    eve = everything("acme", "eve", ["staff"], receives_public=True)

    before = [await searcher.search(scope, typed) for scope in (ANA, eve)]
    await writer.put_access("acme", "secret", lambda _: replace(secret, readers=("tenant",)))
    after = await searcher.search(ANA, typed)

    both = {"lihgthouse": ("lighthouse",), "telescpoe": ("telescope",)}
    assert [found.corrections for found in before] == [{"telescpoe": ("telescope",)}, both]
    assert [[hit.document_id for hit in found.hits] for found in before] == [
        ["open"],
        ["secret", "open"],
    ]
    assert after.corrections == both


async def test_a_share_teaches_its_words_to_those_who_get_it(
    writer: Writer, searcher: Searcher
) -> None:
    secret = a_document("secret", "The lighthouse.", owner="ben", readers=("user:ben",))
    await put(writer, secret)
    shared = replace(secret, readers=("group:crew", "group:staff"))
    typed = Query("lihgthouse", alpha=0)
    scopes = [everything("acme", "eve", ["crew"]), everything("acme", "zoe", ["staff"])]

    before = [await searcher.search(scope, typed) for scope in scopes]
    await writer.put_access("acme", "secret", lambda _: shared)
    by_share = [await searcher.search(scope, typed) for scope in scopes]
    await put(writer, replace(shared, readers=("group:board",), tags=("new",)))
    member = await searcher.search(everything("acme", "ida", ["board"]), typed)

    assert [found.hits for found in before] == [(), ()]
    assert [len(found.hits) for found in by_share] == [1, 1]
    assert member.corrections == {"lihgthouse": ("lighthouse",)}


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


async def test_a_question_after_a_conversation_is_found_as_if_it_were_asked_alone(
    writer: Writer, searcher: Searcher
) -> None:
    card = "A card that has not arrived: branch, flat, postman, and the address that the app knows."
    await put(writer, a_document("card", card))
    await put(writer, a_document("beam", "The beam of the lighthouse reaches 25 nautical miles."))

    alone = await searcher.search(ANA, Query(QUESTION))
    for text in (f"{CHAT} {QUESTION}", f"{QUESTION} {CHAT}", f"{CHAT}\n{QUESTION}\nThanks!"):
        long = await searcher.search(ANA, Query(text))

        assert alone.hits[0].document_id == long.hits[0].document_id == "beam"
        assert long.hits[0].score <= 1
