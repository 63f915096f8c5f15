"""`/docs`: the reference of the API in a browser, made of `/openapi.json`."""

import pytest
from playwright.async_api import expect

from tests.gateway.extensions.console.browser import PHONE, Console

pytestmark = pytest.mark.anyio


async def opened(console: Console, address: str = "") -> None:
    await console.page.goto(f"{console.url}/docs{address}")
    await console.page.wait_for_selector("section")


async def test_a_call_has_an_address_and_shows_its_fields_and_a_line_to_paste(
    console: Console,
) -> None:
    await opened(console, "#search")

    search = console.page.locator("details#search")
    await expect(search).to_have_attribute("open", "")
    await expect(search.get_by_label("curl")).to_contain_text(
        'curl -X POST "$NEARHIT_URL/v1/search"'
    )
    fields = search.get_by_role("table", name="Body: application/json").get_by_role("row")
    await expect(fields.filter(has_text="top_k")).to_contain_text("maximum number of hits")
    await expect(fields.filter(has_text="filter.tags_any")).to_have_count(1)
    answer = search.get_by_role("table", name="Answer 200: application/json")
    await expect(answer).to_contain_text("hits[].chunk_id")
    await expect(search).to_contain_text("429 Too many requests")


@pytest.mark.thorough
async def test_all_calls_are_listed_without_a_key_and_found_by_words(console: Console) -> None:
    await opened(console)
    told = await console.page.evaluate(
        "async () => Object.values((await (await fetch('/openapi.json')).json()).paths)"
        ".flatMap((methods) => Object.keys(methods)).length"
    )
    await expect(console.page.locator("details")).to_have_count(told)
    assert f"{told} calls" in await console.text()

    await console.page.get_by_label("Find a call").fill("put CONFIDENCE")

    await expect(console.page.locator("details:visible")).to_have_count(1)
    await expect(console.page.locator("details:visible")).to_contain_text("/v1/confidence")
    await console.page.get_by_label("Find a call").fill("no such call")
    await expect(console.page.locator(".empty")).to_contain_text("No call")
    await expect(console.page.locator("details:visible")).to_have_count(0)


@pytest.mark.sampled("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_and_a_phone_needs_no_scrolling_aside(
    console: Console, scheme: str
) -> None:
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await opened(console, "#search")
    # One piece of code shows all calls, and axe takes a second for forty of them.
    others = "details => details.slice(12).forEach(one => one.id === 'search' || one.remove())"
    await console.page.locator("details").evaluate_all(others)

    assert await console.violations() == []
    middles = """all => all.map((each) => each.getBoundingClientRect())
        .map(({ top, bottom }) => (top + bottom) / 2)"""
    call = console.page.locator("details:not([open])").first
    card, *parts = await call.locator("xpath=. | .//summary/*").evaluate_all(middles)
    assert parts == pytest.approx([card] * len(parts), abs=3)
    await console.page.set_viewport_size(PHONE)
    width = await console.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
