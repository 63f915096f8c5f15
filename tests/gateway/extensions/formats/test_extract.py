"""Text out of HTML, PDF and DOCX: what is in them, and a reason where it can't be read."""

import time
from collections.abc import Callable

import pytest

from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import Unreadable
from gateway.extensions._html import html_encoding, html_markdown
from gateway.extensions.formats.office.office_package import UNPACKED_BYTES_MAX
from tests.gateway.extensions._sources.files import docx, docx_of, pdf, pdf_bomb, zipped

HTML = """<!doctype html><html lang="pt-BR"><head><title>Férias  e feriados</title>
<style>p {}</style><script>let x = "script"</script></head>
<body><nav>Menu</nav><main><h1>Férias</h1><p>Todos têm <b>25 dias</b>, <a href="/x">aqui</a>.</p>
<ul><li>um</li><li>dois</li></ul><table><tr><th>a</th></tr><tr><td>1</td></tr></table>
</main></body></html>"""


def refusal(extractor: Extractor, suffix: str, content: bytes) -> str:
    with pytest.raises(Unreadable) as refused:
        extractor.extract(suffix, content)
    reason = str(refused.value)
    assert "\n" not in reason
    return reason


def test_html_becomes_markdown_with_its_title_and_language(extractor: Extractor) -> None:
    found = extractor.extract(".html", HTML.encode())

    assert (found.title, found.language) == ("Férias e feriados", "pt-BR")
    assert found.text.startswith("# Férias\n\nTodos têm **25 dias**, aqui.\n\n- um\n- dois\n")
    assert "| 1 |" in found.text
    assert not any(word in found.text for word in ("Menu", "script", "<", "p {}"))


def test_html_says_by_itself_in_which_encoding_it_is(extractor: Extractor) -> None:
    content = '<meta charset="iso-8859-1"><p>Férias'.encode("latin-1")

    assert extractor.extract(".htm", content).text == "Férias\n"


def test_html_whose_paragraphs_are_left_open_is_read(extractor: Extractor) -> None:
    found = extractor.extract(".html", b"".join(b"<p>Number %d." % at for at in range(1_000)))

    assert found.text.split("\n\n")[998:] == ["Number 998.", "Number 999.\n"]


def test_html_of_many_open_tags_ends_nothing(extractor: Extractor) -> None:
    reason = refusal(extractor, ".html", b"<div>" * 100_000 + b"text")

    assert reason == "is nested too deeply"
    assert extractor.extract(".html", b"<p>Still here.").text == "Still here.\n"


def test_a_pdf_gives_the_text_of_its_pages(extractor: Extractor) -> None:
    found = extractor.extract(
        ".pdf", pdf(["Everybody gets 25 days.", "", "And one more."], "Leave")
    )

    assert found.title == "Leave"
    assert " ".join(found.text.split()) == "Everybody gets 25 days. And one more."


def test_a_docx_gives_its_headings_and_paragraphs(extractor: Extractor) -> None:
    found = extractor.extract(".docx", docx(["Leave", "Everybody gets 25 days."]))

    assert found.text == "# Leave\n\nEverybody gets 25 days.\n"


@pytest.mark.parametrize(
    ("suffix", "content", "reason"),
    [
        (".pdf", b"Not a PDF at all.", "is not a PDF that can be read"),
        (".pdf", b"", "is empty"),
        (".pdf", pdf(["Cut off."])[:200], "is not a PDF that can be read"),
        (".pdf", pdf([""]), "has no text"),
        (".docx", b"Not a ZIP at all.", "is not a DOCX that can be read"),
        (".docx", zipped({"word/other.xml": b""}), "is not a DOCX that can be read"),
        (".docx", zipped({"word/document.xml": b"<not xml"}), "is not a DOCX that can be read"),
    ],
)
def test_what_is_none_is_refused(
    extractor: Extractor, suffix: str, content: bytes, reason: str
) -> None:
    assert reason in refusal(extractor, suffix, content)


@pytest.mark.thorough
def test_a_zip_of_too_many_files_is_refused(extractor: Extractor) -> None:
    content = zipped({f"{at}": b"" for at in range(10_001)})

    assert "unpacks to 10,003 files" in refusal(extractor, ".docx", content)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_zip_bomb_is_refused_before_it_is_unpacked(extractor: Extractor) -> None:
    bomb = zipped({"word/document.xml": b" " * (UNPACKED_BYTES_MAX + 1)})
    assert len(bomb) < 2**20

    assert "unpacks to 3 files of 209,7" in refusal(extractor, ".docx", bomb)


@pytest.mark.slow
def test_a_bomb_in_a_pdf_is_refused(extractor: Extractor) -> None:
    bomb = pdf_bomb(100 * 2**20)
    assert len(bomb) < 2**20

    refusal(extractor, ".pdf", bomb)

    assert extractor.extract(".html", b"<p>Still here.").text == "Still here.\n"


