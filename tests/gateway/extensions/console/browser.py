"""A real Chromium on the console of a gateway: logs in, and notes what goes wrong in the page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    ViewportSize,
    async_playwright,
    expect,
)

from tests import system_programs

PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
_TIMEOUT_MS = 60_000  # as in all tests: a hang, not a busy machine
# As root Chromium has no sandbox of its own. The others save half of its processor time: there is
# no screen to draw for, and no other site to keep apart.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
]
_EXPECTED = "Failed to load resource"  # Chromium's line for a status that is no success
_AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# Of what passes nothing is told: to name its elements takes a third of the time.
_AXE_OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
    "selectors": False,
    "preload": False,
}


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Debian's Chromium without a user interface, which takes 0.4 of the whole one's time."""
    program = system_programs.require("chromium-headless-shell")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        expect.set_options(timeout=_TIMEOUT_MS)
        try:
            yield browser
        finally:
            await browser.close()


class Console:
    """One tab of the console. errors: of scripts and of the content security policy."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note)
        page.set_default_timeout(_TIMEOUT_MS)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and _EXPECTED not in message.text:
            self.errors.append(message.text)

    async def open(self, key: str | None, address: str = "") -> None:
        """Load the console and log in; address: of the page, such as `#/documents`."""
        await self.page.goto(f"{self.url}/console{address}")
        await self.log_in(key)
        await self.page.wait_for_selector("nav")

    async def log_in(self, key: str | None) -> None:
        assert key is not None
        await self.page.get_by_label("Key").fill(key)
        await self.page.get_by_role("button", name="Log in").click()

    async def go(self, page: str) -> None:
        """Choose a page of the navigation."""
        await self.page.get_by_role("link", name=page, exact=True).click()
        await self.page.get_by_role("heading", level=1, name=page).wait_for()

    async def settle(self) -> None:
        """Wait until nothing loads any more."""
        await self.page.wait_for_function(
            "() => !document.querySelector('.loading, [aria-busy=true]')"
        )

    async def text(self) -> str:
        await self.settle()
        return await self.page.inner_text("main")

    async def violations(self) -> list[str]:
        """What axe-core finds on the page as it is."""
        await self.settle()
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(_AXE)
        found: dict[str, Any] = await self.page.evaluate(
            "options => axe.run(document, options)", _AXE_OPTIONS
        )
        return [
            f"{violation['id']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for violation in found["violations"]
            for node in violation["nodes"]
        ]


async def tab(context: BrowserContext, url: str) -> Console:
    return Console(await context.new_page(), url)
