"""Which searches may get a similar question's answer: costly ones without a compressed text."""

from typing import Any

import pytest
from pydantic import SecretStr

from gateway.search import embedders
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Gateway, running
from tests.stub_openai import WIDTH, stub_openai

pytestmark = pytest.mark.anyio

QUESTIONS = ("How many days of annual leave?", "How many days of annual leave??")
OPENAI = {
    "embedder": "openai",
    "openai_dimensions": WIDTH,
    "openai_api_key": SecretStr("sk-of-the-stub"),
}


@pytest.mark.parametrize(
    ("gateway_settings", "fields", "is_compared"),
    [
        ({}, {}, False),
        ({}, {"rerank": True}, False),  # by the heuristic
        ({}, {"context": {"token_budget": 100, "compress": "extract"}}, False),
        ({"semantic_searches": "all"}, {}, True),
        ({"rerank_url": "{url}/rerank"}, {"rerank": True}, True),
        ({"rerank_url": "{url}/rerank"}, {}, False),
        ({"chat_model": "stub"}, {"context": {"token_budget": 10, "compress": "model"}}, False),
        (
            {"semantic_searches": "all"},
            {"context": {"token_budget": 100, "compress": "extract"}},
            False,
        ),
        ({"semantic_searches": "all"}, {"context": {"token_budget": 100}}, True),
    ],
)
async def test_a_cheap_search_and_a_compressed_text_are_compared_with_no_other(
    settings: Settings,
    embedder: Embedder,
    gateway_settings: dict[str, Any],
    fields: dict[str, Any],
    *,
    is_compared: bool,
) -> None:
    async with stub_openai() as stub:
        update = {name: value.format(url=stub.url) for name, value in gateway_settings.items()} | {
            "chat_base_url": stub.url
        }
        own = settings.model_copy(update={"semantic_searches": "costly"} | update)
        async with running(own, embedder) as gateway:
            pairs = await compared_pairs(gateway, **fields)

    assert (pairs > 0) is is_compared


async def test_with_a_remote_embedder_each_bounded_search_is_compared(settings: Settings) -> None:
    async with stub_openai() as stub:
        own = settings.model_copy(
            update={"semantic_searches": "costly", "openai_base_url": stub.url, **OPENAI}
        )
        async with running(
            own, embedders.make(own, "openai", lambda _kind, _tokens: None)
        ) as gateway:
            bounded = await compared_pairs(gateway)

    assert bounded > 0


async def compared_pairs(gateway: Gateway, **fields: Any) -> int:
    """How many of the questions had another one near enough to be compared with."""
    await gateway.tenant("acme")
    admin = await gateway.caller("ada", tenant="acme", roles=["writer", "admin"])
    await admin.put("leave", "Everybody gets 25 days of annual leave a year. " * 20)
    for question in QUESTIONS:
        answer = await admin.search(question, semantic="bounded", **fields)
        assert answer.status_code == 200, answer.text
    pairs: int = (await admin.call("GET", "/v1/cache/semantic")).json()["pairs"]
    return pairs
