from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.gateway.console.browser import DESKTOP, Console, chromium, tab
from tests.gateway.support.gateways import Gateway


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


@pytest.fixture
async def console(browser: Browser, gateway: Gateway) -> AsyncIterator[Console]:
    """A tab that is not logged in; the test fails if a script of the page does."""
    context = await browser.new_context(viewport=DESKTOP)
    opened = await tab(context, str(gateway.client.base_url).rstrip("/"))
    yield opened
    await context.close()
    assert opened.errors == []
