"""The text of an answer is written once for equal material, and is gone with what it was from."""

import asyncio
from typing import Any

import httpx2
import pytest

from gateway.settings.settings import Settings
from tests.gateway.extensions.answers.test_answer import (
    QUERY,
    SAID,
    ask,
    caller_with_documents,
    events,
)
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.support.audits import audited
from tests.gateway.support.gateways import Gateway, problem
from tests.gateway.support.stored_remains import in_redis
from tests.stub_openai import Mischief, Reply, Stream, StubOpenAI

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(autouse=True)
def model(stub: StubOpenAI) -> StubOpenAI:
    stub.chat_answer = lambda _: SAID
    return stub


async def texts(gateway: Gateway, event: str) -> float:
    return await gateway.counted("nearhit_cache_events_total", event=f"text_{event}")


def was_cached(answer: httpx2.Response) -> bool:
    assert answer.status_code == 200, answer.text
    cached: bool = answer.json()["cached"]
    return cached


async def test_a_repeated_question_asks_the_model_once_on_all_workers(
    served: Served, stub: StubOpenAI
) -> None:
    async with served() as gateway, served(again=True) as other:
        ana = await caller_with_documents(gateway)
        first, again = await ask(ana), await ask(ana)
        elsewhere = await ask(other.as_(ana))
        streamed = await ask(ana, stream=True)

    answers = [answer.json() for answer in (first, again, elsewhere)]
    assert [answer.pop("cached") for answer in answers] == [False, True, True]
    assert answers[0] == answers[1] == answers[2]
    assert len(stub.chats) == 1
    *_, (_, text), first_citation, second_citation, (name, summary) = events(streamed)
    assert text == {"text": answers[0]["answer"]}
    citations = [first_citation[1], second_citation[1]]
    assert citations == summary["citations"] == answers[0]["citations"]
    assert (name, summary["cached"]) == ("done", True)


async def test_a_text_is_shared_by_those_who_are_shown_the_same_passages_alone(
    served: Served, stub: StubOpenAI
) -> None:
    async with served() as gateway:
        ana = await gateway.caller("ana", groups=["staff"])
        ben = await gateway.caller("ben", groups=["staff", "board"])
        eve = await gateway.caller("eve", groups=["board"])
        await ana.put("leave", "Everybody gets 25 days of leave.", readers=["group:staff"])
        await ben.put("bonus", "The board gets 90 days of leave.", readers=["group:board"])
        cached = [was_cached(await ask(caller, top_k=1)) for caller in (ana, eve, ben)]
        same = was_cached(await ask(ben, top_k=1, filter={"exclude_documents": ["bonus"]}))

    material = [chat.body["messages"][1]["content"] for chat in stub.chats]
    assert ["90 days" in text for text in material] == [False, True]
    assert (cached[:2], same) == ([False, False], True)
    assert cached[2], "ben is shown what ana or eve was shown"


@pytest.mark.thorough
async def test_where_a_tenant_shares_no_answers_nobody_shares_a_text(served: Served) -> None:
    async with served() as gateway:
        ana = await gateway.caller("ana")
        ben = await gateway.caller("ben")
        admin = await gateway.caller("ada", roles=["admin"])
        await ana.put("leave", "Everybody gets 25 days of leave.", readers=["tenant"])
        await admin.call("PUT", "/v1/shared-answers", json={"shares": False})
        cached = [was_cached(await ask(caller)) for caller in (ana, ben, ana, ben)]

    assert cached == [False, False, True, True]


@pytest.mark.sampled("other1")
@pytest.mark.parametrize(
    "other",
    [
        {"query": "How many days of leave?!"},
        {"history": [{"role": "user", "content": "I am a parent."}]},
        {"top_k": 1},
    ],
)
async def test_other_material_gets_a_text_of_its_own(
    served: Served, stub: StubOpenAI, other: dict[str, Any]
) -> None:
    async with served() as gateway:
        ana = await caller_with_documents(gateway)
        await ask(ana)
        asked = await ask(ana, **{"query": QUERY, **other})

    assert not was_cached(asked)


async def test_an_edit_ends_the_texts_from_that_document_and_another_write_ends_none(
    served: Served,
) -> None:
    async with served() as gateway, served(again=True) as other:
        ana = await caller_with_documents(gateway)
        await ask(ana, top_k=2)
        await ana.put("boats", "Ships lie in the harbour.")
        after_another_write = await ask(other.as_(ana), top_k=2)
        await ana.put("leave", "Everybody gets 26 days of leave.", title="Leave")
        after_the_edit = await ask(other.as_(ana), top_k=2)

    assert was_cached(after_another_write)
    assert not was_cached(after_the_edit)


