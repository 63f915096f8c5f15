"""Answers that are not sure say so."""

from typing import Any

import pytest

from index.embedders.static_embedder import StaticEmbedder
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.support.gateways import Caller, Gateway
from tests.stub_openai import StubOpenAI

pytestmark = pytest.mark.anyio

LEAVE = "Everybody gets 25 days of leave."


async def set_to(admin: Caller, **confidence: Any) -> None:
    answer = await admin.call("PUT", "/v1/confidence", json=confidence)
    assert answer.status_code == 200, answer.text


async def is_low(caller: Caller, query: str, **fields: Any) -> bool:
    body = (await caller.search(query, **fields)).json()
    assert "low_confidence" not in body or body["low_confidence"] is True
    return "low_confidence" in body


async def test_below_what_is_set_an_answer_says_so_with_the_hits_that_there_are(
    ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    plain = await ana.search("days of leave")

    await set_to(admin, score_min=0.99)
    low = await ana.search("days of leave")

    assert low.json() == plain.json() | {"low_confidence": True}
    assert await is_low(ana, "zorvexal", alpha=0.0)
    assert not await is_low(ana, "days of leave", fusion="rrf")


@pytest.mark.slow
async def test_a_change_of_it_ends_cached_answers_on_every_worker(
    gateway: Gateway, other_worker: Gateway, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    for least, expected in ((0.99, True), (0.01, False), (None, False), (0.99, True)):
        await set_to(admin, score_min=least)
        for caller in (ana, other_worker.as_(ana)) * 2:
            assert await is_low(caller, "days of leave") is expected


async def test_what_is_set_is_shown(ana: Caller, admin: Caller) -> None:
    wanted = {"score_min": 0.4, "sources": {"wiki": 0.2}, "fallback": "Ask at the desk."}

    put = await admin.call("PUT", "/v1/confidence", json=wanted)
    got = await admin.call("GET", "/v1/confidence")

    assert put.json() == got.json() == wanted


async def test_each_source_has_its_own(ana: Caller, admin: Caller) -> None:
    await ana.put("leave", LEAVE, source="wiki")

    await set_to(admin, score_min=0.99, sources={"wiki": 0.01})
    assert not await is_low(ana, "days of leave")
    await set_to(admin, sources={"wiki": 0.99})
    assert await is_low(ana, "days of leave")
    await set_to(admin, sources={"other": 0.99})
    assert not await is_low(ana, "days of leave")


async def test_an_explanation_tells_what_a_hit_has_to_reach(ana: Caller, admin: Caller) -> None:
    await ana.put("leave", LEAVE)

    async def required(**fields: Any) -> Any:
        (hit,) = (await ana.search("days of leave", explain=True, **fields)).json()["hits"]
        return hit["explain"]["required_score"]

    assert await required() == StaticEmbedder.confident_score
    assert await required(fusion="rrf") is None
    await set_to(admin, score_min=0.4)
    assert await required() == 0.4
    await set_to(admin, sources={"api": 0.2})
    assert await required() == 0.2


@pytest.mark.slow
async def test_a_fallback_of_ones_own_is_said_and_ends_no_cached_answer(
    served: Served, stub: StubOpenAI
) -> None:
    async with served(confidence_min=0.99) as gateway:
        ana, admin = [
            await gateway.caller(who, roles=[role])
            for who, role in (("ana", "writer"), ("ada", "admin"))
        ]
        await ana.put("leave", LEAVE)
        assert await is_low(ana, "days of leave")
        await set_to(admin, fallback="Ask at the desk.")
        cached = await ana.search("days of leave")
        answer = await ana.call("POST", "/v1/answer", json={"query": "days of leave"})

    assert cached.headers["cache-status"] == "nearhit; hit; detail=memory"
    assert answer.json()["answer"] == "Ask at the desk."
    assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"]
    assert stub.chats == []


async def test_where_nothing_is_set_the_measured_score_of_the_embedder_flags_answers(
    ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    long = "How heavy is the moon, and how far away? " * 10

    assert await is_low(ana, "How heavy is the moon?")
    assert not await is_low(ana, "How many days of leave does everybody get?")
    assert not await is_low(ana, "zorvexal", alpha=0.0)  # nothing to judge
    assert not await is_low(ana, "How heavy is the moon?", alpha=0.3)
    assert not await is_low(ana, "How heavy is the moon?", language="pt")
    assert not await is_low(ana, long)
    kept = (await admin.call("GET", "/v1/curation")).json()["items"]
    assert [each["question"] for each in kept] == ["How heavy is the moon?"]
    await set_to(admin, score_min=0.0)
    assert not await is_low(ana, "How heavy is the moon?")
