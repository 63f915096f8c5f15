"""Whole pages of HTML, and what other formats become on their way to Markdown."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable

if TYPE_CHECKING:
    from gateway.extensions._html.html_markdown import MarkdownPage

SHARE_UNSAID_MIN = 0.9  # of a page's text that is kept; of a smaller share it is said


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable` and `encoding.NotText`."""
    found = convert(content, options)
    if not found.text.strip():
        raise Unreadable("has no text that readers see")
    return found


def convert(content: bytes, options: ReadOptions) -> Extracted:
    """As `read`, also of a page without text."""
    from gateway.extensions._html import html_encoding

    return convert_text(html_encoding.decode(content, options.content_type), options)


def convert_text(html: str, options: ReadOptions, hidden: int = 0) -> Extracted:
    """hidden: the number of hidden characters that were found before. Raises `Unreadable`."""
    from gateway.extensions._html import html_markdown

    page = html_markdown.convert(html, marks_hidden=options.marks_hidden)
    page = replace(page, hidden=page.hidden + hidden)
    return Extracted(
        page.text, page.title, page.language, losses_of(page, options), page.hidden > 0
    )


def losses_of(page: "MarkdownPage", options: ReadOptions) -> list[str]:
    losses = []
    if page.share < SHARE_UNSAID_MIN:
        losses.append(f"its main part is kept, {page.share:.0%} of the page's text")
    if page.hidden:
        outcome = "marked" if options.marks_hidden else "left out"
        losses.append(f"{page.hidden:,} characters that readers don't see are {outcome}")
    return losses
