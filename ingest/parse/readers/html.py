"""HTML: whole pages, and the content of web pages."""

from ingest.parse.extracted import Extracted, Unreadable


def read(content: bytes | str) -> Extracted:
    """Raises `Unreadable`."""
    from ingest.parse import html_markdown

    try:
        page = html_markdown.convert(content)
    except html_markdown.Unconvertible as error:
        raise Unreadable(str(error)) from None
    return Extracted(page.text, page.title, page.language)


def read_web_page(content: bytes) -> Extracted:
    """Raises `Unreadable`."""
    from ingest.parse import html_markdown, web_page

    try:
        page = web_page.convert(content)
    except html_markdown.Unconvertible as error:
        raise Unreadable(str(error)) from None
    return Extracted(page.text, page.title, page.language, links=page.links, robots=page.robots)
