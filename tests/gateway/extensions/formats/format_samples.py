"""A small file of each format, made without the libraries that read it."""

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from struct import pack

from tests.gateway.extensions._sources.files import docx, pdf

WORDS = "Everybody gets twenty-five days"  # in the text of each sample

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def package(files: Mapping[str, str | bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def relations(**targets: tuple[str, str]) -> str:
    """By identifier, the last word of the type, and the target."""
    each = (
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(each)}</Relationships>'


def xlsx(
    rows: str, *, name: str = "Leave", state: str = "visible", more: Mapping[str, str] | None = None
) -> bytes:
    """rows: the XML of a sheet's data; a second sheet has one word."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    other = "<row><c t='inlineStr'><is><t>Second</t></is></c></row>"
    return package(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
            "_rels/.rels": relations(r1=("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{_OFFICE}"><sheets>'
            f'<sheet name="{name}" sheetId="1" state="{state}" r:id="r1"/>'
            '<sheet name="Other" sheetId="2" r:id="r2"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                r1=("worksheet", "worksheets/sheet1.xml"), r2=("worksheet", "worksheets/sheet2.xml")
            ),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>'
            "</worksheet>",
            "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}"><sheetData>{other}</sheetData>'
            "</worksheet>",
        }
        | dict(more or {})
    )


def row(*values: str) -> str:
    cells = (f"<c t='inlineStr'><is><t>{value}</t></is></c>" for value in values)
    return f"<row>{''.join(cells)}</row>"


def pptx(*slides: str, notes: str = "", attributes: str = "") -> bytes:
    """slides: the XML of each one's shapes. notes, attributes: of the first one."""
    namespaces = (
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        f'xmlns:r="{_OFFICE}" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    )
    # The first slide has the last part: their order is that of the presentation.
    numbers = range(len(slides), 0, -1)
    files = {
        "ppt/presentation.xml": f"<p:presentation {namespaces}><p:sldIdLst>"
        + "".join(f'<p:sldId r:id="r{number}"/>' for number in numbers)
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            **{f"r{number}": ("slide", f"slides/slide{number}.xml") for number in numbers}
        ),
    }
    for number, shapes in zip(numbers, slides, strict=True):
        own = attributes if number == len(slides) else ""
        files[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {namespaces} {own}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    if notes:
        files[f"ppt/slides/_rels/slide{len(slides)}.xml.rels"] = relations(
            r1=("notesSlide", "../notesSlides/notesSlide1.xml")
        )
        files["ppt/notesSlides/notesSlide1.xml"] = (
            f"<p:notes {namespaces}>{shape(notes, kind='body')}</p:notes>"
        )
    return package(files)


def shape(*paragraphs: str, kind: str = "") -> str:
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    lines = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs)
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody>"
        "</p:sp>"
    )


def odt(body: str, title: str = "") -> bytes:
    """body: XML."""
    namespaces = " ".join(
        f'xmlns:{prefix}="{_ODF}:{name}:1.0"'
        for prefix, name in (
            *(("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing")),
        )
    )
    return package(
        {
            "META-INF/manifest.xml": "<manifest/>",
            "meta.xml": f'<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}'
            "</dc:title></m>",
            "content.xml": f"<office:document-content {namespaces}><office:body>{body}"
            "</office:body></office:document-content>",
        }
    )


def ods(rows: str) -> bytes:
    """rows: the XML of a table."""
    table = f'<table:table table:name="Leave">{rows}</table:table>'
    with zipfile.ZipFile(BytesIO(odt(f"<office:spreadsheet>{table}</office:spreadsheet>"))) as made:
        content = made.read("content.xml")
    return package(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{_ODF}:manifest:1.0"/>',
            "content.xml": content,
        }
    )


def ods_row(*values: str, attributes: str = "") -> str:
    cells = (
        f'<table:table-cell office:value-type="string" {attributes}><text:p>{value}</text:p>'
        "</table:table-cell>"
        for value in values
    )
    return f"<table:table-row>{''.join(cells)}</table:table-row>"


