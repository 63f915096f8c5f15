"""What a gateway does whose questions are compared with no other."""

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.http.test_known_heads import ask, ask_repeat, outcomes, request
from tests.gateway.support.gateways import problem, running
from tests.gateway.support.raw_http import raw

__all__ = ["outcomes"]  # a fixture

pytestmark = pytest.mark.anyio


@pytest.mark.isolated
async def test_once_it_is_off_what_asks_for_it_is_refused_by_its_name(
    settings: Settings, embedder: Embedder
) -> None:
    off = settings.model_copy(update={"extensions_off": "similar_questions"})
    async with running(off, embedder) as gateway:
        await gateway.tenant("acme")
        ada = await gateway.caller("ada", roles=["admin", "writer"])
        await ada.put("leave", "Everybody gets 25 days of leave.")
        plain = await ada.search("leave", semantic="off")
        body = {"query": "leave", "semantic": "bounded"}
        refused = problem(await ada.call("POST", "/v1/search", json=body), 422)["errors"][0]
        problem(await ada.call("GET", "/v1/cache/semantic"), 404)
        searches = {"searches": [{"query": "leave"}, body]}
        batch = problem(await ada.call("POST", "/v1/search/batch", json=searches), 422)

    assert len(plain.json()["hits"]) == 1
    assert refused["field"] == "semantic"
    assert "needs the extension similar_questions, which is off" in refused["detail"]
    assert batch["errors"][0]["field"] == "searches.1.semantic"


@pytest.mark.isolated
async def test_it_is_refused_also_where_memory_has_the_answer_without_it(
    settings: Settings, embedder: Embedder, outcomes: list[bool]
) -> None:
    off = settings.model_copy(
        update={
            "extensions_off": "similar_questions",
            "key_requests_per_s": 0.0,
            "tenant_requests_per_s": 0.0,
        }
    )
    asking = b'{"query":"leave","semantic":"bounded"}'
    plain = b'{"query":"leave"}'.ljust(len(asking))  # so that the heads are equal
    async with running(off, embedder) as gateway, raw(gateway) as connection:
        await gateway.tenant("acme")
        ada = await gateway.caller("ada", roles=["admin", "reader", "writer"])
        await ada.put("leave", "Everybody gets 25 days of leave.")
        # So that memory knows the answer by the caller's grants, before any look at what it sees.
        await ada.call("PUT", "/v1/shared-answers", json={"shares": False})
        head = request(ada).partition(b"Content-Length")[0]
        head += b"Content-Length: %d\r\n\r\n" % len(plain)
        await ask_repeat(connection, head + plain, outcomes)
        refused = await ask(connection, head + asking)

    assert refused.status == 422
