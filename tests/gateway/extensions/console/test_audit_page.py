"""The page of the audit log: who saw what, as whom, and who changed what."""

import pytest
from playwright.async_api import Route, expect

from tests.gateway.extensions.console.browser import PHONE, Console
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

SCRIPT = "<img src=x onerror=\"document.title='stolen'\">"


@pytest.mark.thorough
async def test_each_row_tells_who_did_what_to_which_documents(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    await admin.call(
        "POST", "/v1/search/as", json={"subject": "ana", "search": {"query": "annual leave"}}
    )
    await ana.call("GET", "/v1/keys")  # refused, which is logged some time later
    logged = (await admin.call("GET", "/v1/audit/log")).json()["rows"]

    await console.open(admin.key, "#/audit")

    rows = console.page.locator("tbody tr")
    look = rows.filter(has_text="search as")
    await expect(look).to_contain_text("ada")
    await expect(look).to_contain_text("ana")
    await expect(look.get_by_role("link", name="leave")).to_have_attribute(
        "href", "#/documents/leave"
    )
    await expect(rows.filter(has_text="documents write")).to_contain_text("leave added")
    assert logged
    for row in logged:
        assert row["hash"][:12] in await console.text()


@pytest.mark.thorough
async def test_the_filter_has_an_address(console: Console, ana: Caller, admin: Caller) -> None:
    await ana.put("leave", "Annual leave.")
    await ana.put("lamps", "Lamps.")
    await console.open(admin.key, "#/audit")
    rows = console.page.locator("tbody tr")

    await console.page.get_by_label("Document").fill("lamps")
    await console.page.get_by_role("button", name="Filter").click()
    await expect(rows).to_have_count(1)
    await console.page.get_by_label("Who").fill("nobody")
    await console.page.get_by_role("button", name="Filter").click()
    await expect(console.page.locator(".empty")).to_contain_text("No rows")
    await console.page.go_back()

    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("lamps added")
    await expect(console.page.get_by_label("Who")).to_have_value("")


@pytest.mark.sampled("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_names_are_text_and_axe_finds_nothing(
    console: Console, ana: Caller, admin: Caller, scheme: str
) -> None:
    for name in (SCRIPT.replace("/", ""), "x" * 200, "ملف"):
        await ana.put(name, "Annual leave.")
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(admin.key, "#/audit")

    await expect(console.page.locator("tbody")).to_contain_text(SCRIPT[:20])
    assert await console.page.title() == "Audit log · Nearhit console"
    assert await console.violations() == []
    wider = await console.page.locator(".scroll").evaluate("it => it.scrollWidth - it.clientWidth")
    assert wider <= 0
    heights = "all => all.map((each) => each.offsetHeight)"
    filters = console.page.get_by_role("search").locator("input, button")
    assert len(set(await filters.evaluate_all(heights))) == 1
    await console.page.set_viewport_size(PHONE)
    width = await console.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


async def test_long_details_are_folded_and_not_cut_off(console: Console, admin: Caller) -> None:
    """The row is one of many passages, which a log has only after some time."""
    name = "x" * 200
    row = {
        "number": 1, "at": "2025-01-01T00:00:00Z", "key_id": "key_1", "subject": "ana",
        "action": "documents.read", "target": name, "hash": "a" * 64,
        "details": {"documents": [name], "chunks": {name: [1, 2]}, "answers": 1},
    }  # fmt: skip
    page = console.page
    listed = {"rows": [row], "cursor": None}
    await page.route("**/v1/audit/log*", lambda route: route.fulfill(json=listed))
    await console.open(admin.key, "#/audit")

    await expect(page.locator("tbody")).to_contain_text(f'chunks: {{"{name}"')
    await expect(page.locator("td details")).not_to_have_attribute("open", "")
    wider = await page.locator(".scroll").evaluate("it => it.scrollWidth - it.clientWidth")
    assert wider <= 0
    assert await console.violations() == []


async def test_the_log_is_verified_in_parts_and_what_is_broken_is_told(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    page, told = console.page, console.page.get_by_role("status", name="Verification")
    await console.open(admin.key, "#/audit")
    await page.get_by_role("button", name="Verify the log").click()
    await expect(told).to_contain_text("Verified up to row")
    await expect(told).to_contain_text("none is missing")
    line = await told.locator("code").inner_text()
    assert await console.violations() == []

    asked: list[str] = []
    hashed = "a" * 64
    parts = [
        {"verified": f"5000:{hashed}", "last": 9000, "fault": None},
        {"verified": f"7000:{hashed}", "last": 9000, "fault": "row 7001 is missing"},
    ]

    async def answer(route: Route) -> None:
        asked.append(route.request.url.partition("?")[2])
        await route.fulfill(json=parts[len(asked) - 1])

    await page.route("**/v1/audit/verification*", answer)
    await page.get_by_text("Since a line that was kept").click()
    await page.get_by_label("Number and hash").fill(f"acme:{line}")
    await page.get_by_role("button", name="Verify the log").click()
    await expect(told).to_contain_text("Verified up to row 7,000 of 9,000: row 7001 is missing")
    assert asked == [f"after={each.replace(':', '%3A')}" for each in (line, f"5000:{hashed}")]
    assert await console.violations() == []


async def test_a_line_that_the_log_no_longer_has_is_told(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    await console.open(admin.key, "#/audit")
    await console.page.get_by_text("Since a line that was kept").click()
    await console.page.get_by_label("Number and hash").fill(f"900:{'a' * 64}")
    await console.page.get_by_role("button", name="Verify the log").click()

    told = console.page.get_by_role("status", name="Verification")
    await expect(told).to_contain_text("The log is not as it was written")
    await expect(told).to_contain_text("row 900 of the kept head is missing")
    await console.page.get_by_label("Number and hash").fill("a line")
    await console.page.get_by_role("button", name="Verify the log").click()
    await expect(console.page.get_by_role("alert")).to_contain_text("Number and hash must be")
