"""The search playground: what it sends, and how it shows what comes back."""

import json
import shlex
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.gateway.console.browser import PHONE, Console
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

LEAVE = "# Annual leave\n\nEverybody gets 25 days of annual leave a year."
SCRIPT = "<script>document.title = 'stolen'</script><img src=x onerror=\"document.title='stolen'\">"


async def ask(console: Console, question: str) -> None:
    await console.page.get_by_label("Question", exact=True).fill(question)
    await console.page.get_by_role("button", name="Search", exact=True).click()
    await console.page.locator("section .row .badge").first.wait_for()
    await console.settle()


async def share(part: Locator, side: str) -> float:
    """How far to the right of its bar a part of it reaches, 0 to 1; side: that tells it."""
    style = await part.get_attribute("style")
    assert style is not None
    return float(style.removeprefix(f"{side}: ").removesuffix("%;")) / 100


async def test_a_hit_shows_its_text_its_scores_and_what_it_misses(
    console: Console, ana: Caller
) -> None:
    """And which cache answered, and how long that took."""
    await ana.put("leave", LEAVE, title="Leave")
    await console.open(ana.key)

    await ask(console, "annual leave")

    hit = console.page.locator(".hit")
    await expect(hit).to_contain_text("25 days of annual leave")
    await expect(hit.locator(".text mark")).to_have_text(["Annual", "leave", "annual", "leave"])
    (found,) = (await ana.search("annual leave", explain=True)).json()["hits"]
    legs = (found["explain"]["dense"]["score"], found["explain"]["lexical"]["score"])
    for meter, score in zip(
        await hit.locator(".score").all(), (found["score"], *legs), strict=True
    ):
        await expect(meter).to_contain_text(f"{score:.4f}")
        assert await share(meter.locator(".bar > i"), "width") == pytest.approx(score, abs=0.001)
    required = await share(hit.locator(".bar > b"), "left")
    assert required == pytest.approx(found["explain"]["required_score"], abs=0.001)
    await expect(console.page.locator("section")).to_contain_text("computed")

    await ask(console, "annual leave")
    await expect(console.page.locator("section")).to_contain_text("answered by cache: memory")
    await expect(console.page.locator("section")).to_contain_text("ms in the gateway (")

    await ana.put("days", "Everybody gets 25 days of leave.")
    await ask(console, "How heavy is the moon?")
    meter = console.page.locator(".hit .score").first
    await expect(meter).to_contain_text("below 0.25")
    assert await share(meter.locator(".bar > i"), "width") < 0.25


@pytest.mark.thorough
async def test_what_was_asked_has_an_address_and_back_brings_it_again(
    console: Console, ana: Caller
) -> None:
    await ana.put("leave", LEAVE, tags=["hr"])
    await ana.put("lamps", "The keeper of the harbour lights the lamps.")
    await console.open(ana.key)
    page, question = console.page, console.page.get_by_label("Question", exact=True)
    await ask(console, "annual leave")
    first = page.url
    await page.get_by_text("Scopes, filter and ranking").click()
    await page.get_by_label("Tags").fill("hr")
    await page.get_by_label("shared").uncheck()
    await ask(console, "who lights the lamps on annual leave?")
    second = page.url

    await page.go_back()
    await expect(question).to_have_value("annual leave")
    await expect(page.get_by_label("Tags")).to_have_value("")
    await expect(page.locator(".hit").first).to_contain_text("25 days")
    await page.get_by_role("link", name="leave", exact=True).click()
    await expect(page.locator(".document-text mark")).to_have_text(LEAVE.lstrip("# ").split("\n\n"))
    await page.go_back()
    assert page.url == first

    await page.goto("about:blank")
    await page.goto(second)
    await console.log_in(ana.key)
    await expect(question).to_have_value("who lights the lamps on annual leave?")
    await expect(page.get_by_label("Tags")).to_have_value("hr")
    await expect(page.get_by_label("shared")).not_to_be_checked()
    await expect(page.locator(".hit")).to_have_count(1)  # with the tag


