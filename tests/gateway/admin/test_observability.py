"""What operators look at: health, readiness, metrics, log lines, request ids."""

import asyncio
import re
import secrets
import sys
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from index.text import lexical
from index.text.word_lists import analysed_languages
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
LINES_S_MAX = 60.0


@pytest.fixture(scope="module")
async def other_worker(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    async with running(settings, embedder) as made:
        yield made


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await writer_of_a_new_tenant(gateway)


async def writer_of_a_new_tenant(gateway: Gateway) -> Caller:
    tenant = f"t-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    return await gateway.caller("ana", tenant=tenant)


# Health and readiness.


async def test_a_running_gateway_is_alive_and_ready(gateway: Gateway) -> None:
    for path, status in (("/healthz", "ok"), ("/readyz", "ready")):
        answer = await gateway.client.get(path)
        assert (answer.status_code, answer.json()["status"]) == (200, status)


async def test_a_gateway_says_when_it_has_loaded_what_first_calls_would_wait_for(
    gateway: Gateway,
) -> None:
    async with asyncio.timeout(120):  # it may have to make the machine's word lists
        while not (await gateway.client.get("/readyz")).json()["warm"]:
            await asyncio.sleep(0.05)

    assert {
        "gateway.extensions.mcp.protocol",
        "gateway.extensions.rag.factory",
    } <= sys.modules.keys()
    assert lexical.are_loaded(analysed_languages.LANGUAGES)


@pytest.mark.thorough
async def test_the_address_alone_tells_what_answers_there(gateway: Gateway, ana: Caller) -> None:
    answer = await gateway.stranger.call("GET", "/")

    description = answer.json()
    assert (answer.status_code, description["name"]) == (200, "nearhit")
    for name in ("openapi", "problems"):
        assert (await gateway.stranger.call("GET", description[name])).status_code == 200
    assert (await ana.call("GET", description["caller"])).status_code == 200


@pytest.mark.slow
async def test_without_its_database_it_is_alive_and_not_ready(
    settings: Settings, embedder: Embedder
) -> None:
    assert settings.database_url is not None
    async with database_proxy(settings.database_url.get_secret_value()) as proxy:
        behind = settings.model_copy(update={"database_url": SecretStr(proxy.url)})
        async with running(behind, embedder) as gateway:
            ready_before = await gateway.client.get("/readyz")
            proxy.cut()
            ready = await gateway.client.get("/readyz")
            alive = await gateway.client.get("/healthz")
            proxy.mend()
            ready_again = await gateway.client.get("/readyz")

    problem(ready, 503)
    assert int(ready.headers["retry-after"]) > 0
    assert ready_before.status_code == alive.status_code == ready_again.status_code == 200


# Metrics.


@pytest.mark.slow
async def test_answers_by_tier_add_up_to_the_searches(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    before = [await worker.answers() for worker in (gateway, other_worker)]
    await ana.put("leave", LEAVE)

    tiers = []
    for worker, query in (
        (gateway, "leave"),
        (gateway, "leave"),
        (other_worker, "leave"),
        (other_worker, "another question"),
        (gateway, "another question"),
        (gateway, "another question"),
    ):
        answer = await worker.as_(ana).search(query)
        tiers.append(answer.headers["cache-status"])
    await ana.call("POST", "/v1/search", json={"query": ""})  # reaches no tier

    after = [await worker.answers() for worker in (gateway, other_worker)]
    counted = {
        tier: sum(count[tier] for count in after) - sum(count[tier] for count in before)
        for tier in ("memory", "redis", "miss")
    }
    assert counted == {"memory": 2, "redis": 2, "miss": 2}
    assert tiers.count("nearhit; hit; detail=memory") == counted["memory"]
    assert tiers.count("nearhit; hit; detail=redis") == counted["redis"]
    assert tiers.count("nearhit; fwd=miss; stored") == counted["miss"]


@pytest.mark.thorough
@pytest.mark.slow
async def test_searches_that_share_one_fill_are_counted_too(
    settings: Settings, embedder: Embedder
) -> None:
    moody = MoodyEmbedder(embedder)
    async with running(settings, moody) as gateway:
        ana = await writer_of_a_new_tenant(gateway)
        await ana.put("leave", LEAVE)
        moody.hold()
        searches = [asyncio.create_task(ana.search("annual leave")) for _ in range(8)]
        await moody.asked.wait()
        moody.go_on()
        await asyncio.gather(*searches)

        assert sum((await gateway.answers()).values()) == 8


@pytest.mark.slow
async def test_statements_embedder_calls_and_cache_events_are_counted(
    gateway: Gateway, ana: Caller
) -> None:
    async def counts() -> list[float]:
        statement, embedding = (
            "nearhit_sql_statement_duration_seconds",
            "nearhit_embedding_duration_seconds",
        )
        return [
            await gateway.counted(f"{statement}_count", statement="search.exact"),
            await gateway.counted(f"{statement}_sum", statement="search.exact"),
            await gateway.counted(f"{statement}_count", statement="documents.put"),
            await gateway.counted(f"{embedding}_count", kind="query"),
            await gateway.counted(f"{embedding}_sum", kind="query"),
            await gateway.counted(f"{embedding}_count", kind="batch"),
            await gateway.counted("nearhit_cache_events_total", event="stored"),
            await gateway.counted("nearhit_cache_events_total", event="drained"),
            await gateway.counted("nearhit_cache_drain_duration_seconds_count"),
            await gateway.counted("nearhit_cache_drain_duration_seconds_sum"),
        ]

    await ana.search("what there is before")  # makes the state that a drain finds
    before = await counts()
    await ana.put("leave", f"{LEAVE}\n\n# More\n\nAnother section.")
    await ana.search("annual leave")

    assert all(now > then for now, then in zip(await counts(), before, strict=True))


async def test_a_passage_alone_is_a_batch_and_a_question_a_query(
    gateway: Gateway, ana: Caller
) -> None:
    async def counts() -> list[float]:
        name = "nearhit_embedding_duration_seconds_count"
        return [await gateway.counted(name, kind=kind) for kind in ("query", "batch")]

    queries, batches = await counts()
    await ana.put("leave", LEAVE)
    after_the_put = await counts()
    await ana.search("annual leave")

    assert after_the_put == [queries, batches + 1]
    assert await counts() == [queries + 1, batches + 1]


@pytest.mark.isolated
async def test_requests_are_counted_by_route_status_and_tier(gateway: Gateway, ana: Caller) -> None:
    name = "nearhit_http_request_duration_seconds_count"
    route = "/v1/documents/{document_id:path}"
    before = await gateway.counted(name, route=route, status="404", tier="")

    for number in range(3):
        await ana.call("GET", f"/v1/documents/secret-{number}")

    assert await gateway.counted(name, route=route, status="404", tier="") == before + 3


async def test_no_name_of_a_callers_becomes_a_metric(gateway: Gateway, ana: Caller) -> None:
    name = f"name-{secrets.token_hex(6)}"
    await ana.put(name, LEAVE, source=name, tags=[name])
    await ana.search(name, filter={"sources": [name]})
    await ana.call("GET", f"/{name}")
    await ana.call("GET", "/healthz", headers={"X-Request-Id": name})

    answer = await gateway.client.get("/metrics")

    assert name not in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


# Request ids.


@pytest.mark.parametrize("given", ["a", "A-1_b.2", "x" * 64, "0af7651916cd43dd8448eb211c80319c"])
async def test_a_harmless_request_id_is_echoed(gateway: Gateway, given: str) -> None:
    answer = await gateway.client.get("/healthz", headers={"X-Request-Id": given})

    assert answer.headers.get_list("x-request-id") == [given]


@pytest.mark.parametrize(
    "given", [b"", b"a b", b"x" * 65, b"<script>", b'"', b"a;b", b"a,b", b"\xe4", b"\xff"]
)
async def test_any_other_request_id_is_replaced(gateway: Gateway, given: bytes) -> None:
    answers = [
        await gateway.client.get("/healthz", headers={b"X-Request-Id": given}) for _ in range(2)
    ]

    made = [answer.headers["x-request-id"] for answer in answers]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,64}", each) for each in made)
    assert given.decode("latin-1") not in made
    assert made[0] != made[1]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/v1/search", 405),
        ("TRACE", "/v1/search", 405),
        ("POST", "/healthz", 405),
        ("POST", "/v1/search", 401),
        ("GET", "/v1/documents/x", 401),
    ],
)
async def test_every_problem_has_a_request_id(
    gateway: Gateway, method: str, path: str, status: int
) -> None:
    answer = await gateway.client.request(method, path, headers={"X-Request-Id": "mine"})

    problem(answer, status)
    assert answer.headers["x-request-id"] == "mine"
    if status == 405:
        assert answer.headers["allow"]


