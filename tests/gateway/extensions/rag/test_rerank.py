"""Reranking by the heuristic and by words."""

import httpx2
import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

QUERY = "annual leave"
TEXTS = {
    "first": "Annual leave: annual leave for everybody.",
    "second": "Annual leave is asked for in time.",
    "third": "There is leave, and there is more.",
}


async def caller_with_documents(gateway: Gateway) -> Caller:
    ana = await gateway.caller("ana")
    for document_id, text in TEXTS.items():
        await ana.put(document_id, text)
    return ana


def found(answer: httpx2.Response) -> list[str]:
    return [hit["document_id"] for hit in answer.json()["hits"]]


async def test_by_heuristic_the_title_and_the_words_count_too(ana: Caller) -> None:
    await ana.put("text", "Vacation of staff: annual leave, annual leave, annual leave.")
    await ana.put("title", "Staff have annual leave.", title="Annual leave")

    plain = await ana.search(QUERY, alpha=0.0)
    again = await ana.search(QUERY, alpha=0.0, rerank=True)

    assert found(again)[0] == "title"
    assert again.headers["nearhit-rerank"] == "heuristic"
    assert "nearhit-rerank" not in plain.headers
    for hit in again.json()["hits"]:
        by_hand = 0.60 * hit["score"] + 0.25 + (0.15 if hit["document_id"] == "title" else 0)
        assert hit["rerank_score"] == pytest.approx(by_hand)


async def test_by_heuristic_a_question_without_words_can_be_asked(ana: Caller) -> None:
    await ana.put("leave", "Annual leave.", title="?!")

    assert found(await ana.search("?!", rerank=True)) == found(await ana.search("?!"))


async def test_by_words_what_is_said_otherwise_comes_first_whatever_embeds(ana: Caller) -> None:
    await ana.put("lamp", "A lamp burns oil, and more oil.")
    await ana.put("vacation", "Three weeks of vacation.")

    hits = await ana.search("holidays", rerank="words", top_k=1)
    again = await ana.search("holidays", rerank="words", top_k=1)
    by_heuristic = await ana.search("holidays", rerank=True, top_k=1)

    assert found(hits) == ["vacation"]
    assert hits.headers["nearhit-rerank"] == "words"
    assert hits.json()["hits"][0]["rerank_score"] > 0
    assert again.headers["cache-status"] == "nearhit; hit; detail=memory"
    assert again.content == hits.content
    assert by_heuristic.headers["nearhit-rerank"] == "heuristic"


@pytest.mark.parametrize("fusion", ["rrf", "relative"])
async def test_by_heuristic_scores_that_are_no_shares_are_made_shares_of_the_greatest(
    ana: Caller, fusion: str
) -> None:
    for document_id, text in TEXTS.items():
        await ana.put(document_id, text)

    hits = (await ana.search(QUERY, fusion=fusion, rerank=True)).json()["hits"]

    most = max(hit["score"] for hit in hits)
    for hit in hits:
        words = 1.0 if "nnual" in hit["text"] else 0.5
        by_hand = 0.60 * hit["score"] / most + 0.25 * words
        assert hit["rerank_score"] == pytest.approx(by_hand)


async def test_more_candidates_than_there_may_be_are_refused(ana: Caller) -> None:
    body = {"query": QUERY, "rerank": True, "candidates": 101}
    answer = await ana.call("POST", "/v1/search", json=body)

    assert problem(answer, 422)["errors"][0]["field"] == "candidates"