@pytest.mark.thorough
async def test_the_request_as_curl_is_the_one_that_was_sent_and_keys_lead_to_the_others(
    console: Console, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await console.open(ana.key)
    sent: list[Any] = []
    console.page.on(
        "request", lambda each: sent.append(each.post_data_json) if each.post_data else None
    )

    await console.page.get_by_text("Scopes, filter and ranking").click()
    await console.page.get_by_label("Tags").fill("it's, $HOME")
    await console.page.get_by_label("Fusion").select_option("rrf")
    await ask(console, "what's `annual` leave?")
    await console.page.get_by_text("The request as code").click()
    words = shlex.split(await console.page.locator("pre.snippet").inner_text())

    body = json.loads(words[words.index("-d") + 1])
    assert body == sent[-1]
    assert body["filter"] == {"tags_any": ["it's", "$HOME"]}
    assert body["fusion"] == "rrf"
    await console.page.get_by_role("tab", name="curl").focus()
    await console.page.keyboard.press("ArrowRight")
    await expect(console.page.locator("pre.snippet")).to_contain_text("httpx2.post")
    await console.page.keyboard.press("ArrowRight")
    script = await console.page.locator("pre.snippet").inner_text()
    assert json.loads(script.split("JSON.stringify(")[1].split("),\n")[0]) == sent[-1]
    await console.page.keyboard.press("ArrowRight")
    await expect(console.page.locator("pre.snippet")).to_contain_text("tools/call")


@pytest.mark.thorough
async def test_two_keys_lead_to_the_question_and_no_hit_is_an_answer(
    console: Console, ana: Caller
) -> None:
    await console.open(ana.key, "#/documents")
    page, question = console.page, console.page.get_by_label("Question", exact=True)
    await page.get_by_label("Tag").fill("")
    await page.keyboard.type("a/b")
    await expect(page.get_by_label("Tag")).to_have_value("a/b")

    await page.keyboard.press("Control+k")
    await expect(question).to_be_focused()
    await page.get_by_role("heading", level=1).focus()
    await page.keyboard.press("/")

    await expect(question).to_be_focused()
    await expect(question).to_have_value("")
    await ask(console, "annual leave")
    await expect(page.locator("section .empty")).to_contain_text("No hit")


async def test_a_text_with_script_tags_is_text(console: Console, ana: Caller) -> None:
    await ana.put("evil", f"# {SCRIPT}\n\nA page about leave. {SCRIPT}", title=SCRIPT)
    await console.open(ana.key)

    await ask(console, "leave")

    await expect(console.page.locator(".hit .text")).to_contain_text("<script>")
    assert await console.page.title() == "Search · Nearhit console"


@pytest.mark.thorough
async def test_a_mistake_is_told_by_the_page_or_the_gateway(console: Console, ana: Caller) -> None:
    await console.open(ana.key)
    await console.page.get_by_text("Scopes, filter and ranking").click()
    await console.page.get_by_label("Metadata").fill("{")
    await console.page.get_by_label("Question", exact=True).fill("leave")
    await console.page.get_by_role("button", name="Search", exact=True).click()

    await expect(console.page.get_by_role("alert")).to_contain_text("Metadata must be JSON")
    await expect(console.page.get_by_label("Metadata")).to_have_attribute("aria-invalid", "true")

    await console.page.get_by_label("Metadata").fill("")
    await console.page.get_by_label("Question", exact=True).fill("a" * 60_000)
    await console.page.get_by_role("button", name="Search", exact=True).click()
    await expect(console.page.get_by_role("alert")).to_contain_text("Question must have at most")


@pytest.mark.sampled("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_with_hits_and_options_open_and_on_a_phone_nothing_is_cut_off(
    console: Console, ana: Caller, scheme: str
) -> None:
    await ana.put("leave", LEAVE)
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(ana.key)
    await console.page.get_by_text("Scopes, filter and ranking").click()
    await ask(console, "annual leave")
    await console.page.get_by_text("The request as code").click()

    assert await console.violations() == []
    await console.page.set_viewport_size(PHONE)
    width = await console.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


async def test_a_click_on_a_counted_value_narrows_the_search_and_another_one_widens_it(
    console: Console, ana: Caller
) -> None:
    rest = {"readers": ["tenant"], "tags": ["إجازة", "t" * 60]}
    await ana.put("leave", LEAVE, source="wiki", **rest)
    await ana.put("lamps", "The keeper lights the lamps on leave.", source="mail", tags=["hr"])
    page, values = console.page, console.page.get_by_role("region", name="Values")
    await console.open(ana.key)
    await page.get_by_text("Scopes, filter and ranking").click()
    await page.get_by_label("count the documents").check()
    await ask(console, "leave")
    await expect(page.locator(".hit")).to_have_count(2)

    await values.get_by_role("button", name="Source wiki: 1 document").click()
    await expect(page.locator(".hit")).to_have_count(1)
    await expect(page.get_by_label("Sources")).to_have_value("wiki")
    await expect(values.get_by_role("button", name="Source mail")).to_have_count(0)
    await expect(values.get_by_role("button", name="Tag إجازة: 1 document")).to_be_visible()
    assert await console.violations() == []
    narrowed = page.url
    chosen = values.get_by_role("button", name="Source wiki")
    await expect(chosen).to_have_attribute("aria-pressed", "true")
    await chosen.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".hit")).to_have_count(2)
    await page.go_back()
    assert page.url == narrowed
    await expect(page.locator(".hit")).to_have_count(1)
    await page.set_viewport_size(PHONE)
    assert await console.violations() == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


async def test_settings_are_answered_side_by_side_and_a_day_says_what_is_valid(
    console: Console, ana: Caller
) -> None:
    await ana.put("old", f"{LEAVE} Old.", metadata={"valid_to": "2024-12-31"}, tags=["hr"])
    await ana.put("new", "Leave is 30 days a year.", metadata={"valid_from": "2025-01-01"})
    page, hits = console.page, console.page.locator(".hit")
    await console.open(ana.key)
    await page.get_by_text("Scopes, filter and ranking").click()
    await page.get_by_label("Valid on").fill("2024-06-01")
    await ask(console, "annual leave days")
    await expect(hits).to_have_count(1)
    await expect(hits).to_contain_text("Old.")

    await page.get_by_label("Valid on").fill("")
    await page.get_by_label("Compare with").fill("alpha")
    await page.get_by_role("button", name="Search", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("Compare with must have NAME=VALUE")
    await page.get_by_label("Compare with").fill('top_k=1\nfilter={"tags_any": ["hr"]}')
    await page.get_by_role("button", name="Search", exact=True).click()

    for name, count in (("As you, ana", 2), ("With top_k=1", 1), ("With filter=", 1)):
        await expect(page.get_by_role("region", name=name).first.locator(".hit")).to_have_count(
            count
        )
    mark = page.get_by_role("region", name="As you, ana").get_by_text("not in every answer")
    await expect(mark).to_have_count(1)
    assert await console.violations() == []
    await page.reload()
    await console.log_in(ana.key)
    await expect(page.locator("main section.card:has(.hit)")).to_have_count(3)
