"""Text out of HTML, PDF and DOCX, by a process of its own that a hostile file can't outlive.

Run as a module it is that process: it reads one file after the other from a connection, with limits
on its memory, and is killed when a file takes longer than one of its size may.
"""

import json
import os
import re
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from io import BytesIO
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from xml.parsers import expat

from index.model.document import LANGUAGE, TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX

# Starting values, not measured: what is beyond them is no document that a person wrote.
SECONDS_MIN = 5.0  # that any file may take
SECONDS_MAX = 60.0
BYTES_PER_S = 80_000  # for which a file may take a second more; a file of 4.4 MB has a minute
_START_S_MAX = 60.0  # of the process, on a machine with much else to do
MEMORY_BYTES_MAX = 2 * 2**30
PAGES_MAX = 5_000
FRAMES_MAX = 5_000  # of Python's stack
UNPACKED_BYTES_MAX = 200 * 2**20
XML_BYTES_MIN = 2 * 2**20  # that the XML of any DOCX may have
XML_RATIO_MAX = 64  # of unpacked XML to the file; of ordinary documents it is about 10
XML_DEPTH_MAX = 200
FIELDS_MAX = 100  # of Word's fields, each begun within another one
ENTRIES_MAX = 10_000

_NEEDS = {".pdf": "pypdf", ".docx": "mammoth"}
_SUFFIX_BYTES_MAX = 16
_REPLY_BYTES_MAX = 8 * TEXT_CHARACTERS_MAX  # a character is six bytes of JSON at most, or a pair
_READY = b"ready"
_ROOT = Path(__file__).parents[1]


class Unreadable(ValueError):
    """The file gives no text; the message says why."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """text: Markdown. title and language only if the file names them."""

    text: str
    title: str | None = None
    language: str | None = None


class Extractor:
    """A context that ends its process; there is none before the first file.

    seconds_min, seconds_max: what the smallest and the largest file may take.
    """

    def __init__(self, seconds_min: float = SECONDS_MIN, seconds_max: float = SECONDS_MAX) -> None:
        self._seconds_min = seconds_min
        self._seconds_max = seconds_max
        self._is_killed = False
        self._started: tuple[subprocess.Popen[bytes], Connection] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def extract(self, suffix: str, content: bytes) -> Extracted:
        """Raises `Unreadable`."""
        if suffix in _NEEDS and find_spec(_NEEDS[suffix]) is None:
            raise Unreadable("needs more than is installed: pip install 'nearhit[files]'")
        seconds = min(self._seconds_min + len(content) / BYTES_PER_S, self._seconds_max)
        try:
            connection = self._start()
            connection.send_bytes(suffix.encode())
            connection.send_bytes(content)
            if not connection.poll(seconds):
                self.stop()
                raise Unreadable(f"takes longer to read than the {seconds:.0f} s that it may")
            reply = json.loads(connection.recv_bytes(_REPLY_BYTES_MAX))
        except (EOFError, OSError):
            self.stop()
            raise Unreadable("takes more memory to read than it may") from None
        finally:
            self._is_killed = False
        if "refused" in reply:
            raise Unreadable(reply["refused"])
        return Extracted(**reply)

    def kill(self) -> None:
        """End what `extract` is doing in another thread: its file is `Unreadable` then."""
        self._is_killed = True  # before the look at the process, which may be about to start
        started = self._started
        if started is not None:
            started[0].kill()

    def stop(self) -> None:
        started, self._started = self._started, None
        if started is not None:
            process, connection = started
            process.kill()
            process.wait()
            connection.close()

    def _start(self) -> Connection:
        """To the process, once it is ready. Raises `OSError` and `EOFError`."""
        if self._started is None:
            ours, theirs = Pipe()
            process = subprocess.Popen(  # noqa: S603  nothing in it is from outside
                [sys.executable, "-m", f"{__package__}.extract", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=os.environ | {"PYTHONPATH": str(_ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            theirs.close()
            self._started = process, ours
            if not ours.poll(_START_S_MAX):
                raise OSError("the process that reads files does not start")
            ours.recv_bytes(len(_READY))
        if self._is_killed:
            raise EOFError
        return self._started[1]


def _html(content: bytes | str) -> Extracted:
    from ingest.parse import html_markdown

    try:
        page = html_markdown.convert(content)
    except html_markdown.Unconvertible as error:
        raise Unreadable(str(error)) from None
    return Extracted(_blank_lines(page.text), page.title, page.language)


def _blank_lines(text: str) -> str:
    """Without spaces at the ends of lines, and with one blank line where there are several."""
    lines = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


def _pdf(content: bytes) -> Extracted:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("is encrypted")
    if len(reader.pages) > PAGES_MAX:
        raise Unreadable(f"has {len(reader.pages):,} pages; {PAGES_MAX:,} are the most")
    text = "\n\n".join(page.extract_text() for page in reader.pages)
    if not text.strip():
        raise Unreadable("has no text, only pictures of it perhaps")
    title = reader.metadata.title if reader.metadata else None
    return Extracted(_blank_lines(text), title)


def _docx(content: bytes) -> Extracted:
    import mammoth

    _check_docx(content)
    html = mammoth.convert_to_html(BytesIO(content), convert_image=lambda _image: []).value
    return _html(html)


def _check_docx(content: bytes) -> None:
    """What would take long to read is refused first. Raises `Unreadable`.

    A ZIP can't unpack to more than it says: `zipfile` stops reading there.
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
            f"unpacks to {len(entries):,} files of {unpacked:,} bytes; {ENTRIES_MAX:,} and "
            f"{UNPACKED_BYTES_MAX:,} are the most"
        )
    xml, xml_max = (
        sum(entry.file_size for entry in entries if _is_xml(entry)),
        max(XML_BYTES_MIN, XML_RATIO_MAX * size_bytes),
    )
    if xml > xml_max:
        raise Unreadable(f"unpacks to {xml:,} bytes of XML; for its size {xml_max:,} are the most")


