"""What headers tell a caller of the cache, and that a setting hides it."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.redis, pytest.mark.isolated, pytest.mark.slow]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
# Another value for every response, hit or miss: its identifier, what is left of the rate, and when.
OF_EACH_RESPONSE = {"x-request-id", "ratelimit", "date"}
HIDDEN = {"cache-status", "nearhit-batch-cache-status", "server-timing"}

SEARCH = {"query": "annual leave"}
TOOL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search", "arguments": SEARCH},
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/search", SEARCH),
    ("/v1/search", {**SEARCH, "semantic": "bounded"}),
    ("/v1/search", {**SEARCH, "rerank": True, "explain": True}),
    ("/v1/search/batch", {"searches": [SEARCH, {"query": "leave"}]}),
    ("/v1/search/plan", {"steps": [{"name": "leave", **SEARCH}]}),
    ("/v1/vector_stores/wiki/search", SEARCH),
    ("/mcp", TOOL),
]


@pytest.fixture
async def hiding(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    hidden = settings.model_copy(update={"cache_headers": "off"})
    async with running(hidden, embedder) as gateway:
        yield gateway


async def post(caller: Caller, path: str, body: dict[str, Any]) -> httpx2.Response:
    accept = {"Accept": "application/json, text/event-stream"}
    answer = await caller.call("POST", path, json=body, headers=accept)
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.sampled("/v1/search-body0")
@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_where_it_is_hidden_no_header_tells_a_hit_from_a_miss(
    gateway: Gateway, hiding: Gateway, ana: Caller, path: str, body: dict[str, Any]
) -> None:
    await ana.put("leave", LEAVE, source="wiki")
    caller = hiding.as_(ana)

    miss = await post(caller, path, body)
    hits = [await post(caller, path, body) for _ in range(2)]

    answers = await hiding.answers()
    assert answers["memory"] > 0
    assert answers["miss"] > 0
    for each in (miss, *hits):
        assert HIDDEN.isdisjoint(each.headers)
        assert each.content == miss.content
        assert _told(each) == _told(miss)
    shown = await post(ana, path, body)
    assert not HIDDEN.isdisjoint(shown.headers)


def _told(answer: httpx2.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in OF_EACH_RESPONSE}
