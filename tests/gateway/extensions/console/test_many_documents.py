"""The documents page with many documents: its pages, and what is done to several at once."""

from collections.abc import Sequence

import pytest
from playwright.async_api import expect

from tests.conftest import run_sql
from tests.gateway.extensions.console.browser import DESKTOP, PHONE, Console
from tests.gateway.extensions.console.documents import ids, put_all, stored
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

# Copies of one document, without chunks. Triggers and foreign keys would check each row.
_COPIES = """
    SET session_replication_role = replica;
    INSERT INTO documents (
        tenant, document_id, source, title, uri, language, tags, metadata, owner, readers,
        allowed_tokens, audience_key
    )
    SELECT
        tenant, 'files/' || lpad(number::text, 5, '0'), source, 'File ' || number, uri, language,
        tags, metadata, owner, readers, allowed_tokens, audience_key
    FROM documents, generate_series(1, 10000) AS number
    WHERE tenant = 'acme' AND document_id = 'copied';
    INSERT INTO document_texts (document_key, text)
    SELECT document_key, 'The text of ' || title FROM documents WHERE title LIKE 'File %';
"""


@pytest.mark.isolated
@pytest.mark.thorough
async def test_ten_thousand_documents_are_listed_narrowed_and_opened_a_page_at_a_time(
    console: Console, gateway: Gateway, database_url: str, ana: Caller
) -> None:
    eve = await gateway.caller("eve")
    await ana.put("copied", "Text.", readers=[])
    await ana.put("shared", "Text.", readers=["user:eve"])
    await run_sql(database_url, _COPIES)
    page, rows = console.page, console.page.locator("tbody tr")
    next_page = page.get_by_role("button", name="Next page")

    await console.open(ana.key, "#/documents")
    await expect(rows).to_have_count(50)
    await expect(rows.first).to_contain_text("copied")
    await next_page.click()
    await expect(rows.first).to_contain_text("files/00050")
    await expect(rows).to_have_count(50)  # no other page stays in the browser
    await page.get_by_role("button", name="Previous page").click()
    await expect(rows.first).to_contain_text("copied")

    await page.get_by_label("Identifier begins with").fill("files/099")
    await page.get_by_role("button", name="Filter").click()
    await expect(rows.first).to_contain_text("files/09900")
    await next_page.click()
    await expect(rows.first).to_contain_text("files/09950")
    await expect(next_page).to_have_count(0)
    await page.get_by_role("link", name="File 9999").click()
    await expect(page.locator(".document-text")).to_contain_text("The text of File 9999")

    await page.get_by_role("button", name="Log out").click()
    await console.log_in(eve.key)
    await console.go("Documents")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("shared")


async def choose(console: Console, names: Sequence[str]) -> None:
    for name in names:
        await console.page.get_by_label(f"Choose {name}", exact=True).check()


async def readers_of(caller: Caller, names: Sequence[str]) -> list[list[str]]:
    return [sorted((await stored(caller, name))["readers"]) for name in names]


async def test_several_are_chosen_and_deleted_and_no_other(console: Console, ana: Caller) -> None:
    """What fails is told by row, and pressing again tries that alone."""
    await put_all(ana, [{"document_id": name, "text": "20 days"} for name in "abcd"])
    await console.open(ana.key, "#/documents")
    page = console.page

    await page.get_by_label("Choose all that are shown").check()
    await page.get_by_label("Choose b").uncheck()
    await page.get_by_role("button", name="Document", exact=True).click()  # orders the rows
    await expect(page.get_by_label("Choose a", exact=True)).to_be_checked()
    await ana.call("DELETE", "/v1/documents/a")  # in another tab, meanwhile
    assert await ids(ana) == ["b", "c", "d"]
    await page.get_by_role("button", name="Delete 3").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("a, c, d: removed")
    await dialog.get_by_role("button", name="Delete 3 documents").click()

    await expect(dialog.get_by_role("alert")).to_contain_text("1 of 3 failed")
    await expect(dialog.get_by_role("alert")).to_contain_text("The other 2 are done.")
    await expect(dialog.get_by_role("alert").get_by_role("listitem")).to_contain_text(
        "does not exist"
    )
    await expect(dialog.get_by_role("alert").locator("code")).to_have_text(["a"])
    await expect(page.locator("tbody tr")).to_have_count(1)
    assert await ids(ana) == ["b"]
    await ana.put("a", "20 days")
    await dialog.get_by_role("button", name="Delete 3 documents").click()
    await expect(dialog).to_have_count(0)
    assert await ids(ana) == ["b"]


