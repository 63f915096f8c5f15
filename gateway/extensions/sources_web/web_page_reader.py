"""Reads a web page in the process that extracts texts, which imports this module."""

from gateway.extensions._files.extracted import Extracted, ReadOptions
from gateway.extensions._files.formats import Format, by_suffix
from gateway.extensions._html import html_reader


def _read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable` and `encoding.NotText`."""
    from gateway.extensions._html import html_encoding
    from gateway.extensions.sources_web import web_page

    html = html_encoding.decode(content, options.content_type)
    found = web_page.convert(html, marks_hidden=options.marks_hidden)
    page, losses = found.page, html_reader.losses_of(found.page, options)
    return Extracted(
        page.text, page.title, page.language, losses, page.hidden > 0, found.links, found.robots
    )


WEB_PAGES = by_suffix([Format("HTML", (".html",), _read)])
