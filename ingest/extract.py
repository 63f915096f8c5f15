"""Text out of HTML, PDF and DOCX, by a process of its own that a hostile file can't outlive.

Run as a module it is that process: it reads one file after the other from a connection, with limits
on its memory, and is killed when one takes too long.
"""

import json
import os
import re
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from io import BytesIO
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from index.document import LANGUAGE, TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX

# Starting values, not measured: what is beyond them is no document that a person wrote.
SECONDS_MAX = 60.0
MEMORY_BYTES_MAX = 2 * 2**30
PAGES_MAX = 5_000
FRAMES_MAX = 20_000  # of Python's stack: who leaves paragraphs open nests them
UNPACKED_BYTES_MAX = 200 * 2**20
ENTRIES_MAX = 10_000

_NEEDS = {".pdf": "pypdf", ".docx": "mammoth"}
_SUFFIX_BYTES_MAX = 16
_REPLY_BYTES_MAX = 8 * TEXT_CHARACTERS_MAX  # a character is six bytes of JSON at most, or a pair
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
    """A context that ends its process; there is none before the first file."""

    def __init__(self, seconds_max: float = SECONDS_MAX) -> None:
        self._seconds_max = seconds_max
        self._started: tuple[subprocess.Popen[bytes], Connection] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def extract(self, suffix: str, content: bytes) -> Extracted:
        """Raises `Unreadable`."""
        if suffix in _NEEDS and find_spec(_NEEDS[suffix]) is None:
            raise Unreadable("needs more than is installed: pip install 'nearhit[files]'")
        _, connection = self._start()
        try:
            connection.send_bytes(suffix.encode())
            connection.send_bytes(content)
            if not connection.poll(self._seconds_max):
                self._stop()
                raise Unreadable(f"takes longer than {self._seconds_max:g} s to read")
            reply = json.loads(connection.recv_bytes(_REPLY_BYTES_MAX))
        except (EOFError, OSError):
            self._stop()
            raise Unreadable("takes more memory to read than it may") from None
        if "refused" in reply:
            raise Unreadable(reply["refused"])
        return Extracted(**reply)

    def _start(self) -> tuple[subprocess.Popen[bytes], Connection]:
        if self._started is None:
            ours, theirs = Pipe()
            process = subprocess.Popen(  # noqa: S603  nothing in it is from outside
                [sys.executable, "-m", "ingest.extract", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=os.environ | {"PYTHONPATH": str(_ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            theirs.close()
            self._started = process, ours
        return self._started

    def _stop(self) -> None:
        if self._started is not None:
            process, connection = self._started
            self._started = None
            connection.close()
            process.kill()
            process.wait()


def _html(content: bytes | str) -> Extracted:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(content, "html.parser")
    for unseen in soup(["script", "style", "noscript", "template", "svg", "iframe", "object"]):
        unseen.decompose()
    title = soup.title.get_text() if soup.title else None
    language = str(soup.html.get("lang", "")) if soup.html else ""
    body = soup.find("main") or soup.find("article") or soup.body or soup
    for around in body(["nav", "title"]):
        around.decompose()
    converter = MarkdownConverter(heading_style="ATX", bullets="-", strip=["a", "img"])
    return Extracted(_blank_lines(converter.convert_soup(body)), title, language or None)


def _blank_lines(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


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

    _refuse_bomb(content)
    html = mammoth.convert_to_html(BytesIO(content), convert_image=lambda _image: []).value
    return _html(html)


def _refuse_bomb(content: bytes) -> None:
    """A ZIP can't unpack to more than it says: `zipfile` stops reading there."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        entries = archive.infolist()
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > ENTRIES_MAX or unpacked > UNPACKED_BYTES_MAX:
        raise Unreadable(
            f"unpacks to {len(entries):,} files of {unpacked:,} bytes; {ENTRIES_MAX:,} and "
            f"{UNPACKED_BYTES_MAX:,} are the most"
        )


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
