"""The search playground: what it sends, and how it shows what comes back."""

import asyncio
import json
import re
import shlex
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Request, Route, expect

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.console.browser import PHONE, Console, tab
from tests.gateway.support.gateways import Caller, Gateway, connected, serving
from tests.stub_openai import Stream, stub_openai

pytestmark = pytest.mark.anyio

LEAVE = "# Annual leave\n\nEverybody gets 25 days of annual leave a year."
SCRIPT = "<script>document.title = 'stolen'</script><img src=x onerror=\"document.title='stolen'\">"


async def ask(console: Console, question: str) -> None:
    await console.page.get_by_label("Question", exact=True).fill(question)
    await console.page.get_by_role("button", name="Search", exact=True).click()
    await console.page.locator("section .row .badge").first.wait_for()
    await console.settle()


def sent_by(console: Console) -> list[Any]:
    """The bodies that the page sends from now on."""
    sent: list[Any] = []

    def note(request: Request) -> None:
        if request.post_data:
            sent.append(request.post_data_json)

    console.page.on("request", note)
    return sent


async def seen(admin: Caller, document_id: str) -> int:
    """In how many answers the audit log has the document so far."""
    rows = (await admin.call("GET", f"/v1/audit/log?document={document_id}")).json()["rows"]
    return sum(row["details"].get("answers", 0) for row in rows)


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
    await console.open(ana.key, "#/search?query=annual+leave")  # typed, it may be asked for twice

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
    await expect(console.page.locator("section")).to_contain_text("ms in the gateway, ")

    await ana.put("days", "Everybody gets 25 days of leave.")
    await ask(console, "How heavy is the moon?")
    meter = console.page.locator(".hit .score").first
    await expect(meter).to_contain_text("below 0.25")
    assert await share(meter.locator(".bar > i"), "width") < 0.25
    nothing = console.page.locator(".hit .score").filter(has_text="nothing in common").first
    await expect(nothing.locator(".bar > i")).to_have_count(0)  # not even a sliver of a bar


async def test_the_rank_stands_on_the_left_of_a_title_in_any_script(
    console: Console, ana: Caller
) -> None:
    await ana.put("leave", LEAVE, title="سياسة الإجازات")
    await console.open(ana.key)

    await ask(console, "annual leave")

    title = console.page.locator(".hit h3")
    await expect(title).to_have_text("1. سياسة الإجازات")
    left = """node => {
        const all = new Range();
        all.selectNodeContents(node);
        return all.getBoundingClientRect().left;
    }"""
    assert await title.evaluate(left) < await title.locator("bdi").evaluate(left)


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
    await page.get_by_label("Tags", exact=True).fill("hr")
    await page.get_by_label("shared").uncheck()
    await ask(console, "who lights the lamps on annual leave?")
    second = page.url

    await page.go_back()
    await expect(question).to_have_value("annual leave")
    await expect(page.get_by_label("Tags", exact=True)).to_have_value("")
    await expect(page.locator(".hit").first).to_contain_text("25 days")
    await page.get_by_role("link", name="leave", exact=True).click()
    await expect(page.locator(".document-text mark")).to_have_text(LEAVE.lstrip("# ").split("\n\n"))
    await page.go_back()
    assert page.url == first

    await page.goto("about:blank")
    await page.goto(second)
    await console.log_in(ana.key)
    await expect(question).to_have_value("who lights the lamps on annual leave?")
    await expect(page.get_by_label("Tags", exact=True)).to_have_value("hr")
    await expect(page.get_by_label("shared")).not_to_be_checked()
    await expect(page.locator(".hit")).to_have_count(1)  # with the tag
    await expect(page.get_by_text("Scopes, filter and ranking (2 set)")).to_be_visible()
    await expect(page.locator(".hit")).to_be_in_viewport()  # what is set is not in its way


