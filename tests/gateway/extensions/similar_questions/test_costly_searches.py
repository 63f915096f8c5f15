"""Which searches may get a similar question's answer: costly ones without a compressed text."""

from typing import Any

import pytest
from pydantic import SecretStr

from gateway.configured import configured_embedders
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Gateway, running
from tests.stub_openai import WIDTH, stub_openai

pytestmark = pytest.mark.anyio

SEARCHES = "NEARHIT_SIMILAR_QUESTIONS_SEARCHES"
QUESTIONS = ("How many days of annual leave?", "How many days of annual leave??")
OPENAI = {
    "embedder": "openai",
    "openai_dimensions": WIDTH,
    "openai_api_key": SecretStr("sk-of-the-stub"),
}


EXTRACT = {"token_budget": 100, "compress": "extract"}
# By the settings of the gateway: with these fields, whether questions are compared.
COMPARED: list[tuple[dict[str, str], list[tuple[dict[str, Any], bool]]]] = [
    # It reranks by the heuristic.
    ({}, [({}, False), ({"rerank": True}, False), ({"context": EXTRACT}, False)]),
    ({}, [({"rerank": "words"}, False)]),
    ({"reranker": "service:{url}/rerank"}, [({"rerank": True}, True), ({}, False)]),
    (
        {"chat_model": "stub"},
        [({"context": {"token_budget": 10, "compress": "model"}}, False)],
    ),
    (
        {"searches": "all"},
        [({}, True), ({"context": EXTRACT}, False), ({"context": {"token_budget": 100}}, True)],
    ),
]


@pytest.mark.sampled("gateway_settings0-cases0")
@pytest.mark.parametrize(("gateway_settings", "cases"), COMPARED)
async def test_a_cheap_search_and_a_compressed_text_are_compared_with_no_other(
    settings: Settings,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    gateway_settings: dict[str, str],
    cases: list[tuple[dict[str, Any], bool]],
) -> None:
    monkeypatch.setenv(SEARCHES, gateway_settings.get("searches", "costly"))
    async with stub_openai() as stub:
        update = {name: value.format(url=stub.url) for name, value in gateway_settings.items()}
        own = settings.model_copy(update={"chat_base_url": stub.url} | update)
        async with running(own, embedder) as gateway:
            for fields, is_compared in cases:
                pairs = await compared_pairs(gateway, **fields)
                assert (pairs > 0) is is_compared, fields


@pytest.mark.thorough
async def test_with_a_remote_embedder_each_bounded_search_is_compared(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SEARCHES, "costly")
    async with stub_openai() as stub:
        own = settings.model_copy(update={"openai_base_url": stub.url, **OPENAI})
        async with running(
            own, configured_embedders.make(own, "openai", lambda _kind, _tokens: None)
        ) as gateway:
            bounded = await compared_pairs(gateway)

    assert bounded > 0


async def compared_pairs(gateway: Gateway, **fields: Any) -> int:
    """How many of the questions had another one near enough to be compared with."""
    tenant = await gateway.new_tenant()
    admin = await gateway.caller("ada", tenant=tenant, roles=["writer", "admin"])
    await admin.put("leave", "Everybody gets 25 days of annual leave a year. " * 20)
    for question in QUESTIONS:
        answer = await admin.search(question, semantic="bounded", **fields)
        assert answer.status_code == 200, answer.text
    pairs: int = (await admin.call("GET", "/v1/cache/semantic")).json()["pairs"]
    return pairs
