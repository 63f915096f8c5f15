"""A web page as Markdown, without what surrounds its content, and the links in it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from lxml import etree

from gateway.extensions._html import html_markdown
from gateway.extensions._html.html_markdown import MarkdownPage
from gateway.extensions.sources_web.visible_tree import visible_tree
from index.model.document_limits import URI_CHARACTERS_MAX

LINKS_MAX = 2_000  # of a page; a starting value
SHARE_MIN = 0.5  # of a page's text: less than that is not its content; a starting value
_CRAWLERS = ("robots", "nearhit")  # names of meta elements for all crawlers, and for this one


@dataclass(frozen=True, slots=True)
class WebPage:
    """page: its content. robots: the contents of its meta elements for crawlers, with commas."""

    page: MarkdownPage
    links: tuple[str, ...]
    robots: str


def convert(content: str, *, marks_hidden: bool = False) -> WebPage:
    """The content: what the page itself marks as such, or else what trafilatura finds.

    On pages that mark it, trafilatura left out lists of links; on others, it leaves out what
    surrounds the content. marks_hidden: as of `html_markdown.convert`.
    Raises `Unreadable`.
    """
    page = html_markdown.convert(content, marks_hidden=marks_hidden)
    if not page.is_marked and page.text.strip():
        text = _main_text(visible_tree(content, marks_hidden=marks_hidden)) or ""
        share = min(len(text) / max(page.size, 1), 1.0)
        if share >= SHARE_MIN:
            page = replace(page, text=text, share=share)
    collector = _collect(content)
    return WebPage(page, tuple(collector.links), ",".join(collector.robots))


def _main_text(tree: etree._Element) -> str | None:
    import trafilatura

    text: str | None = trafilatura.extract(
        tree,
        output_format="markdown",
        include_comments=False,
        include_tables=True,
        include_links=False,
        favor_recall=True,
    )
    return text


def _collect(content: str) -> "_Collector":
    collector = _Collector()
    parser = etree.HTMLParser(target=collector, encoding="utf-8", huge_tree=True)
    etree.fromstring(content.encode("utf-8", "replace") or b"<p>", parser)
    return collector


class _Collector:
    """The parser calls its methods."""

    def __init__(self) -> None:
        self.links: dict[str, None] = {}
        self.robots: list[str] = []
        self._base: str | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "meta" and (attributes.get("name") or "").strip().lower() in _CRAWLERS:
            self.robots.append(attributes.get("content") or "")
        target = attributes.get("href")
        if target is None:
            return
        if tag == "base" and self._base is None:
            self._base = target
        elif tag == "a" and len(self.links) < LINKS_MAX and len(target) <= URI_CHARACTERS_MAX:
            try:
                self.links.setdefault(urljoin(self._base or "", target.strip()))
            except ValueError:  # no URL
                return

    def end(self, tag: str) -> None:
        """Keeps nothing."""

    def data(self, text: str) -> None:
        """Keeps nothing."""

    def close(self) -> None:
        """Has nothing to end."""
