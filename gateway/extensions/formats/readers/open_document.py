"""ODT and ODP: headings, paragraphs, lists, tables and footnotes; deleted words are left out."""

import zipfile
from collections.abc import Iterator
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions._html import html_reader
from gateway.extensions.formats.office import office_package

if TYPE_CHECKING:
    from lxml import etree

_REPEATS_MAX = 32  # of a cell, and of a space
_LEFT_OUT = {"annotation", "tracked-changes", "forms", "sequence-decls", "desc", "title"}
_TAGS = {"p": "p", "list": "ul", "list-item": "li", "list-header": "li", "table": "table"}
_TAGS |= {"table-row": "tr", "note-body": "i"}


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    from lxml import etree

    office_package.check(content)
    with zipfile.ZipFile(BytesIO(content)) as archive:
        if b"manifest:encryption-data" in archive.read("META-INF/manifest.xml"):
            raise Unreadable("is encrypted")
        parser = etree.XMLParser(resolve_entities=False, huge_tree=True)
        body = etree.fromstring(archive.read("content.xml"), parser)
        title = _title(archive)
    text = html_reader.convert_text("".join(_html(body)), options).text
    if not text.strip():
        raise Unreadable("has no text")
    return Extracted(text, title, losses=[*_losses(body)])


def _title(archive: zipfile.ZipFile) -> str | None:
    from lxml import etree

    if "meta.xml" not in archive.namelist():
        return None
    meta = etree.fromstring(archive.read("meta.xml"), etree.XMLParser(resolve_entities=False))
    return meta.findtext(".//{http://purl.org/dc/elements/1.1/}title") or None


def _losses(body: "etree._Element") -> Iterator[str]:
    if body.find(".//{*}changed-region") is not None:
        yield "it has tracked changes; its text is as if all of them were accepted"
    comments = sum(1 for _ in body.iter("{*}annotation"))
    formulas = sum(1 for _ in body.iter("{*}object"))
    if comments:
        yield f"its comments ({comments:,}) are not read"
    if formulas:
        yield f"its embedded objects, such as charts and equations ({formulas:,}), are not read"


def _html(element: "etree._Element") -> Iterator[str]:
    """Of the element, without what follows it."""
    from lxml import etree

    if not isinstance(element.tag, str):  # a comment, or an instruction
        return
    namespace, name = etree.QName(element).namespace or "", etree.QName(element).localname
    if name in _LEFT_OUT:
        return
    if name == "s":
        yield " " * min(_number(element, "c"), _REPEATS_MAX)
        return
    if name in ("tab", "line-break"):
        yield " "
        return
    start, end = _tags(element, namespace, name)
    inside = "".join(_children(element))
    repeats = _number(element, "number-columns-repeated") if name == "table-cell" else 1
    yield from [f"{start}{inside}{end}"] * min(repeats, _REPEATS_MAX)


def _children(element: "etree._Element") -> Iterator[str]:
    yield escape(element.text or "")
    for child in element:
        yield from _html(child)
        yield escape(child.tail or "")


def _tags(element: "etree._Element", namespace: str, name: str) -> tuple[str, str]:
    if name == "h":
        level = min(max(_number(element, "outline-level"), 1), 6)
        return f"<h{level}>", f"</h{level}>"
    if name == "page" and ":drawing:" in namespace:
        slide = next((value for key, value in element.attrib.items() if key.endswith("}name")), "")
        return f"<h2>{escape(slide)}</h2>", ""
    if name in ("table-cell", "covered-table-cell"):
        span = _number(element, "number-columns-spanned")
        return f'<td colspan="{span}">', "</td>"
    tag = _TAGS.get(name)
    return (f"<{tag}>", f"</{tag}>") if tag else ("", "")


def _number(element: "etree._Element", attribute: str) -> int:
    values = (value for key, value in element.attrib.items() if key.endswith("}" + attribute))
    value = next(values, "1")
    return int(value) if value.isdecimal() and len(value) < 10 else 1