def _is_xml(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.lower().endswith((".xml", ".rels"))


def _check_xml(part: IO[bytes]) -> None:
    """Nothing is nested so deep that reading it takes time square in its depth."""
    depth = fields = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, fields
        depth += 1
        if name.endswith("}fldChar"):
            kind = next((each for key, each in attributes.items() if "fldCharType" in key), "")
            fields += {"begin": 1, "end": -1}.get(kind, 0)
        if depth > XML_DEPTH_MAX or fields > FIELDS_MAX:
            raise Unreadable("is nested too deep")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_told: object) -> None:
        raise Unreadable("has a document type of its own in its XML")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    with suppress(expat.ExpatError):  # the library says better what is wrong with it
        parser.ParseFile(part)


_KINDS: Mapping[str, tuple[str, Callable[[bytes], Extracted]]] = {
    ".html": ("HTML", _html),
    ".htm": ("HTML", _html),
    ".pdf": ("a PDF", _pdf),
    ".docx": ("a DOCX", _docx),
}
SUFFIXES = frozenset(_KINDS)


def _read(suffix: str, content: bytes) -> dict[str, str | None]:
    """The reply: what was extracted, or why not. Libraries raise what they like."""
    name, extract = _KINDS[suffix]
    try:
        found = _checked(extract(content))
    except Unreadable as error:
        return {"refused": str(error)}
    except RecursionError:
        return {"refused": "is nested too deep"}
    except MemoryError:
        return {"refused": "takes more memory to read than it may"}
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        return {"refused": f"is not {name} that can be read: {type(error).__name__}: {said}"}
    return asdict(found)


def _checked(found: Extracted) -> Extracted:
    if len(found.text) > TEXT_CHARACTERS_MAX:
        raise Unreadable(
            f"has {len(found.text):,} characters of text; {TEXT_CHARACTERS_MAX:,} are the most"
        )
    title = " ".join((found.title or "").split())[:TITLE_CHARACTERS_MAX]
    language = (found.language or "").replace("_", "-")
    return Extracted(found.text, title or None, language if LANGUAGE.fullmatch(language) else None)


def _serve(connection: Connection) -> None:
    connection.send_bytes(_READY)
    while True:
        try:
            suffix = connection.recv_bytes(_SUFFIX_BYTES_MAX).decode()
            content = connection.recv_bytes()
        except EOFError:
            return
        connection.send_bytes(json.dumps(_read(suffix, content)).encode())


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    sys.setrecursionlimit(FRAMES_MAX)
    _serve(Connection(int(sys.argv[1])))
