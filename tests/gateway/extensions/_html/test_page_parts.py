"""Which part of a page is kept: the one that holds its text."""

import pytest

from gateway.extensions._html import html_markdown
from gateway.extensions.sources_web import web_page

LONG = "The parcel can be sent back within thirty days, with its form and its receipt."
MENU = "<ul>" + "<li><a href=/x>One of the many pages here</a></li>" * 50 + "</ul>"


def words(html: str) -> str:
    return " ".join(html_markdown.convert(html).text.split())


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (f"<p>Before</p><main><p>{LONG}</p></main><p>After</p>", LONG),
        (f"<p>Before</p><article><p>{LONG}</p></article>", LONG),
        (f"<div role=main><p>{LONG}</p></div><p>After</p>", LONG),
        (f"<main><p>{LONG}</p><article><p>Inner</p></article></main>", f"{LONG} Inner"),
        (f"<main></main><article><p>{LONG}</p></article><p>x</p>", LONG),
        ("<article>One</article><article>Two</article><article>Three</article>", "One Two Three"),
        ("<article>One<article>Reply</article>Last</article>", "One Reply Last"),
        ("<main hidden>Old</main><main>New</main>", "New"),
        ("<main>One</main><main>Two</main>", "One Two"),
        (f"<main></main><p>{LONG}</p>", LONG),
        (f"<main><img src=x></main><p>{LONG}</p>", LONG),
        (f"<main><nav>Menu</nav></main><p>{LONG}</p>", LONG),
        (f"<article>Teaser</article><p>{LONG}</p>", f"Teaser {LONG}"),
        (f"<p>{LONG}</p><main>Skip target</main>", f"{LONG} Skip target"),
        (f"<main><p>Short.</p></main><div>{MENU}</div>", "Short."),
        (f"<main><p>Short.</p></main><footer><p>{LONG}</p></footer>", "Short."),
        (f"<main><p>Short.</p></main><div role=contentinfo><p>{LONG}</p></div>", "Short."),
        (f"<aside>{LONG}</aside><article><header>Title</header><p>One</p></article>", "Title One"),
        ("<nav><a href=/a>All there is</a></nav>", "All there is"),
        ("<html><body style='visibility:hidden'><p>Shown by a script</p>", "Shown by a script"),
    ],
)
def test_the_part_that_holds_the_text_is_kept(html: str, text: str) -> None:
    assert words(html) == text


@pytest.mark.parametrize(
    ("html", "share"),
    [
        (f"<main>{LONG}</main><nav>{LONG}</nav><footer>{LONG}</footer>", 1.0),
        ("<main>abcdef</main><p>abcd</p>", 0.6),
        ("<main>abcd</main><p>abcdef</p>", 1.0),
    ],
)
def test_the_share_of_the_text_is_known(html: str, share: float) -> None:
    assert html_markdown.convert(html).share == share


@pytest.mark.thorough
def test_of_a_web_page_that_marks_nothing_at_least_half_is_kept() -> None:
    html = f"<title>T</title><article>Teaser</article><div>{LONG} {LONG}</div>"

    page = web_page.convert(html).page

    assert page.text.count(LONG) == 2
    assert page.share >= 0.5
