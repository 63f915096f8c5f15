"""HTML: whole pages, and the content of web pages."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.parse import encoding
from ingest.parse.extracted import Extracted, ReadOptions, Unreadable

if TYPE_CHECKING:
    from ingest.parse.html.html_markdown import MarkdownPage

SHARE_UNSAID_MIN = 0.9  # of a page's text that is kept; of a smaller share it is said


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable` and `encoding.NotText`."""
    found = read_text(encoding.decode(content, options.content_type, is_markup=True), options)
    if not found.text.strip():
        raise Unreadable("has no text that readers see")
    return found


def read_text(html: str, options: ReadOptions, hidden: int = 0) -> Extracted:
    """hidden: the number of hidden characters that were found before. Raises `Unreadable`."""
    from ingest.parse.html import html_markdown

    try:
        page = html_markdown.convert(html, marks_hidden=options.marks_hidden)
    except html_markdown.Unconvertible as error:
        raise Unreadable(str(error)) from None
    losses = _losses(replace(page, hidden=page.hidden + hidden), options)
    return Extracted(page.text, page.title, page.language, losses)


def read_web_page(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable` and `encoding.NotText`."""
    from ingest.parse.html import html_markdown, web_page

    try:
        html = encoding.decode(content, options.content_type, is_markup=True)
        found = web_page.convert(html, marks_hidden=options.marks_hidden)
    except html_markdown.Unconvertible as error:
        raise Unreadable(str(error)) from None
    page = found.page
    losses = _losses(page, options)
    return Extracted(page.text, page.title, page.language, losses, found.links, found.robots)


def _losses(page: "MarkdownPage", options: ReadOptions) -> list[str]:
    losses = []
    if page.share < SHARE_UNSAID_MIN:
        losses.append(f"its main part is kept, {page.share:.0%} of the page's text")
    if page.hidden:
        outcome = "marked" if options.marks_hidden else "left out"
        losses.append(f"{page.hidden:,} characters that readers don't see are {outcome}")
    return losses
