"""EPUB: its chapters in the order of reading."""

import posixpath
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote

from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions._html import html_reader
from gateway.extensions.formats.office import office_package

if TYPE_CHECKING:
    from lxml import etree

_DC = "{http://purl.org/dc/elements/1.1/}"
_CHAPTERS = ("application/xhtml+xml", "text/html")
_PROTECTION = ("META-INF/rights.xml", "META-INF/sinf.xml")


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    office_package.check(content, xml_suffixes=(".opf",))
    with zipfile.ZipFile(BytesIO(content)) as archive:
        if not set(_PROTECTION).isdisjoint(archive.namelist()):
            raise Unreadable("is protected against copying")
        container = _parse(archive, "META-INF/container.xml")
        package = container.find(".//{*}rootfile").get("full-path", "")
        book = _parse(archive, package)
        texts, losses = [], []
        for chapter in _chapters(book, posixpath.dirname(package)):
            try:
                texts.append(html_reader.convert(archive.read(chapter), options).text)
            except KeyError:
                losses.append(f"the chapter {chapter} is missing")
    text = "\n\n".join(texts)
    if not text.strip():
        raise Unreadable("has no text; perhaps its pages are images")
    title, language = book.findtext(f".//{_DC}title"), book.findtext(f".//{_DC}language")
    return Extracted(text, title, language, losses=losses)


def _chapters(book: "etree._Element", folder: str) -> Iterator[str]:
    manifest = {item.get("id"): item for item in book.iter("{*}item")}
    for reference in book.iter("{*}itemref"):
        item = manifest.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _CHAPTERS:
            continue
        if "nav" not in item.get("properties", "").split():
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))


def _parse(archive: zipfile.ZipFile, part: str) -> "etree._Element":
    from lxml import etree

    return etree.fromstring(archive.read(part), etree.XMLParser(resolve_entities=False))
