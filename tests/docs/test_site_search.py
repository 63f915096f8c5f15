"""The built site can be searched as it lies on a disk: `make docs` builds it, and runs this."""

import re

import pytest
from playwright.async_api import expect

from docs.generate.site import SITE
from tests.gateway.extensions.console.browser import chromium

pytestmark = [pytest.mark.anyio, pytest.mark.clients]


async def test_a_search_on_a_page_from_the_disk_leads_to_another_page() -> None:
    async with chromium() as browser:
        page = await browser.new_page()
        errors: list[str] = []
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: errors.append(request.url))

        await page.goto((SITE / "how-to" / "access.html").as_uri())
        await page.get_by_role("button", name="Search").click()
        await page.keyboard.type("lease standby")
        await page.get_by_text(re.compile("^Read lease")).click()

        await expect(page).to_have_url(re.compile("/site/design/promises.html.*#read-leases$"))
        assert errors == []
