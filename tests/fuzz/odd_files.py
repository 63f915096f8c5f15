"""Odd files of every format: cut off, damaged, mislabelled, nested, and larger than they look."""

import random
import zipfile
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO

from tests.gateway.extensions._sources.files import docx_of, pdf_bomb, slow_pdf
from tests.gateway.extensions.formats.format_samples import (
    SAMPLES,
    epub,
    notebook,
    ods,
    ods_row,
    odt,
    package,
    pptx,
    relations,
    row,
    xlsx,
)

_ZIP = b"PK\x03\x04"
_MANY = 100_000
_ENTITIES = "".join(f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 10))
LAUGHS = f'<!DOCTYPE a [<!ENTITY a0 "ha">{_ENTITIES}]><a>&a9;</a>'

# By suffix and what is odd about it.
HOSTILE: Mapping[tuple[str, str], Callable[[], bytes]] = {
    (".pdf", "slow"): slow_pdf,
    (".pdf", "bomb"): lambda: pdf_bomb(400 * 2**20),
    (".pdf", "nested arrays"): lambda: b"%PDF-1.4\n1 0 obj\n" + b"[" * _MANY,
    (".pdf", "loop of pages"): lambda: SAMPLES[".pdf"].replace(b"/Kids [6 0 R]", b"/Kids [2 0 R]"),
    (".docx", "nested"): lambda: docx_of("<w:sdt><w:sdtContent>" * 5_000),
    (".docx", "entities"): lambda: package({"word/document.xml": LAUGHS}),
    (".docx", "wide table"): lambda: docx_of(f"<w:tbl><w:tr>{'<w:tc/>' * _MANY}</w:tr></w:tbl>"),
    (".xlsx", "far cell"): lambda: xlsx(
        '<row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    ),
    (".xlsx", "many sheets"): lambda: xlsx(
        row("x"), more={f"xl/worksheets/sheet{at}.xml": "<a/>" for at in range(3, 9_000)}
    ),
    (".xlsx", "shared string"): lambda: xlsx('<row><c t="s"><v>999999999</v></c></row>'),
    (".xlsx", "repeated text"): lambda: xlsx(row("x" * 20) * _MANY),
    (".xlsx", "entities"): lambda: xlsx(row("x"), more={"xl/sharedStrings.xml": LAUGHS}),
    (".ods", "repeated cells"): lambda: ods(
        ods_row("x", attributes='table:number-columns-repeated="16384"').replace(
            "<table:table-row>", '<table:table-row table:number-rows-repeated="1048576">'
        )
    ),
    (".odt", "nested"): lambda: odt("<text:list><text:list-item>" * 5_000),
    (".odt", "repeated cells"): lambda: odt(
        "<table:table>"
        + '<table:table-row><table:table-cell table:number-columns-repeated="999999999">'
        "<text:p>x</text:p></table:table-cell></table:table-row>" * 1_000 + "</table:table>"
    ),
    (".odt", "repeated spaces"): lambda: odt('<text:p>a<text:s text:c="999999999"/>b</text:p>'),
    (".pptx", "same slide"): lambda: package(
        {
            "ppt/presentation.xml": "<p:p xmlns:p='http://schemas.openxmlformats.org/"
            "presentationml/2006/main' xmlns:r='http://schemas.openxmlformats.org/officeDocument/"
            "2006/relationships'>" + '<p:sldId r:id="r1"/>' * 20_000 + "</p:p>",
            "ppt/_rels/presentation.xml.rels": relations(r1=("slide", "presentation.xml")),
        }
    ),
    (".pptx", "no slides"): lambda: pptx("<a:tbl>" * 100),
    (".epub", "outside"): lambda: epub("<p>x").replace(b"text/c%20", b"../../../.."),
    (".epub", "many chapters"): lambda: epub(*["<p>x"] * 9_000),
    (".rtf", "nested"): lambda: b"{\\rtf1 " + b"{" * 1_000_000,
    (".rtf", "words"): lambda: b"{\\rtf1 " + b"\\a" * 1_000_000,
    (".rtf", "pages of code"): lambda: b"{\\rtf1\\ansicpg99999 \\'ff\\u99999999?",
    (".rtf", "many bytes"): lambda: b"{\\rtf1 " + b"\\'81" * 500_000,
    (".eml", "nested parts"): lambda: (
        b"Subject: x\n"
        + b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at)
            for at in range(3_000)
        )
    ),
    (".eml", "many headers"): lambda: b"Subject: x\n" * _MANY + b"\nText",
    (".eml", "long header"): lambda: b"Subject: " + b"=?utf-8?q?x?= " * _MANY + b"\n\nText",
    (".eml", "addresses"): lambda: b"To: " + b"(" * _MANY + b"\n\nText",
    (".eml", "many parts"): lambda: (
        b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * _MANY
    ),
    (".ipynb", "nested"): lambda: b"[" * 1_000_000,
    (".ipynb", "long number"): lambda: b'{"cells": [' + b"9" * 1_000_000 + b"]}",
    (".ipynb", "other types"): lambda: notebook({"cell_type": 1, "source": {"a": 1}, "outputs": 7}),
    (".ipynb", "fences"): lambda: notebook({"cell_type": "code", "source": "`" * 3_000_000}),
    (".rst", "substitutions"): lambda: (
        b".. |a| replace:: |b| |b|\n.. |b| replace:: |a| |a|\n\n|a|\n"
    ),
    (".rst", "nested lists"): lambda: b"".join(b" " * at + b"* a\n\n" for at in range(1_000)),
    (".rst", "marks"): lambda: b"*a `b " * _MANY,
    (".rst", "titles"): lambda: b"".join(b"a\n%c\n\n" % mark for mark in b"=-~^#*+" * 5_000),
    (".rst", "table"): lambda: b"+" + b"-+" * 2_000 + b"\n" + (b"|" + b" |" * 2_000 + b"\n") * 500,
    (".adoc", "marks"): lambda: b"[[a,b<<" * _MANY,
    (".adoc", "attributes"): lambda: b":a: {a}{a}\n" * 1_000 + b"{a}" * 10_000,
    (".adoc", "cells"): lambda: b"|===\n" + b"|a" * 500_000 + b"\n|===",
    (".adoc", "open block"): lambda: b"----\n" * 200_000,
    (".py", "definitions"): lambda: b"def a\n" * _MANY,
    (".py", "long line"): lambda: b"async " * 500_000,
    (".py", "comments"): lambda: (b"#" * 50 + b"\n") * 50_000 + b"def a",
    (".html", "nested"): lambda: b"<div>" * _MANY,
}


