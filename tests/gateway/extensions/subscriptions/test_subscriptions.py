"""Subscriptions as their subject keeps them, and what they are limited to."""

import asyncio
from typing import Any

import pytest

from gateway.extensions.subscriptions.event_endpoint import STREAMS_MAX
from gateway.extensions.subscriptions.extension import EXTENSION
from gateway.extensions.subscriptions.subscription_schemas import REFUSED_FIELDS, AnswerEventData
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.extensions.subscriptions.own_services import own_services
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.event_listener import listening, subscribe
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

FIELDS: dict[str, Any] = {
    "history": [{"role": "user", "content": "leave"}],
    "gate": "questions",
    "rerank": True,
    "candidates": 10,
    "context": {"token_budget": 100},
    "explain": True,
    "consistency": "strong",
    "max_staleness_ms": 5,
    "semantic": "bounded",
    "vector": [0.6, 0.8],
    "typing": True,
}


async def test_a_subject_lists_gets_and_deletes_what_it_subscribes_to(gateway: Gateway) -> None:
    ana = await gateway.caller("ana")
    search = {"query": "leave", "top_k": 3, "filter": {"sources": ["wiki"]}}
    created = await ana.call("POST", "/v1/subscriptions", json={"search": search})
    path = created.headers["location"]

    listed = (await ana.call("GET", "/v1/subscriptions")).json()
    got = (await ana.call("GET", path)).json()
    deleted = await ana.call("DELETE", path)

    assert created.status_code == 201
    assert got == created.json()
    assert listed == {"subscriptions": [got], "cursor": None}
    assert got["search"] == search
    assert got["deliver"] == {"hits": "none", "interval_ms": 1_000}
    assert (got["number"], got["revision"]) == (0, None)
    assert deleted.status_code == 204
    problem(await ana.call("GET", path), 404)
    problem(await ana.call("GET", f"{path}/events"), 404)
    problem(await ana.call("DELETE", path), 404)


async def test_nobody_else_has_a_subscription_of_this_name(gateway: Gateway) -> None:
    ana = await gateway.caller("ana")
    subscription = await subscribe(ana, "leave")
    other_tenant = await gateway.new_tenant()
    others = [
        await gateway.caller("ben"),
        await gateway.caller("ada", roles=["admin"]),
        await gateway.caller("ana", tenant=other_tenant),
    ]

    for other in others:
        assert (await other.call("GET", "/v1/subscriptions")).json()["subscriptions"] == []
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/events")):
            answer = await other.call(method, f"/v1/subscriptions/{subscription}{path}")
            problem(answer, 404)
    problem(await gateway.operator.call("GET", f"/v1/subscriptions/{subscription}"), 403)
    problem(await gateway.stranger.call("GET", f"/v1/subscriptions/{subscription}/events"), 401)


@pytest.mark.parametrize("field", REFUSED_FIELDS)
async def test_a_field_that_concerns_one_request_alone_is_refused(
    gateway: Gateway, field: str
) -> None:
    ana = await gateway.caller("ana")
    body = {"search": {"query": "leave", field: FIELDS[field]}}
    refused = problem(await ana.call("POST", "/v1/subscriptions", json=body), 422)
    assert refused["errors"][0]["field"] == f"search.{field}"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"search": {}},
        {"search": {"query": " "}},
        {"search": {"query": "leave", "top_k": 101}},
        {"search": {"query": "x" * 2_001}},
        {"search": {"query": "leave"}, "deliver": {"hits": "all"}},
        {"search": {"query": "leave"}, "deliver": {"interval_ms": 99}},
        {"search": {"query": "leave"}, "deliver": {"interval_ms": 86_400_001}},
        {"search": {"query": "leave"}, "tenant": "acme"},
    ],
)
async def test_a_body_that_does_not_fit_is_refused(gateway: Gateway, body: Any) -> None:
    ana = await gateway.caller("ana")
    problem(await ana.call("POST", "/v1/subscriptions", json=body), 422)


