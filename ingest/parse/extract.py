"""Extracts the text of HTML, PDF and DOCX in a process of its own.

Run as a module, this file is that process: it reads one file after the other from a connection.
Its memory is limited, and it is killed when a file takes longer than its size allows.
"""

import json
import re
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from io import BytesIO
from typing import IO, Any
from xml.parsers import expat

from common.processes.bounded_process import ProcessLimits
from common.processes.module_worker import ModuleWorker, ProcessEnded, answer_requests
from index.model.document import LANGUAGE, TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX

# Starting values, not measured; no document that a person wrote exceeds them.
SECONDS_MIN = 5.0  # for any file
SECONDS_MAX = 60.0
BYTES_PER_S = 80_000  # a file has one more second for each; one of 4.4 MB has a minute
MEMORY_BYTES_MAX = 2 * 2**30
CPU_S_MAX = 24 * 3_600  # of all files that one process reads
PAGES_MAX = 5_000
FRAMES_MAX = 5_000  # of Python's stack
UNPACKED_BYTES_MAX = 200 * 2**20
XML_BYTES_MIN = 2 * 2**20  # the limit of any DOCX's XML is at least this
XML_RATIO_MAX = 64  # of unpacked XML to the file; about 10 in ordinary documents
XML_DEPTH_MAX = 200
FIELDS_MAX = 100  # of Word's fields, nested in each other
ENTRIES_MAX = 10_000

_NEEDS = {".pdf": "pypdf", ".docx": "mammoth"}
WEB_PAGE = ":page"  # instead of a suffix: HTML of which only the content is wanted, and links
_REPLY_BYTES_MAX = 8 * TEXT_CHARACTERS_MAX  # a character is at most twelve bytes of JSON
_LIMITS = ProcessLimits(MEMORY_BYTES_MAX, CPU_S_MAX)


