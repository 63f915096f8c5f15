"""The text of HTML and XHTML, whose encoding a header, an element or an XML declaration names.

A header precedes the page's own declaration, as for browsers.
"""

import re
from collections.abc import Iterator, Mapping

import webencodings
from lxml import etree

from gateway.extensions._files import encoding

# Browsers look at 1,024 bytes before they parse, and obey a later declaration too.
DECLARED_WITHIN_BYTES = 65_536
_STEP_BYTES = 1_024  # most pages declare their encoding within these
_XML_ENCODING = re.compile(rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([^"'>]{1,40})["']""")


def decode(content: bytes, content_type: str = "") -> str:
    """content_type: the HTTP header. Raises `encoding.NotText`."""
    return encoding.decode(content, _labels(content, content_type))


def _labels(content: bytes, content_type: str) -> Iterator[str]:
    yield from encoding.charsets(content_type)
    label = _declared_label(content[:DECLARED_WITHIN_BYTES])
    # The declaration could be read byte by byte, so the text is not in UTF-16.
    yield "utf-8" if (encoding.codec(label) or "").startswith("utf-16") else label


def _declared_label(start: bytes) -> str:
    """The first known label that an element declares, or else the XML declaration; or empty.

    A parser finds it, so that what stands in a comment, a script or a title declares nothing.
    """
    metas = _Metas()
    parser = etree.HTMLParser(target=metas, encoding="iso-8859-1", huge_tree=True)
    for position in range(0, len(start), _STEP_BYTES):
        parser.feed(start[position : position + _STEP_BYTES])
        if metas.label:
            return metas.label
    xml = _XML_ENCODING.match(start)
    return xml[1].decode("latin-1") if xml else ""


class _Metas:
    """The parser calls its methods."""

    def __init__(self) -> None:
        self.label = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag != "meta" or self.label:
            return
        label = attributes.get("charset")
        if label is None and attributes.get("http-equiv", "").strip().lower() == "content-type":
            label = next(iter(encoding.charsets(attributes.get("content", ""))), None)
        if label is not None and webencodings.lookup(label) is not None:
            self.label = label

    def close(self) -> None:
        """Has nothing to end."""