# Log lines.


async def logged(capfd: pytest.CaptureFixture[str], request_id: str) -> dict[str, Any]:
    """The line of a request, which comes a little later than its answer."""
    out = ""
    async with asyncio.timeout(LINES_S_MAX):
        while f'"{request_id}"' not in out:
            out += capfd.readouterr().out
            await asyncio.sleep(0.01)
    lines = [orjson.loads(line) for line in out.splitlines()]  # each of them is JSON
    (line,) = (line for line in lines if line["request_id"] == request_id)
    assert isinstance(line, dict)
    return line


@pytest.mark.thorough
@pytest.mark.slow
async def test_each_request_is_one_line_of_json(
    logging_gateway: Gateway, capfd: pytest.CaptureFixture[str]
) -> None:
    ana = await logging_gateway.caller("ana")
    await ana.put("leave", LEAVE)

    lines = []
    for method, path, body in (
        ("POST", "/v1/search", {"query": "leave"}),
        ("POST", "/v1/search", {"query": "leave"}),
        ("POST", "/v1/search", {"query": ""}),
        ("GET", "/v1/documents/wiki/leave", None),
        ("GET", "/nothing", None),
    ):
        request_id = f"request-{secrets.token_hex(4)}"
        await ana.call(method, path, json=body, headers={"X-Request-Id": request_id})
        lines.append(await logged(capfd, request_id))

    told = [(line["method"], line["route"], line["status"], line["tier"]) for line in lines]
    assert told == [
        ("POST", "/v1/search", 200, "miss"),
        ("POST", "/v1/search", 200, "memory"),
        ("POST", "/v1/search", 422, ""),
        ("GET", "/v1/documents/{document_id:path}", 404, ""),
        ("GET", "", 404, ""),
    ]
    for line in lines:
        assert line["event"] == "request"
        assert line["ms"] >= 0
        assert line["timestamp"].startswith("20")
    assert lines[0]["tenant"] == logging_gateway.tenant_name


async def test_a_line_break_in_a_path_makes_no_second_line(
    logging_gateway: Gateway, capfd: pytest.CaptureFixture[str]
) -> None:
    forged = "/%0A%7B%22event%22:%22forged%22%7D"
    await logging_gateway.client.get(forged, headers={"X-Request-Id": "forger"})

    line = await logged(capfd, "forger")

    assert line["event"] == "request"
    assert "forged" not in orjson.dumps(line).decode()
