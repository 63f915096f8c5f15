"""Sitemaps, by the protocol of sitemaps.org: XML, plain or packed with gzip."""

import zlib
from dataclasses import dataclass
from xml.parsers import expat

from gateway.extensions._web import client
from gateway.extensions._web.errors import Unfetchable

SITEMAP_BYTES_MAX = 16 * 2**20  # unpacked; a starting value: 50,000 URLs of 300 bytes
SITEMAPS_MAX = 100  # that an index may list; a starting value
URLS_MAX = 50_000  # of one sitemap, as the protocol has it
_DEPTH_MAX = 8
_GZIP = b"\x1f\x8b"
_TEXT_CHARACTERS_MAX = 4_096


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The locations in it: of further sitemaps, if it is an index, or else of pages."""

    is_index: bool
    locations: tuple[str, ...]


def parse(content: bytes) -> Sitemap | None:
    """None if the content is no sitemap. Raises `Unfetchable` for a sitemap with errors."""
    if content.startswith(_GZIP):
        try:
            content = client.gunzip(content, SITEMAP_BYTES_MAX)
        except zlib.error:
            raise Unfetchable("is not a readable gzip file") from None
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return None
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        if reader.root is None:
            return None
        raise Unfetchable(f"is not well-formed XML: line {error.lineno}") from None
    except _OtherRoot:
        return None
    return Sitemap(reader.root == "sitemapindex", tuple(reader.locations))


class _OtherRoot(Exception):
    """Its root is no sitemap's."""


class _Reader:
    """root: the name of the outermost element. Entities can't be declared."""

    def __init__(self) -> None:
        self.root: str | None = None
        self.locations: list[str] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._room = 0  # characters that the text may still have
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        local = name.rpartition("}")[2]
        if self.root is None:
            if local not in ("urlset", "sitemapindex"):
                raise _OtherRoot
            self.root = local
        self._path.append(local)
        self._text.clear()
        self._room = _TEXT_CHARACTERS_MAX
        if len(self._path) > _DEPTH_MAX:
            raise Unfetchable("is nested too deeply for a sitemap")

    def _end(self, _name: str) -> None:
        if self._path[1:] in (["url", "loc"], ["sitemap", "loc"]):
            if len(self.locations) == URLS_MAX:
                raise Unfetchable(f"lists more than {URLS_MAX:,} locations")
            self.locations.append("".join(self._text).strip())
        self._path.pop()

    def _data(self, text: str) -> None:
        if self._room > 0:
            self._text.append(text)
            self._room -= len(text)

    def _doctype(self, *_doctype: object) -> None:
        raise _OtherRoot  # an HTML page, or entities, which a sitemap does not need