def page(body: bytes) -> bytes:
    return b"<p>Before.</p>" + body


def each(count: int, tag: bytes) -> bytes:
    return b"".join(tag % at for at in range(count))


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "comments left open": lambda size: b"<!--" * size,
    "comments that end otherwise": lambda size: b"<!--x--!" * size,
    "declarations": lambda size: b"<!a " * size,
    "instructions": lambda size: b"<?a " * size,
    "sections": lambda size: b"<![CDATA[" * size,
    "tags left open": lambda size: b"<a " * size,
    "values left open": lambda size: b"<a b='" * size,
    "attributes": lambda size: b"<a " + each(size, b"b%d=1 ") + b">",
    "ends of nothing": lambda size: b"<div>" * 500 + b"</i>" * size,
    "spaces": lambda size: b"a" + b" \t" * size + b"b",
    "lines": lambda size: b"<p>a" + b"\n " * size + b"b",
    "paragraphs left open": lambda size: b"<p>a" * size,
    "marks": lambda size: b"<b>a</b>" * size,
    "marks left open": lambda size: b"<b>" * 500 + b"<i>a</i>" * size,
    "items": lambda size: b"<ol>" + b"<li>a</li>" * size,
    "cells": lambda size: b"<table><tr>" + b"<td>a" * size,
    "rows": lambda size: b"<table>" + b"<tr><td>a" * size,
    "breaks": lambda size: b"a<br>" * size,
    "references": lambda size: b"&amp;&#x" * size,
}


@pytest.mark.sampled("sections")
@pytest.mark.slow
@pytest.mark.parametrize("shape", HOSTILE)
def test_html_is_converted_in_linear_time(shape: str) -> None:
    def seconds(size: int) -> float:
        content = page(HOSTILE[shape](size))
        started_s = time.process_time()
        html_markdown.convert(html_encoding.decode(content))
        return time.process_time() - started_s

    # Grow the page until its time can be measured.
    size = 5_000
    while seconds(size) < 0.01 and size < 160_000:
        size *= 2

    # Eight times the size takes 8 times the time if it is linear and 64 times if it is quadratic.
    # Between the two there is room for a cache that is too small and for a busy machine.
    small = min(seconds(size) for _ in range(3))
    assert any(seconds(8 * size) < 20 * small + 0.02 for _ in range(2))


@pytest.mark.sampled("content1")
@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"<table><tr>" + b"<td>x" * 1_000 + b"<tr><td>x" * 2_000,
        b"<blockquote>" * 200 + b"<p>x" * 60_000,
        b"<ul><li>x" * 400 + b"<li>x" * 200_000,
    ],
)
def test_html_does_not_grow_as_it_is_read(extractor: Extractor, content: bytes) -> None:
    assert "characters of text" in refusal(extractor, ".html", content)


@pytest.mark.slow
def test_a_docx_that_is_much_smaller_than_its_xml_is_refused(extractor: Extractor) -> None:
    bomb = docx(["Leave"] + [""] * 1_000_000)
    assert len(bomb) < 200_000

    assert "bytes of XML; the limit for its size" in refusal(extractor, ".docx", bomb)


@pytest.mark.parametrize(
    "body",
    [
        "<w:sdt><w:sdtContent>" * 5_000,
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>' * 5_000,
    ],
)
def test_a_docx_that_is_nested_too_deep_is_refused(extractor: Extractor, body: str) -> None:
    assert refusal(extractor, ".docx", docx_of(body)) == "is nested too deeply"


def test_a_docx_that_defines_entities_is_refused(extractor: Extractor) -> None:
    bomb = zipped({"word/document.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'})

    assert "document type" in refusal(extractor, ".docx", bomb)


def test_html_keeps_what_markdown_can_say(extractor: Extractor) -> None:
    found = extractor.extract(".html", MIXED.encode())

    assert found.text == MIXED_TEXT


MIXED = """<h2>Leave <em>and</em> work</h2><p>Ask <b> Ana</b>, or _nobody_.<br>Twice.</p>
<ol start=3><li>One<ul><li>inner</li></ul></li><li><p>Two</p><p>More.</p></li></ol>
<blockquote><p>Said.</p><p>Again.</p></blockquote><pre><code>a  =  b
  c</code></pre><p><code>x_y</code></p><hr>
<table><tr><td>a</td><td colspan=2><p>b</p><p>c</p></td></tr><tr><td>d</td></tr></table>
<dl><dt>Term</dt><dd>Meaning</dd></dl>"""
MIXED_TEXT = """## Leave *and* work

Ask **Ana**, or \\_nobody\\_.
Twice.

3. One
   - inner
4. Two

   More.

> Said.
>
> Again.

```
a  =  b
  c
```

`x_y`

---

|  |  |
| --- | --- |
| a | b c |
| d |  |

Term

:   Meaning
"""
