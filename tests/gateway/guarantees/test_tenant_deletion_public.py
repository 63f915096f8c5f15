"""What a deleted tenant had made public: no other one reads it once the deletion is acknowledged.

No worker runs in these tests: what is gone is gone before anything is removed.
"""

import asyncio
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.mcp.test_mcp import connected
from tests.gateway.servers.own_redis import own_redis
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
QUESTION = "annual leave"


ADDRESS = "urn:nearhit:public:acme:world"


@pytest.fixture
async def ben(gateway: Gateway) -> Caller:
    """Of a tenant with a document of its own; ana of acme has made one public."""
    await gateway.tenant("beta")
    await gateway.receive_public("beta")
    ana = await gateway.caller("ana", roles=["writer", "publisher"])
    ben = await gateway.caller("ben", tenant="beta")
    await ben.put("own", LEAVE + " Of beta.", source="wiki")
    await ana.put("world", LEAVE, readers=["public"], source="wiki")
    return ben


async def delete_acme(gateway: Gateway) -> None:
    answer = await gateway.operator.call("DELETE", "/v1/tenants/acme")
    assert answer.status_code == 202, answer.text


async def read_by_all_ways(caller: Caller) -> dict[str, set[str]]:
    """By call, the documents that it shows."""
    searches = {"searches": [{"query": QUESTION}, {"query": QUESTION, "scopes": ["public"]}]}
    batch = (await caller.call("POST", "/v1/search/batch", json=searches)).json()
    store = await caller.call("POST", "/v1/vector_stores/wiki/search", json={"query": QUESTION})
    async with connected(caller) as client:
        found = await client.call_tool("search", {"query": QUESTION})
        fetched = await client.call_tool("fetch", {"id": ADDRESS})
    return {
        "search": set(await caller.found(QUESTION)),
        "similar": set(await caller.found(QUESTION, semantic="bounded")),
        "batch": {hit["document_id"] for each in batch["answers"] for hit in each["hits"]},
        "vector store": {_name(each["file_id"]) for each in store.json()["data"]},
        "tool": {_name(each["id"]) for each in found.structured_content["results"]},
        "fetch": set() if fetched.is_error else {"world"},
    }


def _name(address: str) -> str:
    return address.rpartition(":")[2]


async def test_it_is_read_by_no_call_and_from_no_cache_on_any_worker(
    gateway: Gateway, other_worker: Gateway, ben: Caller
) -> None:
    callers = [ben, other_worker.as_(ben)]
    for caller in callers:
        for _ in range(2):  # so that every cache is warm
            assert all("world" in read for read in (await read_by_all_ways(caller)).values())

    await delete_acme(gateway)

    for caller in callers:
        read = await read_by_all_ways(caller)
        assert not any("world" in each for each in read.values()), read
        assert read["search"] == read["tool"] == {"own"}


async def test_who_searches_meanwhile_finds_it_in_no_search_begun_after_the_answer(
    gateway: Gateway, other_worker: Gateway, ben: Caller
) -> None:
    is_deleted = False
    late: list[list[str]] = []

    async def search_on(caller: Caller, query: str) -> None:
        while len(late) < 40:
            began_late = is_deleted
            found = await caller.found(query)
            if began_late:
                late.append(found)

    callers = [ben, other_worker.as_(ben)] * 2
    searching = [
        asyncio.create_task(search_on(caller, f"{QUESTION} {number % 2}"))
        for number, caller in enumerate(callers)
    ]
    await ben.found(QUESTION)
    await delete_acme(gateway)
    is_deleted = True
    await asyncio.gather(*searching)

    assert all("world" not in found for found in late)


async def test_it_is_gone_too_when_redis_is_away_and_comes_back(
    settings: Settings, embedder: Embedder
) -> None:
    async with own_redis() as redis:
        behind: dict[str, Any] = {"redis_url": SecretStr(redis.url)}
        async with running(settings.model_copy(update=behind), embedder) as gateway:
            await gateway.tenant("acme")
            await gateway.tenant("beta")
            await gateway.receive_public("beta")
            ana = await gateway.caller("ana", roles=["writer", "publisher"])
            ben = await gateway.caller("ben", tenant="beta")
            await ana.put("world", LEAVE, readers=["public"])
            assert await ben.found(QUESTION) == ["world"]
            await redis.save()
            await redis.kill()

            await delete_acme(gateway)

            assert await ben.found(QUESTION) == []
            await redis.start()
            assert await ben.found(QUESTION) == []
            assert await ben.found("leave") == []
