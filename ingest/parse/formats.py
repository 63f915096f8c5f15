"""The formats of files whose text is extracted, by suffix. A new format gets a row here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from ingest.parse.extracted import Extracted
from ingest.parse.readers import docx, html, pdf

FILE_BYTES_MAX = 32 * 2**20  # a starting value, not measured


@dataclass(frozen=True, slots=True)
class Format:
    """name: with its article, for messages. read: raises `Unreadable`, or what its library raises.

    package: what the reader imports; empty: nothing that a plain installation lacks.
    bytes_max: of a file.
    """

    name: str
    read: Callable[[bytes], Extracted]
    package: str = ""
    bytes_max: int = FILE_BYTES_MAX

    @property
    def is_installed(self) -> bool:
        return not self.package or find_spec(self.package) is not None


WEB_PAGE = ":page"  # instead of a suffix: HTML of which only the content is wanted, and links
FORMATS: Mapping[str, Format] = {
    WEB_PAGE: Format("HTML", html.read_web_page),
    ".html": Format("HTML", html.read),
    ".htm": Format("HTML", html.read),
    ".pdf": Format("a PDF", pdf.read, "pypdf"),
    ".docx": Format("a DOCX", docx.read, "mammoth"),
}
SUFFIXES = frozenset(FORMATS) - {WEB_PAGE}