class Unreadable(ValueError):
    """No text can be extracted from the file; the message says why."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """text: Markdown. title, language: None if the file does not name them.

    links: of a web page. robots: what it tells crawlers, such as `noindex`.
    """

    text: str
    title: str | None = None
    language: str | None = None
    links: Sequence[str] = ()
    robots: str = ""


class Extractor(ModuleWorker):
    """seconds_min: the time limit of the smallest file."""

    def __init__(self, seconds_min: float = SECONDS_MIN) -> None:
        super().__init__(f"{__package__}.extract", _LIMITS, _REPLY_BYTES_MAX)
        self._seconds_min = seconds_min

    def extract(self, suffix: str, content: bytes) -> Extracted:
        """Raises `Unreadable`."""
        if suffix in _NEEDS and find_spec(_NEEDS[suffix]) is None:
            raise Unreadable("needs the extra `files`: pip install '.[files]' in a checkout")
        seconds = min(self._seconds_min + len(content) / BYTES_PER_S, SECONDS_MAX)
        try:
            fields = json.loads(self.ask(suffix.encode(), content, seconds=seconds))
        except TimeoutError:
            reason = f"takes longer to read than the limit of {seconds:.0f} s"
            raise Unreadable(reason) from None
        except ProcessEnded:
            raise Unreadable("takes more memory to read than the limit") from None
        if "refused" in fields:
            raise Unreadable(fields["refused"])
        return Extracted(**fields)


def _html(content: bytes | str) -> Extracted:
    from ingest.parse import html_markdown

    try:
        page = html_markdown.convert(content)
    except html_markdown.Unconvertible as error:
        raise Unreadable(str(error)) from None
    return Extracted(_normalise_lines(page.text), page.title, page.language)


def _web_page(content: bytes) -> Extracted:
    from ingest.parse import html_markdown, web_page

    try:
        page = web_page.convert(content)
    except html_markdown.Unconvertible as error:
        raise Unreadable(str(error)) from None
    text = _normalise_lines(page.text)
    return Extracted(text, page.title, page.language, page.links, page.robots)


def _normalise_lines(text: str) -> str:
    """The text without trailing spaces and without consecutive blank lines."""
    lines = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


def _pdf(content: bytes) -> Extracted:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("is encrypted")
    if len(reader.pages) > PAGES_MAX:
        raise Unreadable(f"has {len(reader.pages):,} pages; the limit is {PAGES_MAX:,}")
    text = "\n\n".join(page.extract_text() for page in reader.pages)
    if not text.strip():
        raise Unreadable("has no text; perhaps its pages are images")
    title = reader.metadata.title if reader.metadata else None
    return Extracted(_normalise_lines(text), title)


def _docx(content: bytes) -> Extracted:
    import mammoth

    from ingest.parse import word_tables

    _check_docx(content)
    file = BytesIO(word_tables.rewrite(content))
    html = mammoth.convert_to_html(file, convert_image=lambda _image: []).value
    return _html(html)


def _check_docx(content: bytes) -> None:
    """Raises `Unreadable` for a file that would take long to read.

    The sizes in a ZIP's directory can be trusted: `zipfile` stops reading an entry there.
    """
    with zipfile.ZipFile(BytesIO(content)) as archive:
        entries = archive.infolist()
        _check_sizes(entries, len(content))
        for entry in entries:
            if _is_xml(entry):
                with archive.open(entry) as part:
                    _check_xml(part)


def _check_sizes(entries: Sequence[zipfile.ZipInfo], size_bytes: int) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > ENTRIES_MAX or unpacked > UNPACKED_BYTES_MAX:
        raise Unreadable(
            f"unpacks to {len(entries):,} files of {unpacked:,} bytes; the limits are "
            f"{ENTRIES_MAX:,} and {UNPACKED_BYTES_MAX:,}"
        )
    xml, xml_max = (
        sum(entry.file_size for entry in entries if _is_xml(entry)),
        max(XML_BYTES_MIN, XML_RATIO_MAX * size_bytes),
    )
    if xml > xml_max:
        raise Unreadable(f"unpacks to {xml:,} bytes of XML; the limit for its size is {xml_max:,}")


def _is_xml(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.lower().endswith((".xml", ".rels"))


def _check_xml(part: IO[bytes]) -> None:
    """Refuses deep nesting: the time to read grows with the square of the depth."""
    depth = fields = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, fields
        depth += 1
        if name.endswith("}fldChar"):
            kind = next((value for key, value in attributes.items() if "fldCharType" in key), "")
            fields += {"begin": 1, "end": -1}.get(kind, 0)
        if depth > XML_DEPTH_MAX or fields > FIELDS_MAX:
            raise Unreadable("is nested too deeply")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_doctype: object) -> None:
        raise Unreadable("declares a document type in its XML")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    with suppress(expat.ExpatError):  # the library reports invalid XML better
        parser.ParseFile(part)


_KINDS: Mapping[str, tuple[str, Callable[[bytes], Extracted]]] = {
    ".html": ("HTML", _html),
    ".htm": ("HTML", _html),
    ".pdf": ("a PDF", _pdf),
    ".docx": ("a DOCX", _docx),
    WEB_PAGE: ("HTML", _web_page),
}
SUFFIXES = frozenset(_KINDS) - {WEB_PAGE}


def _read(suffix: str, content: bytes) -> dict[str, Any]:
    """The reply: the extracted fields, or the reason for none. Libraries raise any exception."""
    name, extract = _KINDS[suffix]
    try:
        extracted = _validate(extract(content))
    except Unreadable as error:
        return {"refused": str(error)}
    except RecursionError:
        return {"refused": "is nested too deeply"}
    except MemoryError:
        return {"refused": "takes more memory to read than the limit"}
    except Exception as error:
        message = " ".join(str(error).split())[:200]
        return {"refused": f"is not {name} that can be read: {type(error).__name__}: {message}"}
    return asdict(extracted)


def _validate(extracted: Extracted) -> Extracted:
    text = extracted.text
    if len(text) > TEXT_CHARACTERS_MAX:
        raise Unreadable(
            f"has {len(text):,} characters of text; the limit is {TEXT_CHARACTERS_MAX:,}"
        )
    title = " ".join((extracted.title or "").split())[:TITLE_CHARACTERS_MAX]
    language = (extracted.language or "").replace("_", "-")
    return Extracted(
        text,
        title or None,
        language if LANGUAGE.fullmatch(language) else None,
        extracted.links,
        extracted.robots,
    )


def _answer(suffix: bytes, content: bytes) -> bytes:
    return json.dumps(_read(suffix.decode(), content)).encode()


if __name__ == "__main__":
    sys.setrecursionlimit(FRAMES_MAX)
    answer_requests(2, _answer)
