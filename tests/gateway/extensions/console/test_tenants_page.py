"""The operator's page of tenants: their first key, their limits, their caches, their end."""

import os
import re
from datetime import UTC, datetime

import pytest
from playwright.async_api import expect

from common.version import VERSION
from tests.conftest import run_sql
from tests.gateway.extensions.console.browser import PHONE, Console
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio


async def test_the_operator_creates_a_tenant_and_its_first_key(
    console: Console, gateway: Gateway
) -> None:
    name = f"{gateway.tenant_name}-2"
    await console.open(gateway.operator.key)
    page = console.page
    await expect(page.locator("header nav a")).to_have_count(3)

    await page.get_by_label("Tenant", exact=True).fill(name)
    await page.get_by_label("Name for people").fill("Ostrelume")
    await page.get_by_role("button", name="Create a tenant").click()
    await expect(page.get_by_role("heading", level=2, name="Ostrelume")).to_be_visible()
    await page.get_by_role("link", name="Keys", exact=True).click()
    await expect(page.get_by_role("region", name="Keys")).to_contain_text("No keys")
    await page.get_by_role("button", name="Create a key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Subject").fill("ada")
    await dialog.get_by_label("admin").check()
    await dialog.get_by_role("button", name="Create").click()
    secret = await page.locator("dialog pre").inner_text()

    ada = (await Caller(gateway.client, secret).call("GET", "/v1/caller")).json()
    assert (ada["tenant"], "admin" in ada["roles"]) == (name, True)


@pytest.mark.thorough
async def test_a_limit_holds_from_the_next_write_on_and_an_empty_field_lifts_it(
    console: Console, gateway: Gateway, ana: Caller
) -> None:
    await ana.put("one", "Annual leave.")
    await console.open(gateway.operator.key, f"#/tenants/{gateway.tenant_name}")
    limits = console.page.get_by_role("form", name="Limits")
    stored = console.page.get_by_role("region", name="Stored and spent")

    await limits.get_by_label("Documents").fill("1")
    await limits.get_by_label("Cost of a month").fill("12.5")
    await limits.get_by_role("button", name="Save").click()
    await expect(stored).to_contain_text("of 12.50")
    await expect(stored.locator("tbody tr").first).to_contain_text("documents11")
    refused = await ana.call("PUT", "/v1/documents/two", json={"text": "Text."})
    await expect(limits.get_by_label("Documents")).to_have_value("1")
    await limits.get_by_label("Documents").fill("")
    await limits.get_by_role("button", name="Save").click()
    await expect(stored.locator("tbody tr").first).to_contain_text("documents1none")

    problem(refused, 409)
    await ana.put("two", "Text.")


