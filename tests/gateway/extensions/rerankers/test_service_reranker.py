"""Reranking by a service, and what happens if it fails."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from common.circuit_breaker import MODEL, CircuitBreaker
from gateway.extension import RerankerUnavailable
from gateway.extensions.rerankers.service_reranker import ServiceReranker
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.extensions.rag.test_rerank import QUERY, caller_with_documents, found
from tests.gateway.support.gateways import running
from tests.gateway.support.hits import a_hit
from tests.stub_openai import Mischief, Reply, StubOpenAI, reranked

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_what_is_further_down_can_come_to_the_top_and_the_rest_is_cut(
    served: Served, stub: StubOpenAI
) -> None:
    stub.rerank_answer = lambda _, texts: reranked(
        [(place, float(place)) for place in range(len(texts))]
    )
    async with served(
        reranker=f"service:{stub.url}/rerank", chat_models={"rerank": "m"}
    ) as gateway:
        ana = await caller_with_documents(gateway)
        plain = await ana.search(QUERY, top_k=3)
        one = await ana.search(QUERY, top_k=1, rerank=True)
        narrow = await ana.search(QUERY, top_k=1, rerank=True, candidates=1)

    assert found(one) == found(plain)[-1:]
    assert found(narrow) == found(plain)[:1]
    assert one.headers["nearhit-rerank"] == "service"
    (asked,) = stub.reranks
    assert asked.body["model"] == "m"
    assert asked.body["query"] == QUERY
    assert len(asked.body["documents"]) == asked.body["top_n"] == 3


@pytest.mark.slow
async def test_an_order_is_cached_and_ends_with_any_of_the_candidates(
    served: Served, stub: StubOpenAI
) -> None:
    async with served(reranker=f"service:{stub.url}/rerank") as gateway:
        ana = await caller_with_documents(gateway)
        first = await ana.search(QUERY, top_k=1, rerank=True)
        cached = await ana.search(QUERY, top_k=1, rerank=True)
        await ana.put(found(await ana.search(QUERY, top_k=3))[-1], "Nothing of the kind.")
        after = await ana.search(QUERY, top_k=1, rerank=True)

    assert first.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert cached.headers["cache-status"] == "nearhit; hit; detail=memory"
    assert cached.headers["nearhit-rerank"] == "service"
    assert after.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert len(stub.reranks) == 2


@pytest.mark.slow
async def test_who_ranks_is_part_of_the_key(
    served: Served, stub: StubOpenAI, settings: Settings, embedder: Embedder
) -> None:
    stub.rerank_answer = lambda _, texts: reranked([(len(texts) - 1, 1.0)])
    service = {"reranker": f"service:{stub.url}/rerank"}
    async with (
        served(**service) as one,
        running(settings, embedder) as by_heuristic,
        running(settings.model_copy(update=service), embedder) as another,
    ):
        ana = await caller_with_documents(one)
        of_service = await ana.search(QUERY, rerank=True)
        of_heuristic = await by_heuristic.as_(ana).search(QUERY, rerank=True)
        shared = await another.as_(ana).search(QUERY, rerank=True)

    assert of_heuristic.headers["nearhit-rerank"] == "heuristic"
    assert of_heuristic.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert shared.headers["cache-status"] == "nearhit; hit; detail=redis"
    assert shared.content == of_service.content


def places(reply: Sequence[tuple[int, float]]) -> Reply:
    return reranked(reply)


# What the service does, and why the first order stays.
FAILURES: dict[str, tuple[Reply | Mischief, str]] = {
    "too many requests": (Reply(b"{}", 429), "error"),
    "a mistake of its own": (Reply(b"{}", 500), "error"),
    "a broken reply": (Mischief.BREAK_OFF, "error"),
    "no reply": (Mischief.HANG_UP, "error"),
    "silence": (Mischief.SILENCE, "deadline"),
    "garbage": (Reply(b"<html>"), "garbage"),
    "nothing": (Reply(b'{"results": []}'), "garbage"),
    "a place that is none": (places([(3, 1.0)]), "garbage"),
    "a place below zero": (places([(-1, 1.0)]), "garbage"),
    "a place twice": (places([(0, 1.0), (0, 0.5)]), "garbage"),
    "no number": (Reply(b'{"results": [{"index": 0, "relevance_score": NaN}]}'), "garbage"),
    "megabytes": (Reply(reranked([(0, 1.0)]).body + b" " * 2_000_000), "garbage"),
}


@pytest.mark.sampled("too many requests")
@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
async def test_a_service_that_fails_leaves_the_first_order_which_is_not_stored(
    served: Served, stub: StubOpenAI, failure: str
) -> None:
    reply, reason = FAILURES[failure]
    stub.rerank_answer = lambda _, _texts: reply
    deadline_s = 0.3 if failure == "silence" else 5.0
    async with served(
        reranker=f"service:{stub.url}/rerank", model_deadlines_s={"rerank": deadline_s}
    ) as gateway:
        ana = await caller_with_documents(gateway)
        plain = await ana.search(QUERY)
        failed = await ana.search(QUERY, rerank=True)
        again = await ana.search(QUERY, rerank=True)
        outcome = f"failed {reason}"
        counted = await gateway.counted("nearhit_rag_steps_total", step="rerank", outcome=outcome)

    assert found(failed) == found(plain)
    assert failed.headers["nearhit-rerank"] == f"failed; {reason}"
    assert failed.headers["cache-status"] == again.headers["cache-status"] == "nearhit; fwd=miss"
    assert "nearhit-degraded" not in failed.headers
    assert counted == len(stub.reranks) == 2


async def order_of(reranker: ServiceReranker) -> list[int]:
    hits = [a_hit(number, text) for number, text in enumerate("abc")]
    return [index for index, _ in await reranker.order("acme", "q", hits)]


@pytest.mark.parametrize(
    "accepted",
    [
        {"query", "documents", "texts", "top_n", "model"},
        {"query", "documents", "model"},
        {"query", "passages", "model"},
    ],
    ids=["any fields", "known fields", "passages"],
)
async def test_a_service_that_refuses_fields_is_sent_those_that_it_knows(
    accepted: set[str],
) -> None:
    sent: list[set[str]] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append({*json.loads(request.content)})
        if sent[-1] != accepted:
            return httpx2.Response(422, json={"detail": "extra inputs are not permitted"})
        return httpx2.Response(200, json={"rankings": [{"index": 1, "logit": -3.5}]})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        breaker = CircuitBreaker(lambda: 0.0, MODEL)
        reranker = ServiceReranker(client, breaker, url="http://r", model="m", deadline_s=5)
        orders = [await order_of(reranker), await order_of(reranker)]

    assert orders == [[1, 0, 2]] * 2
    assert sent[-2:] == [accepted] * 2


@pytest.mark.thorough
@pytest.mark.slow
async def test_what_a_service_leaves_out_comes_last(served: Served, stub: StubOpenAI) -> None:
    stub.rerank_answer = lambda _, _texts: reranked([(2, 0.5)])
    async with served(reranker=f"service:{stub.url}/rerank") as gateway:
        ana = await caller_with_documents(gateway)
        plain = await ana.search(QUERY)
        again = await ana.search(QUERY, rerank=True)

    assert found(again) == [found(plain)[place] for place in (2, 0, 1)]
    assert [hit["rerank_score"] for hit in again.json()["hits"]] == [0.5, None, None]


@pytest.mark.slow
async def test_a_service_is_sent_the_key_and_as_much_of_each_hit_as_it_may_see(
    served: Served, stub: StubOpenAI
) -> None:
    texts = {"long": "Annual leave. " * 500, "short": "Annual leave."}
    secret = SecretStr("sesame")
    async with served(reranker=f"service:{stub.url}/rerank", rerank_api_key=secret) as gateway:
        ana = await gateway.caller("ana")
        for document_id, text in texts.items():
            await ana.put(document_id, text, title=f"Of {document_id}", chunker="whole")
        order = found(await ana.search(QUERY))
        await ana.search(QUERY, rerank=True)

    (asked,) = stub.reranks
    assert asked.authorization == "Bearer sesame"
    assert asked.body["documents"] == [
        f"Of {document_id}\n\n{texts[document_id].strip()}"[:4_000] for document_id in order
    ]


@pytest.mark.thorough
@pytest.mark.slow
async def test_equal_scores_stay_as_they_were_found_in_whatever_order_they_come(
    served: Served, stub: StubOpenAI
) -> None:
    stub.rerank_answer = lambda _, _texts: reranked([(2, 0.5), (1, 0.9), (0, 0.5)])
    async with served(reranker=f"service:{stub.url}/rerank") as gateway:
        ana = await caller_with_documents(gateway)
        plain = await ana.search(QUERY)
        again = await ana.search(QUERY, rerank=True)

    assert found(again) == [found(plain)[place] for place in (1, 0, 2)]


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_service_that_keeps_failing_is_left_alone_and_one_that_comes_back_is_not(
    served: Served, stub: StubOpenAI
) -> None:
    replies = [Reply(b"{}", 500)] * 2 + [reranked([(0, 1.0)])] + [Reply(b"{}", 500)] * 5
    stub.rerank_answer = lambda _, _texts: replies[len(stub.reranks) - 1]
    async with served(reranker=f"service:{stub.url}/rerank") as gateway:
        ana = await caller_with_documents(gateway)
        by = [
            (await ana.search(f"{QUERY} {number}", rerank=True)).headers["nearhit-rerank"]
            for number in range(8)
        ]

    assert by == ["failed; error"] * 2 + ["service"] + ["failed; error"] * 5
    assert len(stub.reranks) == 6  # three after the good one, and no more


async def test_whoever_leaves_while_a_failing_service_is_tried_again_does_not_end_the_trials(
    stub: StubOpenAI,
) -> None:
    now_s = 0.0
    hits = [a_hit(number, "Leave.") for number in range(2)]
    stub.rerank_answer = lambda _, _texts: Reply(b"{}", 500)
    async with httpx2.AsyncClient(verify=False) as client:
        service = ServiceReranker(
            client,
            CircuitBreaker(lambda: now_s, MODEL),
            url=f"{stub.url}/rerank",
            model=None,
            deadline_s=5.0,
        )
        for _ in range(3):
            with pytest.raises(RerankerUnavailable):
                await service.order("acme", QUERY, hits)
        now_s = 60.0
        stub.rerank_answer = lambda _, _texts: Mischief.SILENCE
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(service.order("acme", QUERY, hits), 0.1)
        stub.rerank_answer = lambda _, _texts: reranked([(1, 1.0)])

        order = await service.order("acme", QUERY, hits)

    assert order == [(1, 1.0), (0, None)]


@pytest.mark.thorough
@pytest.mark.slow
async def test_an_audit_takes_an_order_for_what_it_is_and_all_else_for_what_it_should_be(
    served: Served, stub: StubOpenAI
) -> None:
    stub.rerank_answer = lambda _, _texts: reranked([(len(stub.reranks) % 3, 1.0)])
    async with served(
        reranker=f"service:{stub.url}/rerank", cache_audit_per_mille=1000.0
    ) as gateway:
        ana = await caller_with_documents(gateway)
        budget: dict[str, Any] = {"context": {"token_budget": 20}}
        for _ in range(3):
            await ana.search(QUERY, rerank=True, **budget)
        counted = 0.0
        while not counted:
            counted = await gateway.counted("nearhit_cache_events_total", event="audit_equal")
        other = await gateway.counted("nearhit_cache_events_total", event="audit_other")

    assert len(stub.reranks) == 1  # it is not asked again
    assert other == 0
