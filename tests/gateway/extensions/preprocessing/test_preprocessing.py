"""The language model chunks and summarises documents, as the settings name it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from common.command_errors import CommandError
from gateway.extensions.preprocessing.extension import make_preprocessor
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from ingest.summaries.extract import extract
from tests.gateway.support.gateways import exposition, running
from tests.stub_openai import StubOpenAI, chat, stub_openai

pytestmark = pytest.mark.anyio

TEXT = "Lamps burn oil.\n\nOil is of whales.\n\nWhales live in the sea."


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        stub.chat_answer = lambda _: chat('{"chunks": [[1, 1], [2, 3]]}')
        yield stub


PRICES = {"chat_input": 1_000_000.0}


@pytest.fixture
def with_chat(settings: Settings, stub: StubOpenAI) -> Settings:
    named = {"chat_model": "stub", "chat_base_url": stub.url, "chat_api_key": SecretStr("secret")}
    return settings.model_copy(update=named)


@pytest.mark.thorough
@pytest.mark.slow
async def test_it_cuts_the_documents_that_ask_for_it_and_no_others(
    with_chat: Settings, stub: StubOpenAI, embedder: Embedder
) -> None:
    counted = Metrics()
    async with running(with_chat, embedder, counted) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        by_structure = await ana.put("one", TEXT)
        by_the_model = await ana.put("two", TEXT, chunker="model")

    assert (by_structure["chunks"]["added"], by_the_model["chunks"]["added"]) == (1, 2)
    assert [asked.authorization for asked in stub.chats] == ["Bearer secret"]
    assert b'nearhit_llm_chunkings_total{outcome="model"} 1.0' in exposition(counted)[0]
    assert b'nearhit_llm_tokens_total{kind="input"} 3.0' in exposition(counted)[0]


@pytest.mark.slow
async def test_a_prompt_of_ones_own_is_what_it_is_told(
    with_chat: Settings, stub: StubOpenAI, embedder: Embedder, tmp_path: Path
) -> None:
    (tmp_path / "prompt.txt").write_text("Cut it into {{MAX_SIZE}} words.")
    own = with_chat.model_copy(update={"chat_prompts": {"chunking": tmp_path / "prompt.txt"}})

    async with running(own, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        await ana.put("one", TEXT, chunker="model")

    (asked,) = stub.chats
    assert asked.body["messages"][0]["content"] == "Cut it into 200 words."


async def can_pay() -> None:
    """Whatever it costs."""


@pytest.mark.thorough
@pytest.mark.slow
async def test_it_is_paid_for_and_not_asked_once_the_month_is_spent(
    with_chat: Settings, stub: StubOpenAI, embedder: Embedder
) -> None:
    limited = with_chat.model_copy(update={"prices": PRICES, "budget_month": 5.0})
    async with running(limited, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        admin = await gateway.caller("ada", tenant="acme", roles=["admin"])
        by_the_model = await ana.put("one", TEXT, chunker="model")
        days = (await admin.call("GET", "/v1/usage")).json()["days"]
        later = [
            await ana.call(
                "PUT",
                f"/v1/documents/{animal}",
                json={"text": TEXT.replace("hale", animal), "chunker": "model"},
            )
            for animal in ("seal", "shark")
        ]

    assert by_the_model["chunks"]["added"] == 2
    assert [each["cost"] for each in days if each["operation"] == "chunking"] == [3.0]
    assert [each.headers["nearhit-budget"] for each in later] == ["exceeded", "exceeded"]
    assert len(stub.chats) == 2  # the first of these found money left


LONG = "\n\n".join(f"Lamp {number} of the harbour burns whale oil." for number in range(100))


@pytest.mark.slow
async def test_it_sums_up_the_documents_that_ask_for_it_and_what_it_says_is_paid_for(
    with_chat: Settings, stub: StubOpenAI, embedder: Embedder, tmp_path: Path
) -> None:
    (tmp_path / "prompt.txt").write_text("Sum it up in {{MAX_SIZE}} words.")
    stub.chat_answer = lambda _: chat("A hundred lamps.")
    own = with_chat.model_copy(
        update={
            "chat_prompts": {"summary": tmp_path / "prompt.txt"},
            "prices": PRICES,
        }
    )
    counted = Metrics()
    async with running(own, embedder, counted) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        await ana.put("none", LONG)
        await ana.put("extract", LONG, summaries="extract")
        await ana.put("model", LONG, summaries="model")
        hits = await ana.search("lamps", filter={"kinds": ["summary"]})
        admin = await gateway.caller("ada", tenant="acme", roles=["admin"])
        days = (await admin.call("GET", "/v1/usage")).json()["days"]

    (asked,) = stub.chats
    assert asked.body["messages"][0]["content"] == "Sum it up in 80 words."
    assert {hit["document_id"]: hit["text"] for hit in hits.json()["hits"]} == {
        "extract": extract(LONG),
        "model": "A hundred lamps.",
    }
    assert b'nearhit_llm_summaries_total{outcome="model"} 1.0' in exposition(counted)[0]
    assert [each["cost"] for each in days if each["operation"] == "summary"] == [3.0]
    assert not [each for each in days if each["operation"] == "chunking"]


@pytest.mark.slow
async def test_once_the_month_is_spent_summaries_are_extracts(
    with_chat: Settings, stub: StubOpenAI, embedder: Embedder
) -> None:
    stub.chat_answer = lambda _: chat("Lamps.")
    limited = with_chat.model_copy(update={"prices": PRICES, "budget_month": 2.0})
    async with running(limited, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        await ana.put("known", LONG, summaries="extract")
        body = {"text": LONG.replace("oil", "gas"), "summaries": "model"}
        spent = await ana.call("PUT", "/v1/documents/last", json=body)
        await ana.put("after", LONG, summaries="model")
        found = (await ana.search("lamps", filter={"kinds": ["summary"]})).json()["hits"]

    assert spent.headers["nearhit-budget"] == "exceeded"
    assert len(stub.chats) == 1
    assert [hit["text"] for hit in found] == [extract(LONG)]  # equal ones are one hit


@pytest.mark.parametrize("prompt", [b"Cut it.", b"\xff", None], ids=["no size", "no text", "none"])
async def test_a_prompt_that_can_not_be_used_is_told_at_start(
    tmp_path: Path, prompt: bytes | None
) -> None:
    if prompt is not None:
        (tmp_path / "prompt.txt").write_bytes(prompt)
    for name in ("chunking", "summary"):
        own = Settings(chat_model="stub", chat_prompts={name: tmp_path / "prompt.txt"})

        with pytest.raises(CommandError, match=f"NEARHIT_CHAT_PROMPTS: {name}: "):
            await asyncio.to_thread(make_preprocessor, own, Metrics(), can_pay)
