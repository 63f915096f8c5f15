"""Files of each format: what is read of them, and what is said to be lost."""

import json

import pytest

from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions._files.formats import by_suffix
from gateway.extensions.formats import formats
from tests.gateway.extensions.formats.format_samples import (
    SAMPLES,
    WORDS,
    eml,
    epub,
    msg,
    notebook,
    odt,
    package,
    pptx,
    row,
    shape,
    xlsx,
)

FORMATS = by_suffix(formats.FORMATS)
COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1_000)
ENCRYPTED = COMPOUND + "EncryptedPackage".encode("utf-16-le")
RST = b"""
Leave
=====

.. toctree::
   :maxdepth: 2

   other

.. versionadded:: 2.0
   By :func:`~days.count` and :ref:`the rule <rules>`.

.. code-block:: python
   :caption: days.py

   days = 25

===  ===
A    B
===  ===
1    2
===  ===

.. sub:function:: count(a, b)
   :unknown:

   Counts |them|.

.. |them| replace:: all days
"""
ADOC = b"""= Leave
:days: 25

== All get {days}

[source,python]
----
days = 25
# == no heading
----

* one
** two
. first

|===
|A |B

|1
|link:http://example.org[two]
|===

See <<rules,the rules>>.
// left out
image::plan.png[A plan]
"""
MAIL = eml(
    "From: Ana <ana@example.org>",
    "Subject: =?utf-8?q?F=C3=A9rias?=",
    "Content-Type: multipart/mixed; boundary=b",
    "",
    "--b",
    "Content-Type: text/html; charset=iso-8859-1",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "<p>F=E9rias <b>25</b></p>",
    "--b",
    "Content-Type: message/rfc822",
    "",
    "Subject: Earlier",
    "",
    "Inner text",
    "--b",
    "Content-Type: application/pdf",
    "Content-Disposition: attachment; filename=plan.pdf",
    "",
    "--b--",
)
PYTHON = (
    b'"""Doc."""\n\n@once\nclass Leave:\n    days = 25\n\n# Counts.\nasync def count():\n    pass\n'
)
GO = b"package leave\n\n// Days of t.\nfunc (t *T) Days(a int) error {\n}\n\ntype T struct {\n}\n"
OUTPUT = {"output_type": "execute_result", "data": {"text/plain": ["25"], "image/png": ""}}
CELLS = (
    {"cell_type": "markdown", "source": "# Leave"},
    {"cell_type": "code", "source": ["days = '```'\n", "days"], "outputs": [OUTPUT]},
)
TABLE = "<a:tbl><a:tr><a:tc><a:p><a:r><a:t>1</a:t></a:r></a:p></a:tc></a:tr></a:tbl>"
CHOICES = (
    f"<mc:AlternateContent><mc:Choice>{shape('Once')}</mc:Choice>"
    f"<mc:Fallback>{shape('Once')}</mc:Fallback></mc:AlternateContent>"
)
KOI8 = b"<meta charset=koi8-r><p>\xd2\xcf\xc4 \xff".ljust(4_096)
ODT = """<office:text>
<text:tracked-changes><text:changed-region><text:p>Deleted</text:p></text:changed-region>
</text:tracked-changes><text:h text:outline-level="2">Leave</text:h>
<text:p>a<text:s text:c="2"/>b<text:tab/>c<office:annotation><text:p>Why?</text:p>
</office:annotation></text:p>
<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p>
</table:table-cell></table:table-row></table:table></office:text>"""


def read(suffix: str, content: bytes) -> Extracted:
    reader = FORMATS[suffix].read
    assert reader is not None
    return reader(content, ReadOptions())