async def test_several_get_and_lose_readers_and_undo_gives_each_back_its_own(
    console: Console, ana: Caller, ben: Caller
) -> None:
    readers = {"a": ["tenant"], "b": ["tenant", "user:zoe"], "c": ["group:hr"], "d": ["tenant"]}
    texts = [
        {"document_id": name, "text": "20 days", "readers": of} for name, of in readers.items()
    ]
    await put_all(ana, texts)
    await console.open(ana.key, "#/documents")
    page, dialog = console.page, console.page.get_by_role("dialog")
    await choose(console, "abc")

    await page.get_by_role("button", name="Share 3").click()
    await expect(dialog.get_by_label("Add readers")).to_be_focused()
    await expect(dialog.get_by_label("tenant: 2 of 3")).not_to_be_checked()
    await dialog.get_by_role("button", name="Change 3 documents").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("Nothing to change")
    await dialog.get_by_label("Add readers").fill("everyone")
    await dialog.get_by_role("button", name="Change 3 documents").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("must be user:ID")
    assert await readers_of(ana, "abcd") == [sorted(each) for each in readers.values()]
    await dialog.get_by_label("Add readers").fill("user:Ben")  # stored as user:ben
    await dialog.get_by_label("tenant: 2 of 3").check()
    await dialog.get_by_role("button", name="Change 3 documents").click()

    await expect(page.locator(".status")).to_contain_text("The readers of 3 documents are changed")
    assert await readers_of(ana, "abc") == [
        ["user:ben"],
        ["user:ben", "user:zoe"],
        ["group:hr", "user:ben"],
    ]
    assert (await stored(ana, "d"))["readers"] == ["tenant"]
    assert await ids(ben) == ["a", "b", "c", "d"]
    await ana.share("a", "user:ben", "group:board")  # meanwhile, in another tab
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".status")).to_contain_text("The readers are as before")
    expected = [["group:board", "tenant"], ["tenant", "user:zoe"], ["group:hr"], ["tenant"]]
    assert await readers_of(ana, "abcd") == expected


async def test_a_row_that_may_not_be_shared_is_told_and_the_others_are_shared(
    console: Console, ana: Caller, admin: Caller
) -> None:
    long_reader = f"user:{'u' * 128}"
    text = {"text": "20 days", "readers": ["tenant", long_reader, "group:الموارد"]}
    names = ["bens", *(f"own-{number:02}" for number in range(60))]
    await put_all(ana, [{**text, "document_id": name} for name in names])
    await console.open(ana.key, "#/documents")
    page, dialog = console.page, console.page.get_by_role("dialog")

    await page.get_by_label("Choose all that are shown").check()
    await page.get_by_role("button", name="Share 50").click()
    given = await admin.call("PATCH", "/v1/documents/bens/access", json={"owner": "ben"})
    assert given.status_code == 200, given.text  # after the list was read
    await dialog.get_by_label("tenant: 50 of 50").check()
    await dialog.get_by_role("button", name="Change 50 documents").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("1 of 50 failed")
    await expect(dialog.get_by_role("alert").locator("code")).to_have_text(["bens"])
    await expect(page.locator(".status")).to_contain_text("The readers of 49 documents are changed")
    assert "tenant" in (await stored(ana, "bens"))["readers"]
    assert "tenant" not in (await stored(ana, "own-00"))["readers"]
    assert "tenant" in (await stored(ana, "own-59"))["readers"]  # of the next page

    assert await console.violations() == []
    for size in (PHONE, DESKTOP):
        await page.set_viewport_size(size)
        box = await dialog.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert await dialog.evaluate("each => each.scrollWidth <= each.clientWidth")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_label("Choose bens")).to_be_checked()
    await page.set_viewport_size(PHONE)
    await page.get_by_label("Choose all that are shown").uncheck()
    await expect(page.get_by_label("Choose bens")).not_to_be_checked()
    assert await console.violations() == []
    left = "node => node.getBoundingClientRect().left"
    row = page.locator("tbody tr").first
    assert await row.get_by_role("checkbox").evaluate(left) == await row.locator("th").evaluate(
        left
    )


async def test_an_admin_who_no_longer_reads_them_can_undo_it(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await put_all(ana, [{"document_id": n, "text": "Text.", "readers": ["tenant"]} for n in "ab"])
    await console.open(admin.key, "#/documents")
    page, dialog = console.page, console.page.get_by_role("dialog")
    await page.get_by_label("Choose all that are shown").check()
    await page.get_by_role("button", name="Share 2").click()
    await dialog.get_by_label("tenant: 2 of 2").check()
    await dialog.get_by_role("button", name="Change 2 documents").click()
    await expect(page.locator(".empty")).to_contain_text("No documents")

    await page.get_by_role("button", name="Undo").click()

    await expect(page.locator("tbody tr")).to_have_count(2)
    assert await readers_of(ana, "ab") == [["tenant"], ["tenant"]]
