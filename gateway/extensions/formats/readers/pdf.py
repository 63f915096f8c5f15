"""PDF, by `pypdf`: the text of its pages, and which of them are images."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions.formats.number_ranges import ranges
from gateway.extensions.formats.pdf.hyphens import join_hyphenated

if TYPE_CHECKING:  # the library takes 0.2 s to import, and an installation may lack it
    from pypdf import PageObject, PdfReader

PAGES_MAX = 5_000
# Starting values: a scan fills its page, and a stamp or a page number on it is short.
_SCAN_SHARE_MIN = 0.5  # of the page's area that one image covers
_SCAN_CHARACTERS_MAX = 100
# The operators that paint an image or a path (ISO 32000, table A.1); pypdf names inline images so.
_PAINTS = frozenset(b"Do|INLINE IMAGE|S|s|f|F|f*|B|B*|b|b*|sh".split(b"|"))
_CONTINUES = re.compile(r"[\w,;-]\n*\Z")


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("is encrypted")
    if len(reader.pages) > PAGES_MAX:
        raise Unreadable(f"has {len(reader.pages):,} pages; the limit is {PAGES_MAX:,}")
    pages = [_read_page(page) for page in reader.pages]
    scanned = {number: "" for number, (_, is_scan) in enumerate(pages) if is_scan}
    if options.reads_scans and scanned:
        from gateway.extensions.formats.pdf import scans

        scanned |= scans.read(reader.pages, scanned)
    text = join_hyphenated(_join(scanned.get(at) or text for at, (text, _) in enumerate(pages)))
    if not text.strip():
        raise Unreadable("has no text; perhaps its pages are images")
    title = reader.metadata.title if reader.metadata else None
    return Extracted(text, title, losses=[*_scans(scanned), *_left_out(reader)])


def _read_page(page: "PageObject") -> tuple[str, bool]:
    """The text, and whether the page seems to show another one in an image or a drawing."""
    text = page.extract_text()
    return text, len(text) < _SCAN_CHARACTERS_MAX and _is_scan(page, has_text=bool(text.strip()))


def _is_scan(page: "PageObject", *, has_text: bool) -> bool:
    """Whether a page of little text has an image that fills it; without text, any painting."""
    area = abs(float(page.mediabox.width) * float(page.mediabox.height)) or 1.0
    covered, paints = 0.0, False

    def watch(operator: bytes, _operands: Any, matrix: Sequence[float], _text_matrix: Any) -> None:
        nonlocal covered, paints
        paints = paints or operator in _PAINTS
        if operator == b"Do":  # an image is the unit square under the matrix
            covered = max(covered, abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]))

    page.extract_text(visitor_operand_before=watch)  # slower than without: pages of text go without
    return covered > _SCAN_SHARE_MIN * area if has_text else paints


def _join(pages: Iterable[str]) -> str:
    """The pages as one text; a sentence that goes on over the page break stays a paragraph."""
    text = ""
    parts: list[str] = []
    for page in filter(str.strip, pages):
        goes_on = _CONTINUES.search(text) and page.lstrip()[:1].islower()
        parts += [text.rstrip("\n") + "\n" if goes_on else text + "\n\n"] if text else []
        text = page
    return "".join([*parts, text])


def _scans(scanned: Mapping[int, str]) -> Iterator[str]:
    """scanned: what was read in the image of a page, by its number from 0 on."""
    unread = [number + 1 for number, text in scanned.items() if not text]
    if unread:
        yield f"on {_pages(unread)} an image seems to hold the text, and is not read"
    if read := [number + 1 for number, text in scanned.items() if text]:
        yield f"on {_pages(read)} the text is read from an image, and may have errors"


def _pages(numbers: Sequence[int]) -> str:
    return f"{'page' if len(numbers) == 1 else 'pages'} {ranges(numbers)}"


def _left_out(reader: "PdfReader") -> Iterator[str]:
    """Parts of the file that are no text of a page."""
    catalog = reader.root_object
    form = catalog.get("/AcroForm")
    if form is not None and form.get_object().get("/Fields"):
        yield "the values of its form are not read"
    names = catalog.get("/Names")
    if names is not None and "/EmbeddedFiles" in names.get_object():
        yield "its attached files are not read"