@pytest.mark.parametrize(
    ("suffix", "content", "text", "losses"),
    [
        (
            ".xlsx",
            xlsx(
                "<row><c><v>25</v></c><c t='b'><v>1</v></c><c/></row><row/>"
                "<row><c><f>A1*2</f></c><c><f>1/4</f><v>0.25</v></c></row>"
            ),
            "## Leave | 25 | TRUE | | --- | --- | | | 0.25 | ## Other | Second | | --- |",
            ["its formulas without a stored result (1) are read as empty cells"],
        ),
        (
            ".xlsx",
            xlsx(row("secret"), name="Drafts", state="hidden"),
            "## Other | Second | | --- |",
            ["these hidden sheets are not read: Drafts"],
        ),
        (
            ".pptx",
            pptx(
                shape("Below") + TABLE + shape("Leave", kind="title"),
                "<p:pic/>",
                CHOICES,
                notes="Say more.",
            ),
            "## Leave Below | | | --- | | 1 | > Notes: > > Say more. Once",
            ["on these slides an image seems to hold the text, and is not read: 2"],
        ),
        (
            ".pptx",
            pptx(shape("Draft"), shape("Shown"), attributes='show="0"'),
            "Shown",
            ["these hidden slides are not read: 1"],
        ),
        (
            ".odt",
            odt(ODT),
            "## Leave a b c - one | | | | --- | --- | | x | x |",
            [
                "it has tracked changes; its text is as if all of them were accepted",
                "its comments (1) are not read",
            ],
        ),
        (".msg", msg("Leave", KOI8), "род Ъ", []),
        (".epub", epub("<p>One", "<h1>Two</h1>"), "One # Two", []),
        (
            ".rtf",
            b"{\\rtf1\\ansi{\\info{\\title Leave}}Caf\\'e9 \\u8364?\\par {\\footnote no}Two}",
            "Café € Two",
            ["these parts are not read: footnotes"],
        ),
        (
            ".eml",
            MAIL,
            "From: Ana <ana@example.org> Férias **25** --- Subject: Earlier Inner text",
            ["its attachments are not read: plan.pdf"],
        ),
        (
            ".ipynb",
            notebook(*CELLS),
            "# Leave ````python days = '```' days ```` ``` 25 ```",
            ["the images of its outputs (1) are not read"],
        ),
        (
            ".rst",
            RST,
            (
                "# Leave 2.0 By days.count and the rule. ``` days = 25 ``` | A | B | | --- | --- | "
                "| 1 | 2 | count(a, b) Counts all days."
            ),
            [],
        ),
        (
            ".rst",
            b".. include:: other.rst\n\nText",
            "Text",
            ["files that it includes are not read"],
        ),
        (
            ".adoc",
            ADOC,
            (
                "# Leave ## All get 25 ```python days = 25 # == no heading ``` - one - two 1. "
                "first | A | B | | --- | --- | | 1 | two | See the rules. A plan"
            ),
            [],
        ),
        (".adoc", b"include::a.adoc[]\nText", "Text", ["files that it includes are not read"]),
        (
            ".py",
            PYTHON,
            (
                '```python """Doc.""" ``` ## Leave ```python @once class Leave: days = 25 ``` '
                "## count ```python # Counts. async def count(): pass ```"
            ),
            [],
        ),
        (
            ".go",
            GO,
            (
                "```go package leave ``` ## Days ```go // Days of t. func (t *T) Days(a int) error "
                "{ } ``` ## T ```go type T struct { } ```"
            ),
            [],
        ),
    ],
)
def test_what_a_file_shows_is_read_and_the_rest_is_named(
    suffix: str, content: bytes, text: str, losses: list[str]
) -> None:
    found = read(suffix, content)

    assert " ".join(found.text.split()) == text
    assert list(found.losses) == losses


@pytest.mark.parametrize(
    ("suffix", "title"),
    [(".epub", "A book"), (".eml", "Leave"), (".msg", "Leave"), (".pdf", "Leave"), (".xlsx", "")],
)
def test_a_title_is_the_one_that_the_file_names(suffix: str, title: str) -> None:
    assert read(suffix, SAMPLES[suffix]).title == title


@pytest.mark.parametrize("suffix", SAMPLES)
def test_a_file_of_each_format_is_read_in_the_process(extractor: Extractor, suffix: str) -> None:
    assert WORDS in extractor.extract(suffix, SAMPLES[suffix]).text


@pytest.mark.parametrize("suffix", sorted(FORMATS.keys() - {".html", ".htm", ".rst"}))
def test_what_is_none_of_a_format_is_refused(extractor: Extractor, suffix: str) -> None:
    with pytest.raises(Unreadable):
        extractor.extract(suffix, b"\0\1\2\3 of no format")


