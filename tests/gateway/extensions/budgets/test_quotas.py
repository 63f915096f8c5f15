"""Quotas as the operator sets them, a writer meets them, and an admin sees them."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.writes.test_queued_writes import job, put_later, work

pytestmark = pytest.mark.anyio

TEXT = "Thirty days of leave."


async def put_quotas(gateway: Gateway, **quotas: int | None) -> None:
    path = f"/v1/tenants/{gateway.tenant_name}/quotas"
    answer = await gateway.operator.call("PUT", path, json=quotas)
    assert answer.status_code == 204, answer.text


async def quotas_of(admin: Caller) -> Mapping[str, Any]:
    answer = await admin.call("GET", "/v1/usage")
    assert answer.status_code == 200, answer.text
    shown: Mapping[str, Any] = answer.json()["quotas"]
    return shown


async def test_a_write_beyond_a_quota_is_told_which_how_full_and_how_large(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await ana.put("one", TEXT)
    await put_quotas(gateway, documents=1)

    refused = await ana.call("PUT", "/v1/documents/two", json={"text": TEXT})

    shown = problem(refused, 409)
    assert shown["type"] == "urn:nearhit:problem:quota-exceeded"
    assert (shown["quota"], shown["used"], shown["limit"]) == ("documents", 1, 1)
    assert shown["detail"].startswith("The tenant has 1 of at most 1 documents, and this adds 1.")
    assert (await quotas_of(admin))["documents"] == {"used": 1, "limit": 1}
    assert await ana.found("leave") == ["one"]
    await ana.put("one", "Forty days of leave.")  # the document that exists


async def test_the_operator_reads_what_it_has_set_and_an_admin_what_holds_for_its_tenant(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    path, other = f"/v1/tenants/{gateway.tenant_name}", await gateway.new_tenant()
    await ana.put("one", TEXT)
    before = await gateway.operator.call("GET", f"{path}/quotas")
    await put_quotas(gateway, documents=7)
    await gateway.operator.call("PUT", f"{path}/budget", json={"budget_month": 12.5})

    quotas = (await gateway.operator.call("GET", f"{path}/quotas")).json()
    budget = (await gateway.operator.call("GET", f"{path}/budget")).json()
    tenant = (await gateway.operator.call("GET", path)).json()

    unset = {"documents": None, "chunks": None, "bytes": None, "sources": None}
    assert (before.json(), quotas) == (unset, unset | {"documents": 7})
    assert budget == {"budget_month": 12.5}
    assert tenant["quotas"]["documents"] == {"used": 1, "limit": 7}
    assert (tenant["cost_month"], tenant["budget_month"]) == (0, 12.5)
    assert (await admin.call("GET", f"{path}/quotas")).json() == quotas
    for name in "quotas", "budget":
        problem(await admin.call("GET", f"/v1/tenants/{other}/{name}"), 404)
        problem(await ana.call("GET", f"{path}/{name}"), 403)
        problem(await gateway.operator.call("GET", f"/v1/tenants/nowhere/{name}"), 404)


async def test_usage_shows_what_is_stored_and_what_may_be(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await ana.put("one", "día", source="handbook")
    await ana.put("two", "four", source="wiki")
    await put_quotas(gateway, chunks=9, sources=None)

    assert await quotas_of(admin) == {
        "documents": {"used": 2, "limit": None},
        "chunks": {"used": 2, "limit": 9},
        "bytes": {"used": 8, "limit": None},
        "sources": {"used": 2, "limit": None},
    }
    assert (await ana.call("DELETE", "/v1/documents/one")).status_code == 200
    assert (await quotas_of(admin))["bytes"] == {"used": 4, "limit": None}


async def test_lines_of_a_batch_are_stored_while_there_is_room(
    gateway: Gateway, ana: Caller
) -> None:
    await put_quotas(gateway, documents=2)
    lines = [{"document_id": f"d{number}", "text": f"Text {number}"} for number in range(4)]

    answer = await ana.call(
        "POST", "/v1/documents/batch", content=b"\n".join(map(orjson.dumps, lines))
    )

    results = [orjson.loads(line) for line in answer.content.splitlines()]
    assert ["document_id" in result for result in results] == [True, True, False, False]
    assert {result["quota"] for result in results[2:]} == {"documents"}


async def test_a_file_and_a_vector_store_without_room_are_refused_in_openais_form(
    gateway: Gateway, ana: Caller
) -> None:
    await put_quotas(gateway, bytes=4, sources=0)

    file = await ana.call(
        "POST", "/v1/files", files={"file": ("f.txt", b"12345")}, data={"purpose": "assistants"}
    )
    store = await ana.call("POST", "/v1/vector_stores", json={"name": "s"})

    assert (file.status_code, store.status_code) == (409, 409)
    assert file.json()["error"]["code"] == "quota_exceeded"
    assert store.json()["error"]["code"] == "quota_exceeded"


async def test_an_attached_file_whose_text_has_no_room_is_shown_as_failed(
    gateway: Gateway, ana: Caller
) -> None:
    uploaded = await ana.call(
        "POST", "/v1/files", files={"file": ("f.txt", b"12345")}, data={"purpose": "assistants"}
    )
    await put_quotas(gateway, bytes=6)

    store = await ana.call("POST", "/v1/vector_stores", json={"file_ids": [uploaded.json()["id"]]})
    path = f"/v1/vector_stores/{store.json()['id']}/files/{uploaded.json()['id']}"
    attached = (await ana.call("GET", path)).json()

    assert attached["status"] == "failed"
    assert attached["last_error"]["code"] == "quota_exceeded"
    assert "5 of at most 6 bytes" in attached["last_error"]["message"]


@pytest.mark.parametrize("source", ["handbook", "wiki"])
async def test_a_source_beyond_the_quota_is_refused_and_one_that_exists_is_changed(
    gateway: Gateway, admin: Caller, source: str
) -> None:
    body = {"kind": "git", "settings": {"url": "https://git.example/a.git"}, "schedule": None}
    first = await admin.call("PUT", "/v1/sources/handbook", json=body)
    await put_quotas(gateway, sources=1)

    again = await admin.call("PUT", f"/v1/sources/{source}", json=body)

    assert first.status_code == again.status_code or problem(again, 409)["quota"] == "sources"


@pytest.mark.parametrize(
    "body", [{"documents": -1}, {"bytes": 2**63}, {"chunks": 1.5}, {"pages": 1}, {"sources": "1"}]
)
async def test_quotas_that_mean_nothing_are_refused(
    gateway: Gateway, body: dict[str, object]
) -> None:
    path = f"/v1/tenants/{gateway.tenant_name}/quotas"

    problem(await gateway.operator.call("PUT", path, json=body), 422)


async def test_quotas_of_a_tenant_that_does_not_exist_are_refused(gateway: Gateway) -> None:
    problem(await gateway.operator.call("PUT", "/v1/tenants/nobody-0/quotas", json={}), 404)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.isolated
async def test_a_queued_write_without_room_fails_at_once_and_says_why(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller
) -> None:
    await put_quotas(gateway, documents=0)
    job_id = await put_later(ana, "long")
    async with open_services(settings, Metrics(), embedder) as services:
        await work(services)
        shown = await job(ana, job_id)

    assert (shown["state"], shown["attempts"]) == ("failed", 1)
    assert "0 of at most 0 documents" in shown["error"]
