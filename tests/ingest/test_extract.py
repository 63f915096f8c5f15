"""Text out of HTML, PDF and DOCX: what is in them, and a reason where it can't be read."""

from collections.abc import Iterator

import pytest

from ingest.extract import UNPACKED_BYTES_MAX, Extractor, Unreadable
from tests.ingest.sources.files import docx, pdf, pdf_bomb, zipped

HTML = """<!doctype html><html lang="pt-BR"><head><title>Férias  e feriados</title>
<style>p {}</style><script>let x = "script"</script></head>
<body><nav>Menu</nav><main><h1>Férias</h1><p>Todos têm <b>25 dias</b>, <a href="/x">aqui</a>.</p>
<ul><li>um</li><li>dois</li></ul><table><tr><th>a</th></tr><tr><td>1</td></tr></table>
</main></body></html>"""


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor() as extractor:
        yield extractor


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

    assert reason == "is nested too deep"
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
        (".pdf", b"", "is not a PDF that can be read"),
        (".pdf", pdf(["Cut off."])[:200], "is not a PDF that can be read"),
        (".pdf", pdf([""]), "has no text"),
        (".docx", b"Not a ZIP at all.", "is not a DOCX that can be read"),
        (".docx", zipped({"word/other.xml": b""}), "is not a DOCX that can be read"),
        (".docx", zipped({"word/document.xml": b"<not xml"}), "is not a DOCX that can be read"),
        (".docx", zipped({f"{at}": b"" for at in range(10_001)}), "unpacks to 10,003 files"),
    ],
)
def test_what_is_none_is_refused(
    extractor: Extractor, suffix: str, content: bytes, reason: str
) -> None:
    assert reason in refusal(extractor, suffix, content)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(extractor: Extractor) -> None:
    bomb = zipped({"word/document.xml": b" " * (UNPACKED_BYTES_MAX + 1)})
    assert len(bomb) < 2**20

    assert "unpacks to 3 files of 209,7" in refusal(extractor, ".docx", bomb)


def test_a_bomb_in_a_pdf_is_refused(extractor: Extractor) -> None:
    bomb = pdf_bomb(400 * 2**20)
    assert len(bomb) < 2**20

    refusal(extractor, ".pdf", bomb)

    assert extractor.extract(".html", b"<p>Still here.").text == "Still here.\n"


def test_what_takes_too_long_is_ended_and_the_next_one_read() -> None:
    slow = b"<p>" + b"<b>x</b>" * 400_000

    with Extractor(seconds_max=3) as extractor:
        reason = refusal(extractor, ".html", slow)
        found = extractor.extract(".html", b"<p>Still here.")

    assert reason == "takes longer than 3 s to read"
    assert found.text == "Still here.\n"