@pytest.mark.parametrize(
    ("suffix", "content", "reason"),
    [
        (".odt", package({"META-INF/manifest.xml": "<manifest:encryption-data/>"}), "is encrypted"),
        (".epub", epub("<p>x", files={"META-INF/rights.xml": ""}), "is protected"),
        (".epub", epub("<p> "), "has no text"),
        (".pptx", pptx("<p:pic/>"), "perhaps its slides are images"),
        (".eml", b"\n\nNo header", "has no header"),
        (".odt", odt("<text:p>" * 300 + "</text:p>" * 300), "is nested too deeply"),
    ],
)
def test_what_can_not_be_read_is_refused_with_the_reason(
    extractor: Extractor, suffix: str, content: bytes, reason: str
) -> None:
    with pytest.raises(Unreadable, match=reason):
        extractor.extract(suffix, content)


@pytest.mark.thorough
def test_a_workbook_of_too_many_files_is_refused(extractor: Extractor) -> None:
    content = xlsx("", more={f"{at}": "" for at in range(10_000)})

    with pytest.raises(Unreadable, match="unpacks to"):
        extractor.extract(".xlsx", content)


@pytest.mark.parametrize(
    ("suffix", "content", "reason"),
    [
        (".docx", ENCRYPTED, "is encrypted"),
        (".xlsx", ENCRYPTED, "is encrypted"),
        (".pptx", ENCRYPTED, "is encrypted"),
        (".docx", COMPOUND, "is an Office file from before 2007"),
        (".docx", SAMPLES[".pdf"], "is a PDF, although its name ends in .docx"),
        (".xls", SAMPLES[".pdf"], "is a PDF"),
        (".pdf", SAMPLES[".rtf"], "is an RTF"),
        (".docx", b"\xef\xbb\xbf<!DOCTYPE html><p>x", "is HTML"),
        (".pdf", b"<html><p>Log in", "is HTML"),
        (".epub", b"", "is empty"),
        (".xls", COMPOUND, "is not an XLS that can be read"),
        (".pdf", SAMPLES[".pdf"][:100], "is not a PDF that can be read"),
    ],
)
def test_a_file_of_another_format_is_refused_with_its_name(
    extractor: Extractor, suffix: str, content: bytes, reason: str
) -> None:
    with pytest.raises(Unreadable, match=f"^{reason}"):
        extractor.extract(suffix, content)


@pytest.mark.parametrize(
    "start", [b"", b"\xef\xbb\xbf", b"\n<html><meta charset=cp1252>", b"<!doctype html>"]
)
def test_html_that_is_called_xls_is_read(start: bytes) -> None:
    found = read(".xls", start + b"<table><tr><th>a<th>b<tr><td>1<td>2")

    assert found.text == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        (("Content-Type: application/pkcs7-mime; name=smime.p7m",), "smime.p7m"),
        (("Content-Type: text/calendar",), "text/calendar"),
        (("Content-Type: multipart/mixed; boundary=b",), "multipart/mixed"),
    ],
)
def test_a_message_without_a_body_names_what_it_is_instead(
    headers: tuple[str, ...], name: str
) -> None:
    message = b"\xef\xbb\xbf" + eml("From: ana@example.org", *headers, "", "x")

    found = read(".eml", message)

    assert found.losses == [f"its attachments are not read: {name}"]


@pytest.mark.parametrize(
    ("output", "text", "losses"),
    [
        ({"output_type": "pyerr", "ename": "E", "evalue": "v"}, "E: v", 0),
        ({"output_type": "pyout", "text": ["4", "2"], "png": "iVB="}, "42", 1),
        ({"output_type": "display_data", "data": None, "text": "x"}, "x", 0),
        ({"output_type": "display_data", "data": {"image/png": "iVB="}, "text": "x"}, "x", 1),
    ],
)
def test_a_notebook_of_any_version_is_read(output: object, text: str, losses: int) -> None:
    cells = [{"cell_type": "markdown", "source": None}, {"cell_type": "code", "outputs": [output]}]
    book = {"metadata": {"kernelspec": None}, "worksheets": [{"cells": cells}]}

    found = read(".ipynb", json.dumps(book).encode())

    assert found.text.strip() == f"```\n{text}\n```"
    assert len(found.losses) == losses


def test_each_format_has_a_sample_but_those_that_only_excel_writes() -> None:
    names = {FORMATS[suffix].name for suffix in SAMPLES}

    assert {each.name for each in formats.FORMATS} - names == {"an XLS", "an XLSB"}