async def test_the_page_says_that_it_searches(console: Console, ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    page, is_seen = console.page, asyncio.Event()

    async def answer_late(route: Route) -> None:
        await is_seen.wait()
        await route.continue_()

    await page.route("**/v1/search", answer_late)
    await console.open(ana.key, "#/search?query=annual+leave")
    await expect(page.get_by_text("Searching")).to_have_count(1)
    is_seen.set()

    await expect(page.locator(".hit")).to_have_count(1)
    await expect(page.get_by_text("Searching")).to_have_count(0)


@pytest.mark.thorough
async def test_the_request_as_curl_is_the_one_that_was_sent_and_keys_lead_to_the_others(
    console: Console, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await console.open(ana.key)
    sent = sent_by(console)

    await console.page.get_by_text("Scopes, filter and ranking").click()
    await console.page.get_by_label("Tags", exact=True).fill("it's, $HOME")
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
    await ana.put("leave", LEAVE, source="o" * 60)
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(ana.key)
    await console.page.get_by_text("Scopes, filter and ranking").click()
    await ask(console, "annual leave")
    await console.page.get_by_text("The request as code").click()

    assert await console.violations() == []
    await console.page.set_viewport_size(PHONE)
    width = await console.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


async def test_on_a_phone_the_answer_comes_first_and_the_options_are_a_tap_away(
    console: Console, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    page, options = console.page, console.page.get_by_role("button", name="Options")
    await page.set_viewport_size(PHONE)
    await console.open(ana.key)
    await expect(options).to_have_attribute("aria-expanded", "true")
    await ask(console, "annual leave")

    top = await page.locator(".hit").evaluate("it => it.getBoundingClientRect().top + scrollY")
    assert top <= 0.6 * PHONE["height"]
    await expect(page.get_by_text("Scopes, filter and ranking")).to_be_hidden()
    line = await page.locator(".timing").evaluate(
        "it => it.offsetHeight / it.parentNode.offsetWidth"
    )
    assert line < 0.1  # one line
    assert await console.violations() == []
    await options.click()
    await page.get_by_text("Scopes, filter and ranking").click()
    await page.get_by_label("Hits at most").fill("1")
    await page.keyboard.press("Enter")
    await console.settle()
    await expect(page.get_by_label("Hits at most")).to_be_visible()  # one is still there
    assert await console.violations() == []


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


async def test_hits_come_while_one_types_and_what_was_typed_last_is_one_question(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    page, question = console.page, console.page.get_by_label("Question", exact=True)
    await console.open(ana.key)
    await page.get_by_text("Scopes, filter and ranking").click()
    sent = sent_by(console)

    for words in ("annual", " leave"):
        await question.press_sequentially(words)
        typed = (await question.input_value()).replace(" ", "+")
        await page.wait_for_function("end => location.hash.endsWith(end)", arg=f"={typed}")
    await expect(page.locator(".hit")).to_have_count(1)
    await expect(question).to_be_focused()
    assert sent
    assert all(each["typing"] for each in sent)
    assert await console.violations() == []
    async with page.expect_request("**/v1/search"):
        await page.get_by_role("link", name="leave", exact=True).click()
    assert (sent[-1]["query"], "typing" in sent[-1]) == ("annual leave", False)

    await page.go_back()
    await expect(page.locator(".hit")).to_have_count(1)
    await expect(question).to_have_value("annual leave")
    await page.go_back()
    await expect(question).to_have_value("")
    periods = (await admin.call("GET", "/v1/search/statistics")).json()["periods"]
    assert sum(each["confident"] for each in periods) == 2  # it came back to one by Back
    async with asyncio.timeout(60):
        while await seen(admin, "leave") <= 2:
            await asyncio.sleep(0.05)


async def test_what_one_has_typed_is_never_sent_with_anothers_key(
    console: Console, admin: Caller, ana: Caller
) -> None:
    made = (await admin.call("POST", "/v1/keys", json={"subject": "eve"})).json()
    page, question = console.page, console.page.get_by_label("Question", exact=True)
    await console.open(made["key"])
    await question.press_sequentially("my secret")
    await page.wait_for_function("() => location.hash.endsWith('secret')")
    await admin.call("DELETE", f"/v1/keys/{made['id']}")
    await question.press_sequentially(" question")
    await expect(page.get_by_role("dialog")).to_contain_text("revoked or expired")
    sent = sent_by(console)

    await console.log_in(ana.key)
    await expect(question).to_have_value("")
    await ask(console, "annual leave")

    assert {body["query"] for body in sent} == {"annual leave"}
    assert "secret" not in page.url


async def test_a_document_that_was_expected_is_brought_in_by_the_change_that_is_told(
    console: Console, ana: Caller
) -> None:
    long = "Ferienanspruchsberechnungsgrundlage" * 3
    await ana.put("leave", LEAVE, tags=["hr"])
    await ana.put("إجازة", f"The {long} says how annual leave is counted.", title=long)
    await console.open(ana.key)
    page, told = console.page, console.page.get_by_role("region", name="Why not?")
    document = page.get_by_label("Document", exact=True)
    await page.get_by_text("A document that I expected").click()
    await document.fill("nowhere")
    await ask(console, "annual leave")
    await expect(told).to_contain_text("nothing tells the two apart")
    await expect(told.get_by_role("button")).to_have_count(0)

    await document.fill("إجازة")
    await page.get_by_text("Scopes, filter and ranking").click()
    for label, value in (("Tags", "hr"), ("Recency", "0.1"), ("Half-life in days", "30")):
        await page.get_by_label(label, exact=True).fill(value)
    await page.get_by_label("Hits at most").fill("1")
    await page.get_by_label("Other fields").fill('{"summaries": true}')
    await ask(console, "annual leave")
    await expect(told).to_contain_text("The filter leaves it out: Tags.")
    await expect(told).to_contain_text("Tags: not set")
    await expect(told.locator("tbody tr")).to_have_count(2)
    assert await console.violations() == []
    await page.set_viewport_size(PHONE)
    assert await console.violations() == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    sent = sent_by(console)
    await told.get_by_role("button", name="Search with this change").click()

    await expect(told).to_contain_text("It is in the answer")
    await expect(page.locator(".hit")).to_contain_text([long])
    boost = {"recency": {"weight": 0.1, "half_life_days": 30}}
    asked = sent[0]
    assert (asked["boost"], asked["summaries"], "filter" in asked) == (boost, True, False)
    changed = page.url
    await page.go_back()
    await expect(told).to_contain_text("The filter leaves it out: Tags.")
    await page.goto("about:blank")
    await console.open(ana.key, changed.removeprefix(f"{console.url}/console"))
    await expect(told).to_contain_text("It is in the answer")


async def test_every_field_of_the_form_is_sent_as_the_service_takes_it(
    console: Console, ana: Caller
) -> None:
    await ana.put("leave", LEAVE, tags=["hr"], metadata={"priority": 5, "year": 2025})
    page, sent = console.page, sent_by(console)
    await console.open(ana.key)
    await page.get_by_text("Scopes, filter and ranking").click()
    year = {"type": "gte", "key": "year", "value": 2025}
    for label, text in {
        "Question": "annual leave", "Sources": "api", "Tags": "hr, it", "All tags": "hr",
        "Languages": "en", "Only documents": "leave", "Without documents": "other",
        "Valid on": "2025-06-01", "Valid at": "2025-06-01T12:00:30", "Updated from": "2020-01-01",
        "Updated before": "2099-01-01", "Metadata": '{"priority": 5}',
        "Comparison": json.dumps(year), "Hits at most": "7", "Hits of a document": "2",
        "Alpha": "0.4", "Least score": "0.001", "Diversity": "0.2", "Hits to rerank": "50",
        "Question's language": "en", "Staleness in ms": "5", "Recency": "0.1",
        "Half-life in days": "30", "Importance": "0.2", "Number under": "priority",
        "Full number": "10", "Popularity": "0.3", "Replaced": "0.4",
        "Other fields": '{"metadata": true}',
    }.items():  # fmt: skip
        await page.get_by_label(label, exact=True).fill(text)
    for label, choice in (("Rerank", "words"), ("Around a hit", "neighbours")):
        await page.get_by_label(label, exact=True).select_option(choice)
    await ask(console, "annual leave")

    await expect(page.locator(".hit")).to_have_count(1)
    await expect(page.locator(".hit .scores")).to_contain_text("importance0.1000")
    boost = {
        "recency": {"weight": 0.1, "half_life_days": 30},
        "importance": {"weight": 0.2, "key": "priority", "full": 10},
        "popularity": {"weight": 0.3},
        "replaced": {"weight": 0.4},
    }
    condition = {
        "sources": ["api"], "tags_any": ["hr", "it"], "tags_all": ["hr"], "languages": ["en"],
        "documents": ["leave"], "exclude_documents": ["other"], "valid_on": "2025-06-01",
        "as_of": "2025-06-01T12:00:30Z", "updated_after": "2020-01-01T00:00:00Z",
        "updated_before": "2099-01-01T00:00:00Z", "metadata": {"priority": 5}, "attributes": year,
    }  # fmt: skip
    assert sent[-1] == {
        "query": "annual leave", "top_k": 7, "document_hits_max": 2, "alpha": 0.4,
        "min_score": 0.001, "diversity": 0.2, "candidates": 50, "language": "en",
        "max_staleness_ms": 5, "rerank": "words", "expand": "neighbours", "boost": boost,
        "filter": condition, "metadata": True, "highlights": True, "explain": True,
    }  # fmt: skip
    await page.get_by_text("The answer as JSON").click()
    await expect(page.get_by_label("The answer", exact=True)).to_contain_text('"priority": 5')


async def test_a_plan_shows_the_hits_of_each_step_and_has_an_address(
    console: Console, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE, readers=["tenant"])
    await ana.put("sick", "Sick leave has no days. إجازة مرضية", readers=["tenant"])
    page, plan = console.page, console.page.get_by_role("textbox", name="Plan")
    step = {"name": "rules", "query": {"parameter": "question"}, "top_k": 1}
    words = {"question": {"type": "string", "description": "annual leave"}}
    stored = {"parameters": words, "plan": {"steps": [step]}}
    assert (await admin.call("PUT", "/v1/strategies/by-name", json=stored)).is_success
    await console.open(ana.key)
    await page.get_by_role("link", name="A plan of several searches").click()
    await page.get_by_role("button", name="Run").click()

    for name, hits in (("rules", 2), ("elsewhere", 0), ("both", 2)):
        part = page.get_by_role("region", name=name, exact=True)
        await expect(part.locator(".hit")).to_have_count(hits)
    await expect(page.locator("main")).to_contain_text("exclude_documents: leave, sick")
    await expect(page.locator("main")).to_contain_text("step.elsewhere")
    assert await console.violations() == []
    await page.set_viewport_size(PHONE)
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    await page.get_by_text("The request as code").click()
    assert "MCP" not in await page.get_by_role("tab").all_inner_texts()
    ran = page.url

    await plan.fill('{"steps": [')
    await page.get_by_role("button", name="Run").click()
    await expect(page.get_by_role("alert")).to_contain_text("Plan must be JSON")
    await page.get_by_role("button", name="by-name").click()
    await expect(plan).to_have_value(re.compile("by-name.*annual leave", re.DOTALL))
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator(".hit")).to_have_count(1)
    await page.go_back()
    assert page.url == ran
    await expect(page.get_by_role("region", name="both", exact=True)).to_be_visible()


@pytest.mark.isolated
async def test_a_written_answer_leads_to_what_it_cites(
    settings: Settings, embedder: Embedder, browser: Browser
) -> None:
    context = await browser.new_context()
    async with stub_openai() as stub:
        stub.chat_answer = lambda _: Stream(["**25 days** [1]. ", "<b>إجازة</b> [1][9]."])
        model = {"chat_model": "stub", "chat_base_url": stub.url}
        own = settings.model_copy(update=model)
        async with serving(own, embedder) as url, connected(url) as client:
            gateway = Gateway(client)
            await gateway.tenant("acme")
            ana = await gateway.caller("ana")
            await ana.put("leave", LEAVE)
            console = await tab(context, url)
            page = console.page
            await console.open(ana.key)
            await page.get_by_label("Write an answer").check()
            await ask(console, "annual leave")

            written = page.get_by_role("region", name="Written answer")
            await expect(written).to_have_text("25 days [1]. <b>إجازة</b> [1][9].")
            await expect(written.locator("strong")).to_have_text("25 days")
            await expect(written.get_by_role("link")).to_have_text(["[1]", "[1]"])
            await expect(page.locator(".hit")).to_have_count(1)
            assert len(stub.chats) == 1
            assert await console.violations() == []
            await written.get_by_role("link").first.click()
            await expect(page.locator(".document-text mark").first).to_be_visible()
            await page.go_back()
            await expect(page.get_by_text("text from the cache")).to_be_visible()
            assert console.errors == []
            await context.close()
