"""The page of FAQs: what two tabs, an import and a state do to them, and who finds them."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.async_api import Browser, expect

from tests.gateway.extensions.console.browser import DESKTOP, PHONE, Console, tab
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

FAQ = {"question": "How many days of leave?", "answer": "25 days a year.", "category": "people"}
ID = "managed-faqs/leave"


async def put(admin: Caller, faq_id: str = "leave", **fields: Any) -> None:
    answer = await admin.call("PUT", f"/v1/faqs/{faq_id}", json={**FAQ, **fields})
    assert answer.status_code == 200, answer.text


async def get(admin: Caller, faq_id: str = "leave") -> dict[str, Any]:
    faq: dict[str, Any] = (await admin.call("GET", f"/v1/faqs/{faq_id}")).json()
    return faq


async def test_a_new_one_is_listed_and_the_next_search_finds_it(
    console: Console, admin: Caller, ana: Caller
) -> None:
    await console.open(admin.key, "#/faqs")
    page = console.page
    await expect(page.locator("main")).to_contain_text("No FAQs")

    await page.get_by_role("button", name="New FAQ").click()
    await page.get_by_label("Question").fill(FAQ["question"])
    await page.get_by_label("Answer").fill("<script>alert(1)</script> 25 days")
    await page.get_by_label("Category of the FAQ").fill("people")
    await page.get_by_label("Keywords").fill("holiday, vacation")
    await page.get_by_label("Priority").fill("7")
    await page.get_by_role("button", name="Save").click()

    await expect(page.locator("tbody")).to_contain_text("<script>alert(1)</script> 25 days")
    await expect(page.get_by_label("Category", exact=True)).to_contain_text("people (1)")
    listed = (await admin.call("GET", "/v1/faqs")).json()["faqs"]
    assert (listed[0]["keywords"], listed[0]["priority"]) == (["holiday", "vacation"], 7)
    assert await ana.found("vacation") == [listed[0]["document_id"]]


@pytest.mark.thorough
async def test_it_is_deactivated_activated_with_all_that_it_holds_and_deleted(
    console: Console, admin: Caller, ana: Caller
) -> None:
    await put(admin, keywords=["holiday"], priority=3, readers=["user:ana"])
    before = await get(admin)
    await console.open(admin.key, "#/faqs")
    row = console.page.locator("tbody tr")

    await console.page.get_by_role("button", name="Deactivate").click()
    await expect(row).to_contain_text("inactive")
    assert await ana.found("days of leave") == []
    assert await get(admin) == {**before, "active": False}
    await console.page.get_by_role("button", name="Activate How").click()
    await expect(row).not_to_contain_text("inactive")

    assert await ana.found("days of leave") == [ID]
    assert await get(admin) == before
    await console.page.get_by_role("button", name="Delete").click()
    await console.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(console.page.locator("main")).to_contain_text("No FAQs")
    assert await ana.found("days of leave") == []


@pytest.mark.thorough
async def test_the_list_goes_by_category_and_state(console: Console, admin: Caller) -> None:
    await put(admin, "a", question="Of people?")
    await put(admin, "b", question="Of travel?", category="travel & co", active=False)
    await put(admin, "c", question="Of nothing?", category=None)
    await console.open(admin.key, "#/faqs")
    rows = console.page.locator("tbody tr")
    await expect(rows).to_have_count(3)

    category = console.page.get_by_label("Category", exact=True)
    await category.select_option(label="travel & co (1)")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Of travel?")
    await category.select_option(label="without a category (1)")
    await expect(rows).to_contain_text("Of nothing?")
    await category.select_option(label="all")
    await console.page.get_by_role("button", name="Inactive", exact=True).click()

    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Of travel?")


@pytest.mark.thorough
async def test_two_tabs_that_edit_one_faq_lose_nothing(
    console: Console, browser: Browser, admin: Caller
) -> None:
    await put(admin)
    context = await browser.new_context(viewport=DESKTOP)
    other = await tab(context, console.url)
    for each in (console, other):
        await each.open(admin.key, "#/faqs")
        await each.page.get_by_role("button", name="Edit").click()
        await expect(each.page.get_by_label("Answer")).to_have_value(FAQ["answer"])

    await other.page.get_by_label("Answer").fill("26 days.")
    await other.page.get_by_role("button", name="Save").click()
    await expect(other.page.locator("tbody")).to_contain_text("26 days.")
    await console.page.get_by_label("Answer").fill("27 days.")
    await console.page.get_by_role("button", name="Save", exact=True).click()

    alert = console.page.get_by_role("alert")
    await expect(alert).to_contain_text("Somebody else has changed this FAQ")
    await expect(alert).to_contain_text("26 days.")
    await expect(console.page.get_by_label("Answer", exact=True)).to_have_value("27 days.")
    assert (await get(admin))["answer"] == "26 days."
    assert await console.violations() == []
    await console.page.get_by_role("button", name="Save mine over it").click()
    await expect(console.page.locator("tbody")).to_contain_text("27 days.")
    assert (await get(admin))["answer"] == "27 days."
    assert other.errors == []
    await context.close()


@pytest.mark.thorough
async def test_leaving_an_editor_asks_before_what_was_typed_is_gone(
    console: Console, admin: Caller
) -> None:
    await put(admin)
    await console.open(admin.key, "#/faqs")
    page, dialog = console.page, console.page.get_by_role("dialog")
    await page.get_by_role("button", name="Edit").click()
    answer = page.get_by_label("Answer", exact=True)
    await answer.fill("27 days.")

    await page.get_by_role("link", name="Documents", exact=True).click()
    await expect(dialog).to_contain_text("not saved")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(answer).to_have_value("27 days.")
    assert page.url.endswith("#/faqs")
    await page.get_by_role("link", name="Documents", exact=True).click()
    await dialog.get_by_role("button", name="Leave").click()
    await page.get_by_role("heading", level=1, name="Documents").wait_for()

    await console.go("FAQs")  # nothing is asked where nothing was typed
    await page.get_by_role("button", name="Edit").click()
    await expect(answer).to_have_value(FAQ["answer"])
    await answer.fill("28 days.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("tbody")).to_contain_text("28 days.")
    await console.go("Documents")


@pytest.mark.thorough
async def test_a_faq_that_was_deleted_meanwhile_can_be_saved_anew(
    console: Console, admin: Caller
) -> None:
    await put(admin)
    await console.open(admin.key, "#/faqs")
    await console.page.get_by_role("button", name="Edit").click()
    await console.page.get_by_label("Answer").fill("27 days.")

    await admin.call("DELETE", "/v1/faqs/leave")
    await console.page.get_by_role("button", name="Save").click()
    await expect(console.page.get_by_role("alert")).to_contain_text("has deleted this FAQ")
    await console.page.get_by_role("button", name="Save mine as a new one").click()

    await expect(console.page.locator("tbody")).to_contain_text("27 days.")
    assert (await get(admin))["answer"] == "27 days."


@pytest.mark.thorough
async def test_an_export_is_imported_and_refused_lines_are_named(
    console: Console, gateway: Gateway, admin: Caller, tmp_path: Path
) -> None:
    await put(admin)
    await console.open(admin.key, "#/faqs")
    async with console.page.expect_download() as started:
        await console.page.get_by_role("button", name="Export", exact=True).click()
    file = tmp_path / "faqs.jsonl"
    await (await started.value).save_as(file)
    exported = file.read_bytes()
    assert orjson.loads(exported)["question"] == FAQ["question"]

    file.write_bytes(exported.replace(b"25 days", b"30 days") + b'{"question": "Only this"}\n')
    await console.page.get_by_role("button", name="Import", exact=True).click()
    await console.page.get_by_label("File").set_input_files(file)
    await console.page.get_by_role("button", name="Import the file").click()

    section = console.page.get_by_role("region", name="Import")
    await expect(section).to_contain_text("1 FAQs are written, 1 lines are refused")
    await expect(section.locator("tbody tr")).to_contain_text("answer: Field required")
    assert (await get(admin))["answer"] == "30 days a year."
    assert await console.violations() == []


@pytest.mark.thorough
async def test_an_export_as_csv_is_imported_and_refused_rows_are_named(
    console: Console, admin: Caller, tmp_path: Path
) -> None:
    await put(admin)
    await console.open(admin.key, "#/faqs")
    async with console.page.expect_download() as started:
        await console.page.get_by_role("button", name="Export as CSV").click()
    file = tmp_path / "faqs.csv"
    await (await started.value).save_as(file)
    exported = file.read_bytes()
    assert exported.startswith(b'\xef\xbb\xbf"id","question"')

    file.write_bytes(exported.replace(b"25 days", b"30 days") + b"x,Only this?\r\n")
    await console.page.get_by_role("button", name="Import", exact=True).click()
    await console.page.get_by_label("File").set_input_files(file)
    await console.page.get_by_role("button", name="Import the file").click()

    section = console.page.get_by_role("region", name="Import")
    await expect(section).to_contain_text("1 FAQs are written, 1 lines are refused")
    await expect(section.locator("tbody tr")).to_contain_text("answer: Field required")
    assert (await get(admin))["answer"] == "30 days a year."


@pytest.mark.thorough
async def test_a_file_is_known_by_its_content_and_a_guessed_encoding_is_told(
    console: Console, admin: Caller, tmp_path: Path
) -> None:
    excel, lines = tmp_path / "fragen.txt", tmp_path / "faqs.csv"
    excel.write_bytes("sep=;\r\nquestion;answer\r\nWie viel?;Für 5 €\r\n".encode("cp1252"))
    lines.write_bytes(b'\xef\xbb\xbf  {"question": "How much?", "answer": "5"}\n')
    await console.open(admin.key, "#/faqs")
    await console.page.get_by_role("button", name="Import", exact=True).click()
    section = console.page.get_by_role("region", name="Import")

    await console.page.get_by_label("File").set_input_files(excel)
    await console.page.get_by_role("button", name="Import the file").click()
    await expect(section.locator(".note.warn")).to_contain_text("cp1252")
    await expect(section.locator(".note.warn")).to_contain_text("Lines 3")
    assert await console.violations() == []
    await console.page.get_by_label("File").set_input_files(lines)
    await console.page.get_by_role("button", name="Import the file").click()

    await expect(section.locator(".note.good")).to_contain_text("1 FAQs are written")
    await expect(section.locator(".note.warn")).to_have_count(0)
    await expect(console.page.locator("tbody")).to_contain_text("Für 5 €")
    await expect(console.page.locator("tbody")).to_contain_text("How much?")


@pytest.mark.thorough
async def test_a_list_in_json_is_imported(console: Console, admin: Caller, tmp_path: Path) -> None:
    file = tmp_path / "faqs.json"
    file.write_bytes(orjson.dumps([{**FAQ, "id": "a"}, {**FAQ, "id": "b"}]))
    await console.open(admin.key, "#/faqs")
    await console.page.get_by_role("button", name="Import", exact=True).click()

    await console.page.get_by_label("File").set_input_files(file)
    await console.page.get_by_role("button", name="Import the file").click()

    await expect(console.page.locator("main")).to_contain_text("2 FAQs are written")
    await expect(console.page.locator("tbody tr")).to_have_count(2)


@pytest.mark.sampled("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(console: Console, admin: Caller, scheme: str) -> None:
    await put(admin)
    await put(admin, "off", active=False, readers=["group:people"])
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(admin.key, "#/faqs")
    await console.page.get_by_role("button", name="New FAQ").click()
    assert await console.violations() == []

    await console.page.set_viewport_size(PHONE)
    assert await console.violations() == []
    width = await console.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
