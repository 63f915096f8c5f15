"""`POST /v1/compress`: what stays of a conversation, within its budget."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions._passages import token_estimate
from gateway.extensions.answers import conversation_compression
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

CHAT = [
    {"role": "user", "content": "Hello! My cat is grey. How many days of annual leave do I get?"},
    {"role": "assistant", "content": "Cats are fine pets. You get 25 days of annual leave."},
    {"role": "user", "content": "The weather is bad today. It rains."},
    {"role": "assistant", "content": "Take an umbrella."},
    {"role": "user", "content": "And how much annual leave in the first year?"},
]


async def compressed(caller: Caller, **fields: Any) -> dict[str, Any]:
    answer = await caller.call("POST", "/v1/compress", json={"messages": CHAT, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.thorough
async def test_the_newest_stay_whole_and_of_the_older_what_concerns_the_question(
    ana: Caller,
) -> None:
    answer = await compressed(ana, token_budget=55, keep_last=1)

    assert [message["content"] for message in answer["messages"]] == [
        "Hello! … How many days of annual leave do I get?",
        "You get 25 days of annual leave.",
        CHAT[-1]["content"],
    ]
    assert [message["role"] for message in answer["messages"]] == ["user", "assistant", "user"]
    assert (answer["truncated"], answer["omitted"]) == ([0, 1], [2, 3])
    assert answer["tokens"] <= 55 < answer["tokens_before"]


async def test_a_conversation_that_fits_stays_as_it_is(ana: Caller) -> None:
    answer = await compressed(ana, token_budget=10_000)

    assert answer["messages"] == CHAT
    assert answer["tokens"] == answer["tokens_before"]
    assert (answer["truncated"], answer["omitted"]) == ([], [])


async def test_another_question_keeps_other_sentences(ana: Caller) -> None:
    answer = await compressed(ana, token_budget=30, keep_last=0, query="Is the cat grey?")

    assert "My cat is grey." in answer["messages"][0]["content"]


async def test_more_messages_or_a_wrong_budget_are_refused(ana: Caller) -> None:
    many = [CHAT[0]] * 201
    refused: tuple[dict[str, Any], ...] = (
        {"messages": many},
        {"messages": []},
        {"token_budget": 0},
        {"keep_last": -1},
    )
    for fields in refused:
        body = {"messages": CHAT, "token_budget": 10, **fields}
        problem(await ana.call("POST", "/v1/compress", json=body), 422)


@given(
    texts=st.lists(st.text(max_size=200), min_size=1, max_size=6),
    budget=st.integers(1, 100),
    kept_last=st.integers(0, 7),
)
def test_no_conversation_exceeds_its_budget(texts: list[str], budget: int, kept_last: int) -> None:
    made = conversation_compression.compress(
        texts, "leave", budget=budget, kept_last=kept_last, language="en"
    )

    assert len(made.texts) == len(texts)
    assert made.tokens == sum(map(token_estimate.count, made.texts)) <= budget


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_tenant_with_many_long_conversations_waits_for_itself_alone(
    gateway: Gateway, ana: Caller
) -> None:
    other = await gateway.caller("ana", tenant=await gateway.new_tenant())
    sentences = " ".join(
        f"Lamp {number} burns the oil of harbour {number}." for number in range(55)
    )
    long = [{"role": "user", "content": sentences}] * 90
    body = {"messages": long, "token_budget": 500}
    calls = [asyncio.create_task(ana.call("POST", "/v1/compress", json=body)) for _ in range(60)]
    await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)

    answer = await other.call("POST", "/v1/compress", json={"messages": CHAT, "token_budget": 55})
    before = Counter(call.result().status_code for call in calls if call.done())
    search = await other.search("How is a lamp lit? " * 40)  # embedded in a thread
    own_search = await ana.search("How is a lamp lit? " * 40)

    assert answer.status_code == search.status_code == own_search.status_code == 200
    assert before.keys() <= {200, 429}
    assert before[200] < 30  # in one queue for all, nearly all would come before
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