def odd_files(rng: random.Random, each: int) -> Iterator[tuple[str, str, bytes]]:
    """Suffix, what is odd, and content: `each` of every format, and all that are hostile."""
    for (suffix, name), make in HOSTILE.items():
        yield suffix, name, make()
    for suffix, sample in SAMPLES.items():
        for other in SAMPLES:
            yield suffix, f"in truth {other}", SAMPLES[other]
        for name in ("empty", "NUL", "noise"):
            size = 0 if name == "empty" else 10_000
            yield suffix, name, rng.randbytes(size) if name == "noise" else bytes(size)
        for _ in range(each):
            name, content = _damaged(rng, sample)
            yield suffix, name, content


def _damaged(rng: random.Random, sample: bytes) -> tuple[str, bytes]:
    """The sample with some damage; of a package, within a part of it for half of the time."""
    damage = rng.choice((_cut, _flip, _repeat, _swap))
    name = damage.__name__.strip("_")
    if not sample.startswith(_ZIP) or rng.random() < 0.5:
        return name, damage(rng, sample)
    with zipfile.ZipFile(BytesIO(sample)) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    part = rng.choice(list(files))
    files[part] = damage(rng, files[part])
    return f"{name} in {part}", package(files)


def _cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _flip(rng: random.Random, content: bytes) -> bytes:
    flipped = bytearray(content)
    for _ in range(rng.randrange(1, 10)):
        if flipped:
            flipped[rng.randrange(len(flipped))] = rng.randrange(256)
    return bytes(flipped)


def _repeat(rng: random.Random, content: bytes) -> bytes:
    """A piece many times."""
    start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    piece = content[start : min(end, start + 200)]
    return content[:start] + piece * rng.choice((2, 100, 10_000)) + content[start:]


def _swap(rng: random.Random, content: bytes) -> bytes:
    middle = rng.randrange(len(content) + 1)
    return content[middle:] + content[:middle]
