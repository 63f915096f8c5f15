"""The documents page: listing, reading, sharing, editing by two, deleting."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.console.browser import DESKTOP, PHONE, Console, tab
from tests.gateway.extensions.console.documents import ids, put_all, stored
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

SCRIPT = "<script>document.title = 'stolen'</script><img src=x onerror=\"document.title='stolen'\">"


@pytest.mark.thorough
async def test_a_long_list_is_narrowed_by_what_identifiers_begin_with_tag_language_and_source(
    console: Console, ana: Caller, admin: Caller
) -> None:
    document = {"text": "Text.", "readers": ["tenant"]}
    old = [{**document, "document_id": f"hr/{number:02}", "tags": ["old"]} for number in range(55)]
    new = {**document, "document_id": "it/1", "tags": ["new"], "language": "pt"}
    wiki = {**document, "document_id": "hr/98", "source": "wiki"}
    await put_all(admin, [*old, {**document, "document_id": "hr/99", "tags": ["new"]}, new, wiki])
    await console.open(ana.key, "#/documents")
    page, rows = console.page, console.page.locator("tbody tr")
    filter_button = page.get_by_role("button", name="Filter")

    await page.get_by_label("Identifier begins with").fill("hr/")
    await page.get_by_label("Tag").fill("old")
    await filter_button.click()
    await page.get_by_role("button", name="Next page").click()
    await expect(rows).to_have_count(5)  # the next page is of the same filter
    await page.get_by_label("Identifier begins with").fill("")
    await page.get_by_label("Tag").fill("new")
    await page.get_by_label("Language").fill("pt")
    await filter_button.click()
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("it/1")
    await page.get_by_label("Language").fill("de")
    await filter_button.click()

    await expect(page.locator(".empty")).to_contain_text("None that you may read")
    for label in ("Tag", "Language"):
        await page.get_by_label(label).fill("")
    await page.get_by_label("Source", exact=True).fill("wiki")
    await filter_button.click()
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("hr/98")


@pytest.mark.slow
async def test_a_writer_ratifies_what_an_agent_wrote_and_withdraws_that(
    console: Console, ana: Caller
) -> None:
    made = await ana.call("POST", "/v1/tokens", json={"name": "agent"})
    await Caller(ana.client, made.json()["token"]).put("leave", "Annual leave.")
    await console.open(ana.key, "#/documents/leave")
    page = console.page
    await expect(page.locator(".facts")).to_contain_text("an agent for ana")
    await expect(page.get_by_text("a claim: nobody stands behind it")).to_be_visible()

    await page.get_by_role("button", name="Ratify").click()
    await expect(page.get_by_text("ratified by ana")).to_be_visible()
    assert (await stored(ana, "leave"))["provenance"]["trust"] == "vouched"

    await page.get_by_role("button", name="Withdraw ratification").click()
    await expect(page.get_by_role("button", name="Ratify")).to_be_visible()
    assert (await stored(ana, "leave"))["provenance"]["trust"] == "claim"


@pytest.mark.thorough
async def test_any_identifier_has_an_address(console: Console, ana: Caller, admin: Caller) -> None:
    named = ("folder/a b.md", "100%", "é/ü?x=1&y#z", '"quoted"', ".x")
    document = {"text": "Annual leave.", "readers": ["tenant"]}
    await put_all(admin, [{**document, "document_id": each} for each in named])
    await console.open(ana.key)

    for document_id in named:
        await console.go("Documents")
        await console.page.get_by_role("link", name=document_id, exact=True).click()

        await expect(console.page.locator(".facts")).to_contain_text(document_id)
        await expect(console.page.locator(".document-text")).to_contain_text("Annual leave.")


async def test_a_document_shows_its_chunks_relations_and_dates(
    console: Console, ana: Caller
) -> None:
    rules = "## Rules\n\n" + "Everybody is kind to everybody. " * 100
    text = f"# Handbook\n\n{rules}\n\n## Leave\n\n25 days."
    await ana.put("handbook", text, relates_to={"part_of": ["all"]}, summaries="extract")
    read = {"params": {"chunks": "true"}}
    chunks = (await ana.call("GET", "/v1/documents/handbook", **read)).json()["chunks"]
    await console.open(ana.key, "#/documents/handbook")
    page, part = console.page, console.page.get_by_role("region", name="Chunks")

    await expect(page.locator(".facts").get_by_role("link", name="all")).to_be_visible()
    await expect(page.locator(".facts time")).to_have_count(2)
    await part.get_by_text("where it is cut").click()
    await expect(part.locator("tbody tr")).to_have_count(len(chunks))
    await expect(part.locator("caption")).to_contain_text("Summaries: 1")
    last = part.locator("tbody tr").filter(has_text="## Leave")
    await expect(last.locator("td").first).to_have_text("Handbook")
    assert await console.violations() == []
    await last.get_by_role("link").click()

    await expect(page.locator(".document-text mark")).to_have_text(["Leave", "25 days."])
    await page.go_back()
    await expect(part.locator("tbody tr")).to_have_count(len(chunks))


async def test_an_admin_sees_how_often_each_chunk_was_found(
    console: Console, ana: Caller, admin: Caller
) -> None:
    lamps = "The keeper lights the lamps. " * 30
    text = f"# Lamps\n\n{lamps}\n\n# Ferry\n\nIt leaves at noon."
    await ana.put("leave", text, readers=["tenant"])
    (hit,) = (await admin.search("when does the ferry leave?", top_k=1)).json()["hits"]
    async with asyncio.timeout(60):
        while not (await admin.call("GET", "/v1/audit/chunks?document=leave")).json()["chunks"]:
            await asyncio.sleep(0.05)  # the log is written once a second

    await console.open(admin.key, "#/documents/leave?chunks=shown")

    found = console.page.locator("tbody tr").filter(has=console.page.locator(".piece"))
    await expect(found.filter(has_text="noon").locator("td").first).to_contain_text("1 time")
    await expect(found.filter(has_text="keeper").first.locator("td").first).to_have_text("never")
    await expect(console.page.locator(".facts")).to_contain_text("1 of 1 in the tenant")
    assert hit["text"].endswith("noon.")
    assert await console.violations() == []


async def test_a_script_in_a_document_is_text_and_its_address_is_no_link(
    console: Console, ana: Caller
) -> None:
    await ana.put("evil", SCRIPT, title=SCRIPT, uri="javascript:alert(1)", tags=[SCRIPT[:60]])

    await console.open(ana.key, "#/documents/evil")

    await expect(console.page.locator(".document-text")).to_contain_text("<script>")
    await expect(console.page.locator(".facts a")).to_have_count(0)
    assert await console.page.title() == "Documents · Nearhit console"


async def test_sharing_revoking_and_its_undoing_count_from_the_next_request_on(
    console: Console, ana: Caller, ben: Caller
) -> None:
    await ana.put("leave", "Annual leave.")
    await console.open(ana.key, "#/documents/leave")
    page = console.page

    await page.get_by_text("Share or change the owner").click()
    await page.get_by_label("Readers").fill("everyone")
    await page.get_by_role("button", name="Save readers").click()
    await expect(page.get_by_role("alert")).to_contain_text("must be user:ID")
    await expect(page.get_by_label("Readers")).to_have_attribute("aria-invalid", "true")
    await page.get_by_label("Readers").fill("user:ben\ngroup:board")
    await page.get_by_role("button", name="Save readers").click()
    await expect(page.locator(".chips")).to_contain_text("user:ben")
    assert await ben.found("annual leave") == ["leave"]
    await page.get_by_role("button", name="Revoke user:ben").click()
    await expect(page.locator(".status")).to_contain_text("user:ben no longer reads it")
    await expect(page.locator(".chips")).not_to_contain_text("user:ben")
    assert await ben.found("annual leave") == []
    assert (await stored(ana, "leave"))["readers"] == ["group:board"]
    await ana.call("PATCH", "/v1/documents/leave/access", json={"readers": ["group:hr"]})
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".chips")).to_contain_text("user:ben")

    assert (await stored(ana, "leave"))["readers"] == ["group:hr", "user:ben"]
    assert await ben.found("annual leave") == ["leave"]


@pytest.mark.thorough
async def test_a_passage_is_marked_if_it_is_there(console: Console, ana: Caller) -> None:
    """Also where a text has letters of two code units."""
    text = "\U0001f33b" * 300 + " Annual leave." + " More." * 900
    await ana.put("leave", text)
    await console.open(ana.key, "#/documents/leave?start=301&end=314")
    shown, mark = console.page.locator(".document-text"), console.page.locator("mark")
    await expect(mark).to_have_text("Annual leave.")
    await expect(mark).to_be_in_viewport()
    assert await shown.inner_text() == text

    nowhere = ("start=9&end=3", "start=0&end=99999", "start=x&end=", "end=4")
    for number, passage in enumerate(nowhere):
        await ana.put(f"{number}", f"Text {number}.")
        await console.page.goto(f"{console.url}/console#/documents/{number}?{passage}")
        await expect(shown).to_have_text(f"Text {number}.")
        await expect(mark).to_have_count(0)


async def test_a_list_that_is_filtered_has_an_address_for_each_of_its_pages(
    console: Console, ana: Caller, admin: Caller
) -> None:
    document = {"text": "Text.", "readers": ["tenant"]}
    many = [{**document, "document_id": f"hr/{number:02}"} for number in range(55)]
    await put_all(admin, [*many, {**document, "document_id": "it/1"}])
    await console.open(ana.key, "#/documents")
    page, rows = console.page, console.page.locator("tbody tr")
    await page.get_by_label("Identifier begins with").fill("hr/")
    await page.get_by_role("button", name="Filter").click()
    await page.get_by_role("button", name="Next page").click()
    await expect(rows).to_have_count(5)
    await expect(page.locator("caption")).to_have_text("5 of 55 documents")
    second = page.url

    await page.go_back()
    await expect(rows).to_have_count(50)
    await expect(page.get_by_label("Identifier begins with")).to_have_value("hr/")
    await page.goto("about:blank")
    await page.goto(second)
    await console.log_in(ana.key)
    await expect(rows).to_have_count(5)
    await page.get_by_role("button", name="First page").click()

    await expect(rows).to_have_count(50)


async def test_an_admin_learns_why_somebody_sees_it_or_not(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", "Annual leave.", readers=["group:sales", "user:ada"])
    await admin.call("PUT", "/v1/groups/sales/members/ben")
    await console.open(admin.key, "#/documents/leave")
    subject = console.page.get_by_label("Subject")
    region = console.page.get_by_role("region", name="Visibility")

    await subject.fill("ben")
    await subject.press("Enter")
    await expect(region).to_contain_text("ben can read it")
    await expect(region).to_contain_text("the subject is a member of sales")
    await subject.fill("eve")
    await subject.press("Enter")

    await expect(region).to_contain_text("eve cannot read it")
    await region.get_by_role("link", name="Who was shown it").click()
    await expect(console.page.get_by_role("searchbox", name="Document")).to_have_value("leave")
    await console.page.go_back()
    await expect(region).to_contain_text("eve cannot read it")
    await console.page.go_back()
    await expect(region).to_contain_text("ben can read it")


async def test_two_tabs_edit_one_document_and_nothing_is_lost(
    console: Console, browser: Browser, ana: Caller
) -> None:
    rest = {"readers": ["group:board"], "tags": ["hr"], "metadata": {"a": 1}}
    await ana.put("leave", "20 days", title="Leave", **rest)
    context = await browser.new_context()
    other = await tab(context, console.url)
    for each in (console, other):
        await each.open(ana.key, "#/documents/leave")
        await each.page.get_by_role("button", name="Edit").click()

    async def save(each: Console, text: str) -> None:
        await each.page.get_by_label("Text", exact=True).fill(text)
        await each.page.get_by_role("button", name="Save", exact=True).click()

    await save(console, "25 days")
    await expect(console.page.locator(".document-text")).to_have_text("25 days")
    await save(other, "30 days")
    conflict = other.page.get_by_role("alert")
    await expect(conflict).to_contain_text("Somebody else has changed this document")
    await expect(conflict).to_contain_text("25 days")
    await expect(other.page.get_by_label("Text", exact=True)).to_have_value("30 days")
    assert (await stored(ana, "leave"))["text"] == "25 days"

    await other.page.get_by_role("button", name="Save mine over it").click()
    await expect(other.page.locator(".document-text")).to_have_text("30 days")

    after = await stored(ana, "leave")
    assert after["text"] == "30 days"
    assert {name: after[name] for name in rest} == rest
    await context.close()


@pytest.mark.thorough
async def test_a_new_document_replaces_none(console: Console, ana: Caller) -> None:
    await ana.put("leave", "20 days")
    await console.open(ana.key, "#/documents")
    page = console.page
    await page.get_by_role("button", name="New document").click()
    editor = page.get_by_role("region", name="Editor")

    await editor.get_by_label("Identifier").fill("leave")
    await editor.get_by_label("Text", exact=True).fill("25 days")
    await editor.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("exists already")
    assert (await stored(ana, "leave"))["text"] == "20 days"
    await editor.get_by_label("Identifier").fill("leave-2")
    await editor.get_by_role("button", name="Save").click()

    await expect(page.locator(".facts")).to_contain_text("leave-2")
    assert (await stored(ana, "leave-2"))["readers"] == ["tenant"]


async def test_deleting_asks_first(console: Console, ana: Caller) -> None:
    await ana.put("leave", "20 days")
    await console.open(ana.key, "#/documents/leave")
    page = console.page

    await page.get_by_role("button", name="Delete").click()
    await page.keyboard.press("Enter")  # the focus is not on what deletes
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert await ids(ana) == ["leave"]
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.locator(".empty")).to_contain_text("No documents")

    problem(await ana.call("GET", "/v1/documents/leave"), 404)


@pytest.mark.parametrize("roles", [["reader"], ["reader", "writer"]])
async def test_who_does_not_own_a_document_is_offered_nothing_that_it_may_not_do_with_it(
    console: Console, gateway: Gateway, ana: Caller, roles: list[str]
) -> None:
    await ana.put("secret", "Annual leave.")
    await ana.put("leave", "20 days", readers=["tenant"])
    eve = await gateway.caller("eve", roles=roles)
    await console.open(eve.key, "#/documents/secret")
    await expect(console.page.get_by_role("alert")).to_contain_text("does not exist")

    await console.page.goto(f"{console.url}/console#/documents/leave")
    await expect(console.page.locator(".document-text")).to_have_text("20 days")

    for name in ("Edit", "Delete", "Revoke", "Save readers", "Explain"):
        await expect(console.page.get_by_role("button", name=name)).to_have_count(0)


@pytest.mark.thorough
@pytest.mark.isolated
@pytest.mark.slow
async def test_a_text_of_the_greatest_length_is_shown_in_parts(
    settings: Settings, embedder: Embedder, browser: Browser
) -> None:
    context = await browser.new_context()
    large = settings.model_copy(update={"document_inline_bytes_max": 4_194_304})
    async with running(large, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        line = "Everybody gets 25 days of annual leave.\n"
        await ana.put("large", line * (1_990_000 // len(line)))
        console = await tab(context, str(gateway.client.base_url).rstrip("/"))
        await console.open(ana.key, "#/documents/large")
        text = console.page.locator(".document-text")

        await expect(text).to_contain_text("annual leave")
        assert len(await text.inner_text()) <= 100_000
        await console.page.get_by_role("button", name="Show all").click()

        await expect(console.page.get_by_role("button", name="Show all")).to_have_count(0)
        assert await text.evaluate("element => element.textContent.length") > 1_900_000
        assert console.errors == []
        await context.close()


@pytest.mark.sampled("light")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(console: Console, ana: Caller, admin: Caller, scheme: str) -> None:
    await ana.put("leave", "20 days", readers=["tenant", "group:hr"], uri="https://example.com/a")
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(admin.key, "#/documents")
    await console.page.get_by_role("button", name="New document").click()
    assert await console.violations() == []

    await console.page.locator("tbody a").click()
    await console.page.get_by_label("Subject").fill("ben")
    await console.page.get_by_label("Subject").press("Enter")
    await console.page.get_by_text("Share or change the owner").click()
    assert await console.violations() == []

    await console.page.get_by_role("button", name="Delete").click()
    assert await console.violations() == []


@pytest.mark.thorough
async def test_nothing_is_cut_off(console: Console, admin: Caller, ana: Caller) -> None:
    readers = ["tenant", *(f"user:{'u' * 100}-{number}" for number in range(5))]
    text = f"20 days {'w' * 200}"
    await ana.put("a-rather-long-identifier/" + "x" * 80, text, readers=readers)
    page, width = console.page, "() => document.documentElement.scrollWidth"
    await console.open(admin.key)

    for size in (PHONE, DESKTOP):
        await page.set_viewport_size(size)
        await console.go("Documents")
        await console.settle()
        assert await page.evaluate(width) <= size["width"]
        for cell in await page.locator("tbody td").all():
            box = await cell.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= size["width"]
        await page.locator("tbody a").click()
        await page.get_by_text("Chunks: where it is cut").click()
        await page.locator(".piece").wait_for()
        assert await page.evaluate(width) <= size["width"]
        assert await page.locator(".scroll").evaluate("it => it.scrollWidth - it.clientWidth") <= 0
