"""The documents page of a tenant with 10,000 documents, of which a caller may read all or one."""

import pytest
from playwright.async_api import expect

from tests.conftest import run_sql
from tests.gateway.console.browser import Console
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

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
