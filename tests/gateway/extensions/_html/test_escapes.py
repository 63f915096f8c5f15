"""Text of HTML that looks like Markdown: what Markdown shows of it is what the page shows."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gateway.extensions._html.html_markdown import convert

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

TEXTS = [
    "# no heading",
    "###### none",
    "#",
    "C #",
    "#hashtag",
    "- no item",
    "+ none",
    "* none",
    "1. none",
    "2024) none",
    "-",
    "12.",
    "3.5 metres",
    "> no quotation",
    "```",
    "```python",
    "~~~ none",
    "---",
    "===",
    "- - -",
    "***",
    "___",
    "| a | b |",
    "|---|---|",
    "[x]: /no-definition",
    "[no](link)",
    "![no](image)",
    "[1] a note",
    "<b>no tag</b>",
    "</b> <!-- none -->",
    "3 < 4 > 2",
    "&lt; is no entity",
    "&#35; nor this",
    "AT&T",
    r"\ and \* and \\ and C:\dir\_x",
    "snake_case __init__ _it_",
    "2 * 3 * 4 **no**",
    "~~no~~ ~5",
    "`no code` ``",
    "a`b",
]


def shown(markdown: str) -> str:
    markup: str = RENDERER.render(markdown)
    return markup.strip()


def element(tag: str, text: str) -> str:
    return f"<{tag}>{html.escape(text, quote=False).replace(chr(34), '&quot;')}</{tag}>"


def test_a_paragraph_stays_one() -> None:
    for text in TEXTS:
        page = element("p", text)

        assert shown(convert(page).text) == page, text


def test_a_second_line_stays_one_of_its_paragraph() -> None:
    for text in TEXTS:
        page = element("p", text).replace("<p>", "<p>above<br>\n")

        assert shown(convert(page).text).replace("<br />", "<br>") == page, text


def test_a_heading_keeps_its_text() -> None:
    for text in TEXTS:
        page = element("h2", text)

        assert shown(convert(page).text) == page, text


def test_an_item_keeps_its_text() -> None:
    for text in TEXTS:
        page = f"<ul>\n{element('li', text)}\n</ul>"

        assert shown(convert(page).text) == page, text


def test_a_cell_keeps_its_text() -> None:
    for text in TEXTS:
        cell = element("td", text)

        found = shown(convert(f"<table><tr><th>a<th>b<tr>{cell}<td>x</table>").text)

        assert re.findall("<td>.*?</td>", found) == [cell, "<td>x</td>"], text


@pytest.mark.parametrize("text", ["a", "a`b", "``", "`", "a`` `b", "* _x_ <b> &amp; \\", "# x"])
def test_code_keeps_its_text(text: str) -> None:
    page = f"<p>x {element('code', text)} y</p>"

    assert shown(convert(page).text) == page


@pytest.mark.parametrize("text", ["a", "```", "````\na\n```", "~~~", "# a\n- b"])
def test_a_fence_keeps_its_text(text: str) -> None:
    page = f"<pre>{element('code', text + chr(10))}</pre>"

    assert shown(convert(page).text) == page


@given(st.text(st.sampled_from("ab1 #>-+*=|`~[]():.<!&;\\_")))
def test_any_paragraph_stays_one(text: str) -> None:
    words = " ".join(text.split())
    page = element("p", words) if words else ""

    assert shown(convert(page).text) == page