async def test_nothing_of_a_text_stays_when_a_document_that_it_is_from_is_deleted(
    served: Served, settings: Settings, stub: StubOpenAI
) -> None:
    stub.chat_answer = lambda _: Stream(["The zorbified ones get 25 days [1]."])
    async with served() as gateway:
        ana = await caller_with_documents(gateway)
        await ask(ana)
        before = await in_redis(settings, "zorbified")
        await ana.call("DELETE", "/v1/documents/parents")
        after = await in_redis(settings, "zorbified")

    assert (len(before), after) == (1, [])


async def test_a_text_is_cached_although_the_tenant_is_written_to_meanwhile(
    served: Served, stub: StubOpenAI
) -> None:
    written = asyncio.Event()
    stub.chat_answer = lambda _: Stream(["25 days [1]."], waits=written)
    async with served() as gateway, served(again=True) as other:
        ana = await caller_with_documents(gateway)
        asking = asyncio.create_task(ask(ana))
        await until_asked(stub)
        await ana.put("boats", "Ships lie in the harbour.")
        written.set()
        await asking
        repeated = await ask(other.as_(ana))

    assert was_cached(repeated)


async def test_a_text_from_a_document_that_is_deleted_meanwhile_is_not_cached(
    served: Served, settings: Settings, stub: StubOpenAI
) -> None:
    written = asyncio.Event()
    stub.chat_answer = lambda _: Stream(["The zorbified ones."], waits=written)
    async with served() as gateway:
        ana = await caller_with_documents(gateway)
        asking = asyncio.create_task(ask(ana))
        await until_asked(stub)
        await ana.call("DELETE", "/v1/documents/parents")
        written.set()
        refused = problem(await asking, 409)
        stored = await texts(gateway, "stored")

    assert refused["type"] == "urn:nearhit:problem:answer-outdated"
    assert stored == 0
    assert await in_redis(settings, "zorbified") == []


@pytest.mark.thorough
async def test_a_caller_may_have_a_text_written_anew(served: Served, stub: StubOpenAI) -> None:
    async with served() as gateway, served(again=True) as other:
        ana = await caller_with_documents(gateway)
        await ask(ana)
        stub.chat_answer = lambda _: Stream(["26 days."])
        anew = await ask(other.as_(ana), regenerate=True)
        after = await ask(other.as_(ana))

    assert [was_cached(anew), was_cached(after)] == [False, True]
    assert anew.json()["answer"] == after.json()["answer"] == "26 days."


async def test_concurrent_callers_share_a_text_and_it_is_written_though_the_first_one_leaves(
    served: Served, stub: StubOpenAI
) -> None:
    written = asyncio.Event()
    stub.chat_answer = lambda _: Stream(["25 days ", "[1]."], waits=written)
    async with served() as gateway:
        ana = await caller_with_documents(gateway)
        leaving = asyncio.create_task(ask(ana, stream=True))
        await until_asked(stub)
        staying = [asyncio.create_task(ask(ana, stream=stream)) for stream in (False, True)]
        while await gateway.counted("nearhit_cache_lookups_total", tier="memory") < 2:
            await asyncio.sleep(0.005)  # the others have their hits, and wait for the text next
        leaving.cancel()
        await asyncio.wait([leaving])
        written.set()
        whole, streamed = await asyncio.gather(*staying)

    assert was_cached(whole)
    assert whole.json()["answer"] == "25 days [1]."
    assert [data["text"] for name, data in events(streamed) if name == "delta"] == ["25 days [1]."]
    assert len(stub.chats) == 1


@pytest.mark.sampled("reply0")
@pytest.mark.parametrize(
    "reply", [Reply(b"{}", 500), Mischief.HANG_UP, Stream(["25 "], reason="content_filter")]
)
async def test_what_a_model_did_not_end_is_not_cached(
    served: Served, stub: StubOpenAI, reply: Reply | Mischief | Stream
) -> None:
    stub.chat_answer = lambda _: reply
    async with served() as gateway:
        ana = await caller_with_documents(gateway)
        await ask(ana)
        stub.chat_answer = lambda _: SAID
        again = await ask(ana)

    assert not was_cached(again)


@pytest.mark.thorough
async def test_a_cached_text_needs_no_budget(served: Served) -> None:
    async with served(prices={"chat_input": 1_000_000.0}, budget_month=2.0) as gateway:
        ana = await caller_with_documents(gateway)
        await ask(ana)
        again = await ask(ana)
        other = await ask(ana, "Do parents get leave?")

    assert was_cached(again)
    problem(other, 402)


@pytest.mark.thorough
async def test_an_audit_leaves_texts_alone(served: Served, settings: Settings) -> None:
    async with served() as gateway:
        ana = await caller_with_documents(gateway)
        await ask(ana)
        verdicts = await audited(settings, gateway.tenant_name)
        again = await ask(ana)

    assert verdicts["approximate"] == 1
    assert verdicts["other"] == 0
    assert was_cached(again)


async def until_asked(stub: StubOpenAI) -> None:
    async with asyncio.timeout(60):
        while not stub.chats:
            await asyncio.sleep(0.005)
