from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, BrowserContext

from tests.gateway.extensions.console.browser import DESKTOP, Console, chromium, tab
from tests.gateway.support.gateways import Gateway


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


@pytest.fixture(scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """What the tabs share: what one has loaded, the next one takes from the cache."""
    shared = await browser.new_context(viewport=DESKTOP)
    await shared.new_page()  # stays, and its renderer with it: each tab would start one
    yield shared
    await shared.close()


@pytest.fixture
async def console(context: BrowserContext, gateway: Gateway) -> AsyncIterator[Console]:
    """A tab that is not logged in; the test fails if a script of the page does."""
    opened = await tab(context, str(gateway.client.base_url).rstrip("/"))
    yield opened
    await opened.page.close()
    assert opened.errors == []
