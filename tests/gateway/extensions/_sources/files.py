"""Files of the kinds that need a library to be read, made without it."""

import zipfile
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

_CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument'
    '.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.openxmlformats.org'
    '/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def write(path: Path, content: str | bytes = "Some text.\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pdf(pages: Sequence[str], title: str = "") -> bytes:
    """A page for each text, which is one line; an empty one is a page without text."""
    shown = [
        b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % text.encode() if text else b"" for text in pages
    ]
    return pdf_of(shown, title)


def pdf_of(pages: Sequence[bytes], title: str = "") -> bytes:
    """A page for each content, which may use the font F1 and the image X1."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % (6 + 2 * at) for at in range(len(pages))), len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (%s) >>" % title.encode(),
        stream(b"\0", b"/Type /XObject /Subtype /Image /Width 1 /Height 1 "),
    ]
    for at, shown in enumerate(pages):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> /XObject << /X1 5 0 R >> >> >>" % (7 + 2 * at),
            stream(shown),
        ]
    return _numbered(objects)


def pdf_bomb(size_bytes: int) -> bytes:
    """A page whose content is packed so well that it takes so many bytes when unpacked."""
    return _packed(b" " * size_bytes)


def slow_pdf() -> bytes:
    """A small file of so many texts that reading them takes about a minute, in little memory."""
    return _packed(b"BT /F1 12 Tf " + b"(x) Tj 1 0 Td " * 20_000 + b"ET", pages=200)


def _packed(content: bytes, pages: int = 1) -> bytes:
    """With the same content on each page."""
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 6 0 R "
        b"/Resources << /Font << /F1 3 0 R >> >> >>"
    )
    return _numbered(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"5 0 R " * pages, pages),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< >>",
            page,
            stream(zlib.compress(content), b"/Filter /FlateDecode "),
        ]
    )


def stream(content: bytes, filtered: bytes = b"") -> bytes:
    head = b"<< %s/Length %d >>" % (filtered, len(content))
    return head + b"\nstream\n" + content + b"\nendstream"


def _numbered(objects: Sequence[bytes]) -> bytes:
    out, offsets = BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, content in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for offset in offsets:
        out.write(b"%010d 00000 n \n" % offset)
    out.write(
        b"trailer << /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, start)
    )
    return out.getvalue()


def docx(paragraphs: Sequence[str]) -> bytes:
    """The first paragraph is a heading."""
    body = "".join(
        f"<w:p>{'' if at else _HEADING}<w:r><w:t>{text}</w:t></w:r></w:p>"
        for at, text in enumerate(paragraphs)
    )
    return docx_of(body)


def docx_of(body: str) -> bytes:
    """body: XML, which need not be well-formed."""
    document = f'<w:document xmlns:w="{_WORDS}"><w:body>{body}</w:body></w:document>'
    return zipped({"word/document.xml": document.encode()})


def zipped(files: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


_HEADING = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