def epub(*chapters: str, files: Mapping[str, str] | None = None) -> bytes:
    """chapters: HTML, in their order."""
    items = "".join(
        f'<item id="c{number}" href="text/c%20{number}.xhtml" media-type="application/xhtml+xml"/>'
        for number in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    return package(
        {
            "META-INF/container.xml": "<container><rootfiles>"
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
            "<dc:title>A book</dc:title><dc:language>pt-BR</dc:language></metadata>"
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        }
        | {f"OPS/text/c {number}.xhtml": text for number, text in enumerate(chapters)}
        | dict(files or {})
    )


def eml(*lines: str) -> bytes:
    return "\r\n".join(lines).encode()


_TAIL = {0x1F: 2, 0x102: 0}  # bytes that end a value, which its length counts


def _utf_16(text: str) -> bytes:
    return text.encode("utf-16-le")


def msg(subject: str, body: str | bytes) -> bytes:
    """A compound file of 512-byte sectors: a stream of properties, and one for each value.

    body: text, or HTML in bytes.
    """
    tag, value = ("10130102", body) if isinstance(body, bytes) else ("1000001F", _utf_16(body))
    values = {"0037001F": _utf_16(subject), tag: value}
    streams = {f"__substg1.0_{tag}": value for tag, value in values.items()}
    properties = b"".join(
        pack("<HHIII", kind := int(tag[4:], 16), int(tag[:4], 16), 6, len(value) + _TAIL[kind], 0)
        for tag, value in values.items()
    )
    streams["__properties_version1.0"] = bytes(32) + properties
    return _compound({name: streams[name] for name in sorted(streams)})


def _compound(streams: Mapping[str, bytes]) -> bytes:
    """Each stream is padded to the length from which one has sectors of its own.

    Sectors: the allocation table, four of the directory, and the streams.
    """
    end, free, table = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    allocation, contents = [table, 2, 3, 4, end], b""
    names = list(streams)
    entries = [_entry("Root Entry", 5, child=1 + len(names) // 2, start=end)]
    for at, name in enumerate(names):
        content = streams[name].ljust(4_096, b"\0")
        content += bytes(-len(content) % 512)
        first = len(allocation)
        count = len(content) // 512
        allocation += [*range(first + 1, first + count), end]
        middle = len(names) // 2
        left = middle if at == middle and middle else 0
        right = middle + 2 if at == middle and middle + 1 < len(names) else 0
        entries.append(_entry(name, 2, left=left, right=right, start=first, size=len(content)))
        contents += content
    directory = b"".join(entries).ljust(4 * 512, b"\0")
    allocation += [free] * (128 - len(allocation))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4_096, end, 0, end, 0)
    header += pack("<I", 0) + pack("<I", free) * 108
    return header + pack("<128I", *allocation) + directory + contents


def _entry(
    name: str,
    kind: int,
    *,
    start: int,
    left: int = 0,
    right: int = 0,
    child: int = 0,
    size: int = 0,
) -> bytes:
    encoded = name.encode("utf-16-le")
    links = [number or 0xFFFFFFFF for number in (left, right, child)]
    return (
        encoded.ljust(64, b"\0")
        + pack("<HBB3I", len(encoded) + 2, kind, 1, *links)
        + bytes(36)
        + pack("<IQ", start, size)
    )


def notebook(*cells: Mapping[str, object]) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()


SAMPLES: Mapping[str, bytes] = {
    ".html": f"<h1>Leave</h1><p>{WORDS}.".encode(),
    ".pdf": pdf([f"{WORDS}."], "Leave"),
    ".docx": docx(["Leave", f"{WORDS}."]),
    ".xlsx": xlsx(row("Who", "What") + row("All", WORDS)),
    ".ods": ods(ods_row("Who", "What") + ods_row("All", WORDS)),
    ".pptx": pptx(shape("Leave", kind="title") + shape(WORDS)),
    ".odt": odt(f"<office:text><text:p>{WORDS}</text:p></office:text>"),
    ".odp": odt(f'<draw:page draw:name="Leave"><text:p>{WORDS}</text:p></draw:page>'),
    ".epub": epub(f"<p>{WORDS}</p>"),
    ".rtf": b"{\\rtf1\\ansi Leave\\par " + WORDS.encode() + b".\\par}",
    ".eml": eml("From: ana@example.org", "Subject: Leave", "", WORDS),
    ".msg": msg("Leave", WORDS),
    ".ipynb": notebook({"cell_type": "markdown", "source": ["# Leave\n", WORDS]}),
    ".rst": f"Leave\n=====\n\n{WORDS}.\n".encode(),
    ".adoc": f"= Leave\n\n{WORDS}.\n".encode(),
    ".py": f'def leave() -> str:\n    return "{WORDS}"\n'.encode(),
}