@pytest.mark.thorough
async def test_cached_answers_are_dropped_and_a_tenant_is_deleted_only_by_its_identifier(
    console: Console, gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    await ana.search("leave")
    await console.open(gateway.operator.key, f"#/tenants/{gateway.tenant_name}")
    page, dialog = console.page, console.page.get_by_role("dialog")
    await page.get_by_role("button", name="Drop cached answers").click()
    await dialog.get_by_role("button", name="Drop them").click()
    await expect(dialog).to_have_count(0)
    assert "fwd=miss" in (await ana.search("leave")).headers["cache-status"]

    await page.get_by_role("button", name="Delete").click()
    await dialog.get_by_label("to confirm").fill("another")
    await dialog.get_by_role("button", name="Delete the tenant").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("Nothing is deleted")
    before = await ana.call("GET", "/v1/caller")
    await dialog.get_by_label("to confirm").fill(gateway.tenant_name)
    await dialog.get_by_role("button", name="Delete the tenant").click()
    await expect(dialog).to_have_count(0)

    assert before.status_code == 200
    problem(await ana.call("GET", "/v1/caller"), 401)
    await page.goto(f"{console.url}/console#/tenants/{gateway.tenant_name}")
    await expect(page.get_by_role("region", name="Tenant")).to_contain_text("is being deleted")
    await expect(page.get_by_role("button", name="Save")).to_have_count(0)


@pytest.mark.isolated  # of the shared worker the page would list the tenants of all tests
async def test_axe_finds_nothing_and_on_a_phone_nothing_is_cut_off(
    console: Console, gateway: Gateway, ana: Caller
) -> None:
    page = console.page
    await console.open(gateway.operator.key)
    await expect(page.locator("tbody tr").first).to_be_visible()
    assert await console.violations() == []
    await page.goto(f"{console.url}/console#/tenants/{gateway.tenant_name}")
    await expect(page.get_by_role("form", name="Limits")).to_be_visible()

    for scheme in "light", "dark":
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert await console.violations() == []
    await page.set_viewport_size(PHONE)
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


@pytest.mark.thorough
async def test_the_list_has_a_total_of_what_its_page_shows(
    console: Console, gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    tenants = (await gateway.operator.call("GET", "/v1/tenants")).json()["tenants"]
    documents, chunks = (sum(row[name] for row in tenants) for name in ("documents", "chunks"))

    await console.open(gateway.operator.key)

    await expect(console.page.locator("caption")).to_contain_text(
        f"{len(tenants)} tenants, with {documents} documents, {chunks} chunks and"
    )


async def test_a_click_on_a_columns_label_orders_the_rows_and_another_one_turns_them_round(
    console: Console, gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    await gateway.new_tenant()
    await console.open(gateway.operator.key)
    page = console.page
    numbers = page.locator("tbody td[data-label=Documents]")
    label = page.get_by_role("button", name="Documents")
    header = page.get_by_role("columnheader", name="Documents")

    await label.click()
    await expect(header).to_have_attribute("aria-sort", "descending")
    largest_first = [int(text.replace(",", "")) for text in await numbers.all_inner_texts()]
    await label.click()
    await expect(header).to_have_attribute("aria-sort", "ascending")
    least_first = [int(text.replace(",", "")) for text in await numbers.all_inner_texts()]

    assert largest_first == sorted(largest_first, reverse=True)
    assert least_first == sorted(largest_first) != largest_first
    await page.get_by_role("button", name="Tenant", exact=True).click()
    await expect(page.locator("[aria-sort]")).to_have_count(1)
    names = await page.locator("tbody th a").all_inner_texts()
    assert names == sorted(names)
    assert await console.violations() == []
    await page.set_viewport_size(PHONE)
    await expect(label).to_be_in_viewport()
    assert await console.violations() == []


_CUSTOMERS = """
    INSERT INTO tenants (tenant, name) SELECT 'customer-' || n, 'Customer ' || n
    FROM generate_series(1001, 1210) AS n;
    INSERT INTO tenants (tenant, name, budget_month)
    VALUES (repeat('a', 60), repeat('W', 200), 0.5), ('north', 'شركة الشمال للخدمات', NULL);
    INSERT INTO usage (tenant, day, operation, cost)
    SELECT tenant, current_date, 'answer', 1.25 FROM tenants
    WHERE tenant IN ('north', repeat('a', 60));
"""


@pytest.mark.isolated
async def test_of_many_tenants_one_is_found_by_a_part_of_its_name_beside_the_costs_of_all(
    console: Console, gateway: Gateway, ana: Caller, database_url: str
) -> None:
    await run_sql(database_url, _CUSTOMERS)
    await console.open(gateway.operator.key)
    page, rows = console.page, console.page.locator("tbody tr")
    part = page.get_by_label("Identifier or name contains")
    await expect(rows).to_have_count(100)

    await page.get_by_label("Order").select_option("by cost")
    await page.get_by_role("button", name="Filter").click()
    await expect(rows.first).to_contain_text("aaaa")
    await expect(rows.first.locator("[data-label=Cost]")).to_have_text("1.25")
    await expect(rows.first.locator("[data-label='Of its limit']")).to_have_text("0.5000")
    await expect(rows.nth(1)).to_contain_text("شركة الشمال للخدمات")
    await expect(page.locator("caption")).to_contain_text("cost this month: 2.50")
    assert await console.violations() == []
    await page.get_by_role("button", name="Next page").click()
    await expect(rows.first.locator("[data-label=Cost]")).to_have_text("0")
    second = page.url
    await page.get_by_role("button", name="Next page").click()
    await page.go_back()
    assert page.url == second

    await part.fill("الشمال")
    await part.press("Enter")
    await expect(rows).to_have_count(1)
    found = page.url
    await rows.get_by_role("link", name="north").click()
    await expect(page.get_by_role("heading", level=2)).to_contain_text(["الشمال"])
    await page.goto("about:blank")
    await page.goto(found)
    await console.log_in(gateway.operator.key)
    await expect(rows).to_have_count(1)
    await expect(part).to_have_value("الشمال")
    await part.fill("no such tenant")
    await part.press("Enter")
    await expect(page.locator(".empty")).to_contain_text("No identifier and no name contains it")
    await page.set_viewport_size(PHONE)
    await part.fill("")
    await part.press("Enter")
    await expect(rows).to_have_count(100)
    assert await console.violations() == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.thorough
async def test_operation_shows_the_processes_and_how_long_searches_of_all_tenants_took(
    console: Console, gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    for _ in range(2):
        await ana.search("annual leave")
    page = console.page
    await console.open(gateway.operator.key, "#/operation")
    processes = page.get_by_role("region", name="Gateways and workers")
    state = page.get_by_role("region", name="This gateway")
    latencies = page.get_by_role("region", name="Latency of searches")

    row = processes.locator("tbody tr").filter(has_text=f":{os.getpid()}")
    await expect(row.first).to_contain_text("gateway")
    await expect(row.first).to_contain_text("alive")
    await expect(row.first).to_contain_text(VERSION)
    await expect(state).to_contain_text("PostgreSQLanswers")
    await expect(state).to_contain_text(re.compile(r"Shards in memory[0-9,]+, together [0-9]"))
    await expect(page.get_by_role("region", name="Jobs of all tenants")).to_contain_text("Waiting")
    rows = latencies.locator("table").first.get_by_role("rowheader")
    await expect(rows).to_contain_text(["from memory", "computed"])
    await expect(latencies.locator("td").nth(1)).to_contain_text(re.compile(r"^[0-9,]+ ms$"))
    await expect(latencies.locator("figure")).to_have_count(await rows.count())
    await latencies.get_by_text("Answers computed, in ms as a table").click()
    hours = latencies.locator("figure").last.locator("tbody tr")
    await expect(hours.last).to_contain_text(f"{datetime.now(UTC):%Y-%m-%d %H}:00")
    assert await console.violations() == []
    await latencies.get_by_label("Time").select_option("30 days")
    await latencies.get_by_text("Answers computed, in ms as a table").click()
    await expect(hours.last).to_contain_text(f"{datetime.now(UTC):%Y-%m-%d}")
    await page.set_viewport_size(PHONE)
    assert await console.violations() == []
    width = await page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


@pytest.mark.thorough
async def test_operation_tells_what_is_wrong(console: Console, gateway: Gateway) -> None:
    """The figures are those of a gateway in trouble, which the page gets instead of its own."""
    page = console.page
    lines = [
        'nearhit_cache_events_total{event="audit_other"} 2.0',
        'nearhit_cache_events_total{event="unavailable"} 7.0',
        'nearhit_jobs{state="failed"} 3.0',
    ]
    down = {"title": "Database unavailable", "detail": "PostgreSQL is silent.", "status": 503}
    killed = {
        "process": "host:1", "kind": "worker", "version": "0.0.1", "is_warm": None,
        "is_alive": False, "started_at": "2025-01-01T00:00:00Z", "seen_s_ago": 600.0,
    }  # fmt: skip
    listed = {"processes": [killed]}
    await page.route("**/v1/processes", lambda route: route.fulfill(json=listed))
    await page.route("**/metrics", lambda route: route.fulfill(body="\n".join(lines)))
    await page.route("**/readyz", lambda route: route.fulfill(status=503, json=down))
    await console.open(gateway.operator.key, "#/operation")

    await expect(page.get_by_role("alert")).to_contain_text("PostgreSQL is silent.")
    for told in ("does not answer", "7 calls failed", "2 answers that were stale", "Failed3"):
        await expect(page.locator("main")).to_contain_text(told)
    await expect(page.locator("main")).to_contain_text("silent for 10 min")
    assert await console.violations() == []
