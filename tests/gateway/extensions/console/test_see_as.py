"""Seeing as somebody else in the playground: side by side, for admins, and in the audit log."""

import pytest
from playwright.async_api import expect

from tests.gateway.extensions.console.browser import Console
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio


async def see_as(console: Console, subject: str, groups: str = "") -> None:
    await console.page.get_by_text("See as somebody else").click()
    await console.page.get_by_label("Subject").fill(subject)
    await console.page.get_by_label("Groups").fill(groups)
    await console.page.get_by_label("Question", exact=True).fill("annual leave")
    await console.page.get_by_role("button", name="Search", exact=True).click()


async def test_both_answers_stand_side_by_side_and_their_address_alone_makes_no_look(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("own", "Annual leave of Ana.")
    await ana.put("all", "Annual leave of all.", readers=["tenant"])
    await console.open(admin.key)

    await see_as(console, "ana")

    mine = console.page.get_by_role("region", name="As you, ada", exact=True)
    hers = console.page.get_by_role("region", name="As ana", exact=True)
    await expect(mine.locator(".hit")).to_have_count(1)
    await expect(hers.locator(".hit")).to_have_count(2)
    await expect(hers).to_contain_text("This look is in the audit log")
    lacking = console.page.locator(".hit", has_text="not in the other answer")
    await expect(lacking).to_have_count(1)
    await expect(lacking).to_contain_text("Annual leave of Ana.")
    rows = (await admin.call("GET", "/v1/audit/log")).json()["rows"]
    looks = [row for row in rows if row["action"] == "search.as"]
    assert [(row["subject"], row["target"]) for row in looks] == [("ada", "ana")]
    assert await console.violations() == []

    address = console.page.url.partition("/console")[2]
    await console.page.goto("about:blank")
    await console.open(admin.key, address)
    await expect(console.page.get_by_label("Subject")).to_have_value("ana")
    await expect(console.page.locator(".empty")).to_contain_text("Ask a question")
    rows = (await admin.call("GET", "/v1/audit/log")).json()["rows"]
    assert [row["action"] for row in rows].count("search.as") == 1


@pytest.mark.thorough
async def test_a_group_alone_can_be_looked_as_and_what_is_no_subject_is_told(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("sales", "Annual leave in sales.", readers=["group:sales"])
    await console.open(admin.key)
    page = console.page

    await see_as(console, "", "sales")
    theirs = page.get_by_role("region", name="As group sales", exact=True)
    await expect(theirs.locator(".hit")).to_have_count(1)
    await page.get_by_label("Subject").fill("a b")
    await page.get_by_role("button", name="Search", exact=True).click()

    await expect(page.get_by_role("alert")).to_contain_text("without whitespace")
    mine = page.get_by_role("region", name="As you, ada", exact=True)
    await expect(mine).to_contain_text("No hit")
