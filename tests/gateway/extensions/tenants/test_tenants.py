"""The tenants of a deployment, what each stores, and its cached answers, which an admin can end."""

from typing import Any

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

LEAVE = "Everybody gets 25 days of annual leave."
QUESTION = "annual leave days"


async def cache_status(caller: Caller) -> str:
    answer = await caller.search(QUESTION)
    return str(answer.headers["cache-status"])


async def test_the_operator_lists_tenants_page_by_page_without_the_public_one(
    gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)

    found: dict[str, Any] = {}
    cursor: str | None = ""
    while cursor is not None:
        page = (await gateway.operator.call("GET", f"/v1/tenants?cursor={cursor}")).json()
        found |= {tenant["id"]: tenant for tenant in page["tenants"]}
        cursor = page["cursor"]

    shown = found[gateway.tenant_name]
    assert "public" not in found
    assert (shown["documents"], shown["chunks"], shown["bytes"]) == (1, 1, len(LEAVE))
    assert shown["is_being_deleted"] is False


_TENANTS = """
    INSERT INTO tenants (tenant, name, budget_month)
    SELECT 'customer-' || n, CASE n % 2 WHEN 0 THEN 'Even' ELSE 'Ódd 100%_' END, nullif(n % 3, 0)
    FROM generate_series(101, 350) AS n;
    INSERT INTO usage (tenant, day, operation, cost)
    SELECT tenant, current_date - days, 'search', right(tenant, 1)::integer + days
    FROM tenants, (VALUES (0), (400)) AS of (days) WHERE tenant LIKE 'customer-%';
"""


async def all_pages(gateway: Gateway, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        path = f"/v1/tenants?{query}&cursor={cursor}"
        page = (await gateway.operator.call("GET", path)).json()
        found += page["tenants"]
        cursor = page["cursor"]
    return found


@pytest.mark.isolated
async def test_the_operator_finds_tenants_by_a_part_of_a_name_and_orders_them_by_cost(
    gateway: Gateway, ana: Caller, admin: Caller, database_url: str
) -> None:
    await ana.put("customer-secret", "A document that is named like a tenant.")
    await run_sql(database_url, _TENANTS)

    by_cost = await all_pages(gateway, "order=cost")
    odd = await all_pages(gateway, "contains=óDD&order=cost")
    by_identifier = await all_pages(gateway, "contains=ER-20")
    literal = await all_pages(gateway, "contains=%25_")
    nothing = await all_pages(gateway, "contains=secret")

    costs = [(-tenant["cost_month"], tenant["id"]) for tenant in by_cost]
    assert costs == sorted(costs)
    assert (len(set(costs)), costs[0]) == (251, (-9.0, "customer-109"))
    assert {tenant["name"] for tenant in odd} == {"Ódd 100%_"}
    assert [tenant["id"] for tenant in odd] == [
        tenant["id"] for tenant in by_cost if tenant["name"] == "Ódd 100%_"
    ]
    assert [each["id"] for each in by_identifier] == [f"customer-20{n}" for n in range(10)]
    assert [each["budget_month"] for each in by_identifier[:3]] == [2.0, None, 1.0]
    assert len(literal) == 125
    assert nothing == []
    problem(await gateway.operator.call("GET", "/v1/tenants?order=name"), 422)
    problem(await admin.call("GET", "/v1/tenants?contains=customer"), 403)


async def test_an_admin_sees_what_its_tenant_stores_and_nothing_of_another(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await admin.call("PUT", "/v1/groups/sales/members/ana")
    await ana.search(QUESTION)
    other = await gateway.operator.call("POST", "/v1/tenants", json={"id": "neighbour"})

    own = (await admin.call("GET", f"/v1/tenants/{gateway.tenant_name}")).json()
    foreign = await admin.call("GET", "/v1/tenants/neighbour")
    unknown = await gateway.operator.call("GET", "/v1/tenants/nowhere")

    assert other.status_code == 201
    assert (own["documents"], own["groups"], own["sources"]) == (1, 1, 1)
    assert own["cache_entries"] == 1
    assert own["revision"] > 0
    problem(foreign, 404)
    problem(unknown, 404)


@pytest.mark.isolated
async def test_a_cleared_cache_is_empty_in_every_process_and_in_redis(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, embedder) as one, running(settings, embedder) as two:
        await one.operator.call("POST", "/v1/tenants", json={"id": "acme"})
        ana = await one.caller("ana", tenant="acme")
        admin = await one.caller("ada", tenant="acme", roles=["admin"])
        far = Caller(two.client, ana.key)
        await ana.put("leave", LEAVE)
        body = (await ana.search(QUESTION)).content
        await far.search(QUESTION)
        warm = [await cache_status(ana), await cache_status(far)]

        cleared = await admin.call("DELETE", "/v1/tenants/acme/cache")
        after = [await cache_status(far), await cache_status(ana)]

        again = (await ana.search(QUESTION)).content
        foreign = await admin.call("DELETE", "/v1/tenants/nowhere/cache")

    assert ["; hit" in status for status in warm] == [True, True]
    assert cleared.status_code == 200, cleared.text
    assert ["fwd=miss" in status for status in after] == [True, True]
    assert again == body
    problem(foreign, 404)
