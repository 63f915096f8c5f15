"""Hits and documents are shown as their Markdown, and what callers wrote in it does nothing."""

from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from gateway.extensions import console as console_package
from gateway.extensions.console import joined_modules
from tests.gateway.extensions.console.browser import Console
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

STATIC = Path(console_package.__file__).parent / "static"
MODULES = {path.name: path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")}

LEAVE = """# Annual leave

Everybody gets **25 days** of annual *leave*:

1. ask in the [calendar](https://calendar.example/leave "the plan")
   - before `March`
2. tell your team

| Years | Days |
|-------|-----:|
| 0 | 25 |
| 5 \\| more | 30 |

```python
days = 25  # **not bold**
```

> Saved days end in snake_case_month.
"""
HOSTILE = """### <img src=x onerror="document.title='stolen'">

<script>document.title = 'stolen'</script> and [a script](javascript:document.title='stolen'),
[another](JaVaScRiPt:alert(1)), [data](data:text/html,<script>alert(1)</script>),
<javascript:alert(1)>, [](https://empty.example) [of two [links](https://one.example)](vbscript:x)
![a picture](https://elsewhere.example/picture.png) ![bad](javascript:alert(1))

| <b>head</b> | |
|---|---|
| [cell](file:///etc/passwd) | https://bare.example/a_b_c. |

\u202eדף\u202c

- שלום
"""
DEEP = "".join(f"{'  ' * depth}- level {depth}\n" for depth in range(1_000))
LONG_PIECES = [
    "[",
    "**a _b ",
    "`` ` ",
    "![a](",
    "a|b\n-|-\n",
    "> ",
    "***a ",
    "word\u202e ",
    "<http://",
]


async def show(console: Console, writer: Caller, text: str) -> Locator:
    """The text of a document, on its page."""
    await writer.put("document", text)
    await console.open(writer.key, "#/documents/document")
    await console.settle()
    return console.page.locator(".document-text")


@pytest.mark.thorough
async def test_a_document_is_shown_as_its_markdown_and_as_it_is_written(
    console: Console, ana: Caller
) -> None:
    text = await show(console, ana, LEAVE)

    await expect(text.locator("h3")).to_have_text("Annual leave")
    await expect(text.locator("strong")).to_have_text("25 days")
    await expect(text.locator("em")).to_have_text("leave")
    await expect(text.locator("ol > li")).to_have_count(2)
    await expect(text.locator("ol > li > ul > li > p")).to_have_text("before March")
    await expect(text.locator("p > code")).to_have_text("March")
    await expect(text.locator("td")).to_have_text(["0", "25", "5 | more", "30"])
    await expect(text.locator("td.number")).to_have_text(["25", "30"])
    await expect(text.locator("pre")).to_have_text("days = 25  # **not bold**")
    await expect(text.locator("blockquote")).to_have_text("Saved days end in snake_case_month.")
    link = text.get_by_role("link", name="calendar")
    await expect(link).to_have_attribute("href", "https://calendar.example/leave")
    await expect(link).to_have_attribute("rel", "noopener noreferrer")
    assert await console.violations() == []

    await console.page.get_by_role("button", name="As written").click()
    assert await text.inner_text() == LEAVE


@pytest.mark.thorough
async def test_matched_words_are_marked_in_it_and_a_link_leads_to_the_passage(
    console: Console, ana: Caller
) -> None:
    await ana.put("leave", LEAVE.replace("*leave*:", "*leave*, 🌴 sun and leave:"))
    await console.open(ana.key)
    page = console.page
    await page.get_by_label("Question", exact=True).fill("calendar of annual leave")
    await page.get_by_role("button", name="Search", exact=True).click()
    hit = page.locator(".hit .text")

    await expect(hit.locator("h4 mark")).to_have_text(["Annual", "leave"])
    await expect(hit.locator("h4 + p mark")).to_have_text(["annual", "leave", "leave"])
    await expect(hit.locator("em > mark")).to_have_text("leave")
    await expect(hit.locator("a > mark")).to_have_text("calendar")
    assert await console.violations() == []
    await page.locator(".hit").get_by_role("link", name="leave", exact=True).click()

    passage = page.locator(".document-text")
    await expect(passage.locator("h3 mark")).to_have_text("Annual leave")
    await expect(passage.locator("blockquote mark")).to_have_text(
        "Saved days end in snake_case_month."
    )
    await expect(passage.locator("mark").first).to_be_focused()


async def test_what_callers_wrote_runs_nothing_loads_nothing_and_leads_only_to_the_web(
    console: Console, ana: Caller
) -> None:
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url))
    text = await show(console, ana, HOSTILE)

    await expect(text).to_contain_text("<script>document.title = 'stolen'</script>")
    await expect(text.locator("h3")).to_contain_text("<img src=x")
    links = [await link.get_attribute("href") for link in await text.locator("a").all()]
    assert links == [
        "https://empty.example",
        "https://one.example",
        "https://elsewhere.example/picture.png",
        "https://bare.example/a_b_c",
    ]
    assert await text.locator("img, script, iframe, style, b").count() == 0
    assert await console.page.title() == "Documents · Nearhit console"
    assert all(url.startswith(console.url) for url in asked)
    line = "nodes => nodes.map(node => getComputedStyle(node).borderBottomWidth)"
    assert set(await text.locator("td").evaluate_all(line)) <= {"1px"}  # below the last row too
    directions = "nodes => nodes.map(node => getComputedStyle(node).direction)"
    assert await text.locator("li").evaluate_all(directions) == ["rtl"]
    assert await console.violations() == []


async def test_columns_go_from_right_to_left_where_their_words_do(
    console: Console, ana: Caller
) -> None:
    text = await show(console, ana, "| النوع | الأيام |\n|---|---|\n| سنوية | 25 |")

    cells = await text.locator("th").evaluate_all("cells => cells.map(cell => cell.offsetLeft)")
    assert cells[0] > cells[1]
    left, right = await text.evaluate(
        """text => {
            const [box, table] = [text, text.querySelector("table")]
                .map(node => node.getBoundingClientRect());
            return [table.left - box.left, box.right - table.right];
        }"""
    )
    assert right < left


@pytest.mark.thorough
async def test_no_text_is_too_deep(console: Console, ana: Caller) -> None:
    text = await show(console, ana, DEEP[:150_000] + "> " * 500 + "end")
    await console.page.get_by_role("button", name="Show all").click()

    await expect(text).to_contain_text("end")
    deepest = """nodes => Math.max(...nodes.map(node => {
        let depth = 0;
        for (; node; node = node.parentElement) depth += 1;
        return depth;
    }))"""
    assert await text.locator("p, pre").evaluate_all(deepest) < 40


@pytest.mark.thorough
async def test_a_megabyte_is_read_once(console: Console, ana: Caller) -> None:
    """Each piece, repeated, is what a reader that looks ahead for each takes hours for."""
    await console.open(ana.key)
    joined = joined_modules.join(MODULES, "markdown.js")
    read = """pieces => {
        JOINED
        const { markdown } = modules["markdown.js"];
        const part = 1048576 / pieces.length;
        const text = pieces.map(piece => piece.repeat(part / piece.length)).join("\\n\\n");
        const host = document.createElement("div");
        host.append(...markdown(text, { above: 2 }));
        return [text.length, host.textContent.length];
    }"""

    length, shown = await console.page.evaluate(read.replace("JOINED", joined), LONG_PIECES)

    assert length > 1_000_000
    assert shown > 500_000
