"""Popularity over HTTP and MCP: what was opened comes first, where a tenant counts it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.extensions.popularity import popularity_services
from gateway.extensions.popularity.extension import roll_up
from gateway.extensions.popularity.popularity_rollup import PopularityRollup
from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from index.postgres.database import Database
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.index.conftest import connected

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "Everybody gets annual leave."
OTHER = "Everybody gets annual leave!"  # as good by words
OPENED = {"popularity": {"weight": 0.1}}


@pytest.fixture
async def rollup(shared_settings: Settings) -> AsyncIterator[PopularityRollup]:
    """Rolls up without a drain: the next reader has to do it."""
    assert shared_settings.database_url is not None
    database: Database
    async with connected(shared_settings.database_url.get_secret_value()) as database:
        yield PopularityRollup(database, interval_s=0)


@pytest.fixture
async def two_documents(ana: Caller) -> None:
    await ana.put("leave", LEAVE, readers=["tenant"])
    await ana.put("travel", OTHER, readers=["tenant"])


async def count(admin: Caller, counts: str) -> None:
    answer = await admin.call("PUT", "/v1/popularity", json={"counts": counts})
    assert (answer.status_code, answer.json()) == (200, {"counts": counts}), answer.text


async def feedback(caller: Caller, *hits: dict[str, Any]) -> int:
    answer = await caller.call("POST", "/v1/feedback", json={"hits": hits})
    assert answer.status_code == 200, answer.text
    recorded: int = answer.json()["recorded"]
    return recorded


async def rolled_up(gateway: Gateway, rollup: PopularityRollup) -> None:
    """Wait until openings are stored, and roll them up."""
    async with asyncio.timeout(60):
        while await rollup.roll_up(gateway.tenant_name, datetime.now(UTC).date()) is None:
            await asyncio.sleep(0.02)


async def popularities(caller: Caller) -> dict[str, float]:
    """By document, in the order of the hits."""
    answer = await caller.search("annual leave", boost=OPENED, alpha=0.0, explain=True)
    hits = answer.json()["hits"]
    return {hit["document_id"]: hit["explain"]["boost"]["popularity"] for hit in hits}


async def fetch(caller: Caller, *, document_id: str) -> None:
    call = {"name": "fetch", "arguments": {"id": document_id}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    fetched = await caller.call("POST", "/mcp", json=body)
    assert fetched.json()["result"]["isError"] is False


@pytest.mark.usefixtures("two_documents")
async def test_what_was_opened_comes_first_from_every_tier_and_other_answers_stay(
    gateway: Gateway, other_worker: Gateway, ana: Caller, admin: Caller, rollup: PopularityRollup
) -> None:
    await count(admin, "feedback")
    everywhere = (ana, other_worker.as_(ana), ana)

    async def first() -> str:
        found = {
            (await each.found("annual leave", boost=OPENED, alpha=0.0))[0] for each in everywhere
        }
        (name,) = found
        return name

    plain = await ana.search("annual leave", boost={"recency": {"half_life_days": 1, "weight": 1}})
    assert await first() == "leave"
    assert await feedback(ana, {"document_id": "travel"}, {"document_id": "travel"}) == 1
    await rolled_up(gateway, rollup)
    assert await first() == "travel"
    assert await popularities(ana) == {"travel": 0.1, "leave": 0}
    fills = await gateway.fills()
    again = await ana.search("annual leave", boost={"recency": {"half_life_days": 1, "weight": 1}})
    assert again.content == plain.content
    assert await gateway.fills() == fills

    await count(admin, "nothing")
    assert await first() == "leave"


@pytest.mark.thorough
@pytest.mark.usefixtures("two_documents")
async def test_a_reading_counts_only_where_the_tenant_counts_all(
    gateway: Gateway, ana: Caller, ben: Caller, admin: Caller, rollup: PopularityRollup
) -> None:
    async def read(caller: Caller, *, document_id: str) -> None:
        answer = await caller.call("GET", f"/v1/documents/{document_id}")
        assert answer.status_code == 200

    assert await feedback(ana, {"document_id": "leave"}) == 0  # off by default
    await count(admin, "feedback")
    await read(ana, document_id="leave")
    await fetch(ana, document_id="leave")
    assert await feedback(ana, {"document_id": "travel"}) == 1
    await rolled_up(gateway, rollup)
    assert await popularities(ana) == {"travel": 0.1, "leave": 0}

    await count(admin, "all")
    await read(ana, document_id="leave")
    await fetch(ben, document_id="leave")
    async with asyncio.timeout(60):
        while (await popularities(ana))["leave"] < 0.15:  # each of the two subjects once
            await rollup.roll_up(gateway.tenant_name, datetime.now(UTC).date())
            await asyncio.sleep(0.02)
    assert await popularities(ana) == pytest.approx({"leave": 0.15, "travel": 0.1})


@pytest.mark.usefixtures("two_documents")
async def test_nobody_counts_for_a_document_that_it_may_not_read(
    gateway: Gateway, ana: Caller, ben: Caller, admin: Caller, rollup: PopularityRollup
) -> None:
    await count(admin, "all")
    await ana.put("secret", "The annual leave of the board.", readers=[])
    (chunk_id,) = [
        hit["chunk_id"]
        for hit in (await ana.search("annual leave of the board")).json()["hits"]
        if hit["document_id"] == "secret"
    ]

    for hits in ({"document_id": "secret"}, {"document_id": "absent"}, {"chunk_id": chunk_id}):
        assert await feedback(ben, hits) == 0
    assert (await ben.call("GET", "/v1/documents/secret")).status_code == 404
    made = await ben.call("POST", "/v1/tokens", json={"filter": {"sources": ["wiki"]}})
    narrow = Caller(gateway.client, made.json()["token"])
    assert await feedback(narrow, {"document_id": "leave"}) == 0
    assert await feedback(ben, {"document_id": "travel"}) == 1
    await rolled_up(gateway, rollup)
    assert await popularities(ana) == {"travel": 0.1, "leave": 0, "secret": 0}


@pytest.mark.thorough
@pytest.mark.usefixtures("two_documents")
async def test_a_worker_rolls_up_the_tenants_that_are_due(
    ana: Caller, admin: Caller, shared_settings: Settings, embedder: Embedder
) -> None:
    await count(admin, "feedback")
    await feedback(ana, {"document_id": "travel"})

    async with (
        open_services(shared_settings, Metrics(), embedder) as services,
        asyncio.timeout(60),
    ):
        own = popularity_services.build(services)
        while (await popularities(ana))["travel"] == 0:
            await roll_up(own)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"hits": []}, "hits"),
        ({"hits": [{"document_id": "a"}] * 101}, "hits"),
        ({"hits": [{}]}, "hits.0.document_id"),
        ({"hits": [7]}, "hits.0"),
        ({"hits": [{"document_id": "a", "chunk_id": 1}]}, "hits.0.document_id"),
        ({"hits": [{"chunk_id": 1, "tenant": "acme"}]}, "hits.0.tenant"),
        ({"hits": [{"chunk_id": None}]}, "hits.0.chunk_id"),
        ({"hits": [{"chunk_id": 2**63}]}, "hits.0.chunk_id"),
        ({"hits": [{"document_id": "a\u0000"}]}, "hits.0.document_id"),
        ({"hits": [{"document_id": "a", "tenant": "public"}]}, "hits.0.tenant"),
        ({"kind": "liked", "hits": [{"document_id": "a"}]}, "kind"),
    ],
)
async def test_what_is_no_feedback_is_refused_by_name(
    ana: Caller, body: dict[str, Any], name: str
) -> None:
    answer = await ana.call("POST", "/v1/feedback", json=body)

    assert problem(answer, 422)["errors"][0]["field"] == name


async def test_only_an_admin_sees_and_sets_what_counts(ana: Caller, admin: Caller) -> None:
    assert (await admin.call("GET", "/v1/popularity")).json() == {"counts": "nothing"}
    problem(await ana.call("GET", "/v1/popularity"), 403)
    problem(await ana.call("PUT", "/v1/popularity", json={"counts": "all"}), 403)
    problem(await admin.call("PUT", "/v1/popularity", json={"counts": "some"}), 422)
