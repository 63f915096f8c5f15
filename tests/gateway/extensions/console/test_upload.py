"""Files uploaded on the documents page: written, kept or failed, and their limits."""

import pytest
from playwright.async_api import FilePayload, expect

from tests.gateway.extensions._sources.files import docx, pdf
from tests.gateway.extensions.console.browser import Console
from tests.gateway.extensions.console.documents import ids, stored
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio


async def test_uploaded_files_are_documents_and_replace_none(console: Console, ana: Caller) -> None:
    await ana.put("uploads/old.md", "Old text.")
    await console.open(ana.key, "#/documents")
    page = console.page

    await page.get_by_role("button", name="Upload files").click()
    files: list[FilePayload] = [
        {"name": "leave.md", "mimeType": "text/markdown", "buffer": b"# Leave\n\n25 days."},
        {"name": "old.md", "mimeType": "text/markdown", "buffer": b"New text."},
        {"name": "photo.txt", "mimeType": "text/plain", "buffer": b"\xff\xd8\xff\xe0"},
    ]
    await page.get_by_label("Files").set_input_files(files)
    await page.get_by_role("button", name="Upload", exact=True).click()
    table = page.get_by_role("region", name="Upload").locator("tbody tr")

    await expect(table.nth(0)).to_contain_text("written")
    await expect(table.nth(1)).to_contain_text("kept")
    await expect(table.nth(2)).to_contain_text("failed")
    assert (await stored(ana, "uploads/leave.md"))["title"] == "Leave"
    assert (await stored(ana, "uploads/old.md"))["text"] == "Old text."


@pytest.mark.thorough
async def test_texts_of_pdf_docx_and_html_are_extracted_for_the_readers(
    console: Console, ana: Caller, ben: Caller, gateway: Gateway
) -> None:
    await console.open(ana.key, "#/documents")
    page = console.page
    await page.get_by_role("button", name="Upload files").click()
    contents = {
        "leave.pdf": pdf(["Annual leave is 25 days."]),
        "lamps.docx": docx(["The keeper lights the lamps."]),
        "tides.html": b"<h1>Tides</h1><p>High water is at noon.</p><script>alert(1)</script>",
        "broken.pdf": b"no PDF",
    }
    files: list[FilePayload] = [
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        for name, content in contents.items()
    ]

    await page.get_by_label("Files").set_input_files(files)
    await page.get_by_role("region", name="Upload").get_by_label("Readers").fill("user:ben")
    await page.get_by_role("button", name="Upload", exact=True).click()
    table = page.get_by_role("region", name="Upload").locator("tbody tr")

    for row in range(3):
        await expect(table.nth(row)).to_contain_text("written", timeout=30_000)
    await expect(table.nth(3)).to_contain_text("failed")
    for query in ("annual leave", "who lights the lamps", "high water at noon"):
        assert (await ben.search(query)).json()["hits"][0]["text"]
    assert len(await ids(ben)) == 3
    assert len((await ana.call("GET", "/v1/vector_stores")).json()["data"]) == 1
    eve = await gateway.caller("eve")
    assert await ids(eve) == []


async def choose_files(console: Console, names: list[str], *, size_bytes: int) -> None:
    """Files that the browser makes itself: they need not be sent to it."""
    await console.page.get_by_label("Files").evaluate(
        """(input, [names, size]) => {
            const chosen = new DataTransfer();
            for (const name of names) chosen.items.add(new File([new Uint8Array(size)], name));
            input.files = chosen.files;
        }""",
        [names, size_bytes],
    )


@pytest.mark.thorough
async def test_too_many_files_and_a_file_that_is_too_long_are_refused_before_they_are_sent(
    console: Console, ana: Caller
) -> None:
    await console.open(ana.key, "#/documents")
    page = console.page
    await page.get_by_role("button", name="Upload files").click()
    section = page.get_by_role("region", name="Upload")

    await choose_files(console, [f"{number}.md" for number in range(201)], size_bytes=1)
    await section.get_by_role("button", name="Upload", exact=True).click()
    await expect(section).to_contain_text("At most 200 files at once")
    for name in ("long.md", "long.pdf"):
        await choose_files(console, [name], size_bytes=4_194_304 + 1)
        await section.get_by_role("button", name="Upload", exact=True).click()
        await expect(section.locator("tbody tr")).to_contain_text(name)
        await expect(section.locator("tbody tr")).to_contain_text("longer than 4 MiB")

    assert await ids(ana) == []
