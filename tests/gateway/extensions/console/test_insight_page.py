"""The page Insight: what was asked, how it was answered, what it cost, and no stale answer."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from playwright.async_api import Route, expect

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.dates import today
from tests.gateway.extensions.console.browser import PHONE, Console
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = pytest.mark.anyio


FILL = """
    INSERT INTO search_statistics
    SELECT 'acme', date_trunc('hour', now()) - days * interval '1 day', counts.*
    FROM generate_series(0, 9) AS days, (VALUES
        ('redis', 'confident', 2, 90),
        ('miss', 'confident', 20, 5),
        ('miss', 'empty', 500, 3),
        ('miss', 'low_confidence', 70, 2),
        ('redis', 'audit_equal', 0, 50)
    ) AS counts;
    INSERT INTO usage (tenant, day, operation, tokens, cost)
    SELECT 'acme', (now() AT TIME ZONE 'UTC')::date - days, operation, tokens, cost
    FROM generate_series(0, 9) AS days,
        (VALUES ('search', 1000, 0.25), ('answer', 500, 1.5)) AS used (operation, tokens, cost);
"""
STALE = """
    INSERT INTO search_statistics
    VALUES ('acme', date_trunc('hour', now()), 'redis', 'audit_other', 0, 2)
"""


@pytest.fixture(scope="module")
async def worker(module_settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    changes = {"cache_audit_per_mille": 1_000, "confidence_min": 0.99}
    async with running(module_settings.model_copy(update=changes), embedder) as started:
        yield started


@pytest.fixture
async def gateway(worker: Gateway) -> Gateway:
    return await worker.with_new_tenant()


@pytest.fixture
async def filled(gateway: Gateway, module_settings: Settings) -> None:
    """Ten days of statistics of the test's tenant."""
    await insert(FILL, gateway, module_settings)


async def insert(statement: str, gateway: Gateway, settings: Settings) -> None:
    assert settings.database_url is not None
    await run_sql(
        settings.database_url.get_secret_value(), statement.replace("acme", gateway.tenant_name)
    )


async def test_it_tells_what_was_asked_and_how_it_was_answered(
    console: Console, filled: None, admin: Caller
) -> None:
    await console.open(admin.key, "#/insight")
    searches = console.page.get_by_role("region", name="Searches")

    await expect(searches.locator(".stats")).to_contain_text("700")
    await expect(searches.locator(".stats")).to_contain_text("90 %")
    await expect(searches.locator(".stats")).to_contain_text("3.0 %")
    await expect(searches.locator(".stats")).to_contain_text("2.0 %")
    await searches.get_by_text("Answers by what gave them as a table").click()
    rows = searches.locator("tbody").first.locator("tr")
    await expect(rows).to_have_count(7)
    await expect(rows.last).to_contain_text(f"{today():%Y-%m-%d}")
    await expect(rows.last).to_contain_text("90")
    latency = console.page.get_by_role("region", name="Latency")
    await expect(latency.locator("tbody tr").last).to_have_text("all7002 ms20 ms500 ms")
    await expect(console.page.get_by_role("region", name="Audits")).to_contain_text(
        "0 stale answers"
    )
    await expect(console.page.get_by_role("region", name="Cost")).to_contain_text("without a limit")


@pytest.mark.thorough
async def test_the_time_is_chosen(console: Console, filled: None, admin: Caller) -> None:
    await console.open(admin.key, "#/insight")
    stats = console.page.get_by_role("region", name="Searches").locator(".stats")

    await console.page.get_by_label("Time").select_option("30 days")
    await expect(stats).to_contain_text("1,000")
    await console.page.get_by_label("Time").select_option("today")
    await expect(stats).to_contain_text("100")
    await console.page.get_by_label("Time").select_option("from … to …")
    day = f"{today() - timedelta(days=3):%Y-%m-%d}"
    await console.page.get_by_label("From").fill(f"{today() - timedelta(days=4):%Y-%m-%d}")
    await console.page.get_by_label("To", exact=True).fill(day)
    await console.page.get_by_role("button", name="Show").click()

    await expect(stats).to_contain_text("200")
    await console.page.get_by_label("From").fill("2024-01-01")
    await console.page.get_by_role("button", name="Show").click()
    await expect(console.page.get_by_role("alert")).to_contain_text("within 92 days")