async def test_a_subject_and_a_tenant_have_so_many_subscriptions_and_no_more(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARHIT_SUBSCRIPTIONS_SUBJECT_MAX", "2")
    monkeypatch.setenv("NEARHIT_SUBSCRIPTIONS_TENANT_MAX", "3")
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana, ben = await gateway.caller("ana"), await gateway.caller("ben")
        other_key = await gateway.caller("ana")
        body = {"search": {"query": "leave"}}
        first = await subscribe(ana, "leave")
        await subscribe(other_key, "leave")
        of_subject = problem(await ana.call("POST", "/v1/subscriptions", json=body), 409)
        await subscribe(ben, "leave")
        of_tenant = problem(await ben.call("POST", "/v1/subscriptions", json=body), 409)
        await ana.call("DELETE", f"/v1/subscriptions/{first}")
        await subscribe(ben, "leave")

    assert of_subject["detail"] == "ana already has 2 subscriptions: remove some first"
    assert of_tenant["detail"] == "acme already has 3 subscriptions: remove some first"


async def test_a_subscription_has_so_many_streams_in_a_worker_and_no_more(
    gateway: Gateway,
) -> None:
    ana = await gateway.caller("ana")
    subscription = await subscribe(ana, "leave")

    async def open_streams(left: int) -> None:
        if not left:
            answer = await ana.call("GET", f"/v1/subscriptions/{subscription}/events")
            problem(answer, 429)
            return
        async with listening(ana, subscription) as heard:
            await heard.until_answers(1)
            await open_streams(left - 1)

    await open_streams(STREAMS_MAX)


async def test_a_stream_takes_no_place_among_concurrent_requests(
    settings: Settings, embedder: Embedder
) -> None:
    limits = {"concurrent_requests_max": 1}
    async with running(settings.model_copy(update=limits), embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with listening(ana, await subscribe(ana, "leave")) as heard:
            await heard.until_answers(1)
            assert await ana.found("leave") == []


async def test_an_event_is_what_the_api_describes(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    for deliver in ("changes", "none"):
        subscription = await subscribe(ana, "leave", deliver={"hits": deliver})
        async with listening(ana, subscription) as heard:
            await heard.until_answers(1)
        data = heard.answers[0]
        described = AnswerEventData.model_validate(data, strict=False)
        assert described.model_dump(mode="json", include=set(data)) | data == data


@pytest.mark.isolated
async def test_what_nobody_listens_to_is_deleted_after_a_time(
    gateway: Gateway, database_url: str, settings: Settings, embedder: Embedder
) -> None:
    ana = await gateway.caller("ana")
    old = await subscribe(ana, "leave")
    await run_sql(database_url, "UPDATE subscriptions SET used_at = now() - interval '31 days'")
    new = await subscribe(ana, "leave")
    listed = await _ids(ana)
    assert EXTENSION.work is not None
    stop = asyncio.Event()
    async with own_services(settings, embedder) as (_, own), asyncio.TaskGroup() as worker:
        worker.create_task(EXTENSION.work(own, stop))
        async with asyncio.timeout(WAIT_S_MAX):
            while old in await _ids(ana):
                await asyncio.sleep(0.01)
        stop.set()

    assert listed == {old, new}
    assert await _ids(ana) == {new}


async def test_the_audit_log_names_who_subscribed(gateway: Gateway) -> None:
    ana = await gateway.caller("ana")
    ada = await gateway.caller("ada", roles=["admin"])
    subscription = await subscribe(ana, "a secret question")
    await ana.call("DELETE", f"/v1/subscriptions/{subscription}")

    answer = await ada.call("GET", "/v1/audit/log", params={"subject": "ana"})

    assert [(row["action"], row["target"]) for row in answer.json()["rows"]][:2] == [
        ("subscription.delete", subscription),
        ("subscription.create", subscription),
    ]
    assert "secret" not in answer.text


async def _ids(caller: Caller) -> set[str]:
    listed = (await caller.call("GET", "/v1/subscriptions")).json()
    return {subscription["id"] for subscription in listed["subscriptions"]}
