"""The page Evaluation: known questions, settings side by side, and the worst questions first."""

import json
from typing import Any

import pytest
from playwright.async_api import FilePayload, expect

from tests.gateway.extensions.console.browser import PHONE, Console
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

LAMPS = "# Lamps\n\nThe keeper of the harbour lights the lamps of the pier at dusk.\n"
LEAVE = "# Annual leave\n\nEverybody in the company has 25 days of annual leave each year.\n"
SCRIPT = "<img src=x onerror=\"document.title='stolen'\">"
LINES: list[dict[str, Any]] = [
    {"question": "Who lights the lamps?", "documents": ["lamps"]},
    {"question": f"Who lights {SCRIPT} lamps of the harbour?", "documents": ["never written"]},
    {"question": "How many days of annual leave?", "passage": "25 days"},
]
QUESTIONS = "\n".join(map(json.dumps, LINES))


@pytest.fixture(autouse=True)
async def documents(ana: Caller) -> None:
    await ana.put("lamps", LAMPS)
    await ana.put("leave", LEAVE)


async def measure(console: Console, settings: str = "") -> None:
    await console.page.get_by_label("Compare with").fill(settings)
    await console.page.get_by_role("button", name="Measure").click()
    await console.page.get_by_role("region", name="Settings").wait_for()
    await console.settle()


async def test_settings_are_side_by_side_and_the_worst_question_leads_to_its_search(
    console: Console, ana: Caller
) -> None:
    page = console.page
    await console.open(ana.key, "#/evaluation")
    file = FilePayload(name="q.jsonl", mimeType="text/plain", buffer=QUESTIONS.encode())
    await page.get_by_label("From a file").set_input_files([file])
    await expect(page.get_by_label("Questions", exact=True)).to_have_value(QUESTIONS)

    boost = 'alpha=0.0 boost={"replaced": {"weight": 0.1}}'
    await measure(console, f'{boost}\nfilter={{"tags_any": ["no such"]}}')

    rows = page.get_by_role("region", name="Settings").locator("tbody tr")
    await expect(rows).to_have_count(3)
    await expect(rows.first).to_contain_text("0.667")
    await expect(rows.nth(1)).to_contain_text("can't be told apart")
    await expect(rows.nth(2).locator(".badge")).to_have_text("can't be told apart")
    await expect(rows.nth(2)).to_contain_text("−1.000 to +0.000")  # noqa: RUF001  a minus
    worst = page.get_by_role("region", name="Worst questions").locator("tbody tr")
    await expect(worst.first).to_contain_text(SCRIPT)
    await expect(worst.first).to_contain_text("never written")
    await expect(worst.first.locator("td.number")).to_have_text(["0.00", "0.00", "0.00"])

    await worst.first.get_by_role("link", name="alpha=0.0").click()
    await expect(page.get_by_label("Question", exact=True)).to_have_value(LINES[1]["question"])
    await expect(page.get_by_label("Alpha")).to_have_value("0")
    await expect(page.get_by_label("Replaced")).to_have_value("0.1")
    await expect(page.locator(".hit").first).to_contain_text("lamps of the pier")
    await page.go_back()

    await expect(worst).to_have_count(3)
    await expect(page.get_by_label("Questions", exact=True)).to_have_value(QUESTIONS)
    assert await page.title() == "Evaluation · Nearhit console"


async def test_questions_are_made_of_the_callers_documents(console: Console, ana: Caller) -> None:
    page = console.page
    await console.open(ana.key, "#/evaluation")

    await page.get_by_role("button", name="Make from my documents").click()
    await expect(page.locator(".status")).to_contain_text("2 questions, from 2 documents")
    await measure(console)

    rows = page.get_by_role("region", name="Settings").locator("tbody tr")
    await expect(rows.locator("td.number").first).to_contain_text("1.000")
    await expect(page.get_by_label("With the setting")).to_have_count(0)
    await measure(console, 'filter={"tags_any": ["no such"]}')
    await expect(rows.last.locator(".badge")).to_have_text("worse")


@pytest.mark.parametrize(
    ("questions", "settings", "told"),
    [
        ("no JSON", "", "Questions line 1 is no JSON"),
        (QUESTIONS + '\n\n{"question": "Why?"}', "", "line 5: give documents, a passage, or both"),
        (QUESTIONS, "alpha", "must have NAME=VALUE, and not “alpha”"),
        (QUESTIONS, "alpha=7", "“alpha=7”: alpha Input should be less than or equal to 1"),
    ],
)
async def test_a_mistake_is_told_with_its_line(
    console: Console, ana: Caller, questions: str, settings: str, told: str
) -> None:
    page = console.page
    await console.open(ana.key, "#/evaluation")
    await page.get_by_label("Questions", exact=True).fill(questions)
    await page.get_by_label("Compare with").fill(settings)
    await page.get_by_role("button", name="Measure").click()

    await expect(page.get_by_role("alert")).to_contain_text(told)
    label = "Compare with" if settings else "Questions"
    field = page.get_by_label(label, exact=True)
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_role("region", name="Settings")).to_have_count(0)


@pytest.mark.sampled("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_names_are_text_and_axe_finds_nothing(
    console: Console, ana: Caller, scheme: str
) -> None:
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(ana.key, "#/evaluation")
    assert await console.violations() == []
    long = {"question": "ملف " + "x" * 300, "documents": ["y" * 300]}
    await console.page.get_by_label("Questions", exact=True).fill(
        f"{QUESTIONS}\n{json.dumps(long)}"
    )

    await measure(console, "alpha=0.0\nrerank=true candidates=30")

    assert await console.page.locator("main img").count() == 0
    assert "stolen" not in await console.page.title()
    assert await console.violations() == []
    await console.page.set_viewport_size(PHONE)
    assert await console.violations() == []
    width = await console.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