@pytest.mark.thorough
async def test_a_slow_answer_does_not_replace_that_of_a_later_choice(
    console: Console, filled: None, admin: Caller
) -> None:
    held: list[Route] = []

    async def hold_first(route: Route) -> None:
        if held:
            await route.continue_()
        held.append(route)

    await console.page.route("**/v1/search/statistics?*", hold_first)
    await console.open(admin.key, "#/insight")
    stats = console.page.get_by_role("region", name="Searches").locator(".stats")
    await console.page.get_by_label("Time").select_option("30 days")
    await expect(stats).to_contain_text("1,000")
    async with console.page.expect_response("**/v1/search/statistics?*"):
        await held[0].continue_()
    await console.settle()

    await expect(stats).to_contain_text("1,000")


async def test_an_answer_that_was_stale_is_told_in_red(
    console: Console, gateway: Gateway, module_settings: Settings, filled: None, admin: Caller
) -> None:
    await insert(STALE, gateway, module_settings)
    await console.open(admin.key, "#/insight")
    audits = console.page.get_by_role("region", name="Audits")

    await expect(audits.locator(".note.bad")).to_contain_text("2 of 352 audited answers were stale")
    await expect(audits).not_to_contain_text("0 stale answers")


@pytest.mark.thorough
async def test_a_search_is_in_it_at_once_and_so_is_its_question(
    console: Console, admin: Caller, ana: Caller
) -> None:
    await console.open(admin.key, "#/insight")
    await expect(console.page.locator("main")).to_contain_text("No searches")
    await expect(console.page.locator("main")).to_contain_text("There is no open question")

    await ana.put("leave", "Everybody gets 25 days of annual leave.", readers=["tenant"])
    await ana.search("who <b>keeps</b> the keys?")
    await console.go("Search")
    await console.go("Insight")

    await expect(console.page.get_by_role("region", name="Searches")).to_contain_text("Answers1")
    await expect(console.page.get_by_role("region", name="Audits")).to_contain_text(
        "Cached answers that were computed again, and were equal: 1."
    )


@pytest.mark.thorough
async def test_questions_are_recorded_listed_and_deleted_as_the_admin_wants(
    console: Console, admin: Caller, ana: Caller
) -> None:
    page = console.page
    asked = page.get_by_role("region", name="Asked questions")
    await ana.search("<b>who</b> is ill?")
    await console.open(admin.key, "#/insight")

    await expect(asked).to_contain_text("Questions are not recorded")
    await asked.get_by_role("button", name="Record questions").click()
    await expect(asked).to_contain_text("No question has come twice in this time")
    for question in ("<b>who</b> is ill?", "days of leave", "Days of leave?", "days of  leave") * 2:
        await ana.search(question)
    await page.get_by_label("Time").select_option("today")
    rows = asked.locator("tbody tr")
    await expect(rows).to_have_count(2)
    await expect(rows.first).to_contain_text("days of leave")
    await expect(rows.first.locator(".number").first).to_have_text("6")
    await expect(rows.last).to_contain_text("<b>who</b> is ill?")
    assert await console.violations() == []

    await rows.last.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(rows).to_have_count(1)
    await asked.get_by_role("button", name="Stop and delete them").click()
    await page.get_by_role("dialog").get_by_role("button", name="Stop and delete").click()
    await expect(asked).to_contain_text("Questions are not recorded")


@pytest.mark.sampled("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(
    console: Console, filled: None, admin: Caller, scheme: str
) -> None:
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(admin.key, "#/insight")
    await console.settle()
    for summary in await console.page.locator("summary").all():
        await summary.click()
    assert await console.violations() == []

    await console.page.set_viewport_size(PHONE)
    assert await console.violations() == []
    width = await console.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
