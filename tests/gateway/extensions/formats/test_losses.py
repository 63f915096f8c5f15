"""What a PDF or DOCX shows and its text lacks is said."""

import pytest

from gateway.extensions._files.extracted import ReadOptions, Unreadable
from gateway.extensions.formats.readers import docx, pdf
from tests.gateway.extensions._sources.files import docx_of, pdf_of, zipped

TEXT = b"BT /F1 12 Tf 72 720 Td (Some text) Tj ET "
LONG = b"BT /F1 12 Tf 72 720 Td (" + b"Many words. " * 20 + b") Tj ET "
IMAGE = b"q 600 0 0 780 0 0 cm /X1 Do Q "
LOGO = b"q 60 0 0 60 0 0 cm /X1 Do Q "
INLINE = b"q 9 0 0 9 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \0 EI Q "
BLANK = b"1 0 0 1 0 0 cm BT /F1 12 Tf ET"


@pytest.mark.parametrize(
    ("pages", "scanned"),
    [
        ([TEXT, TEXT], None),
        ([TEXT, IMAGE], "on page 2"),
        ([IMAGE, TEXT, IMAGE, IMAGE, IMAGE], "on pages 1, 3-5"),
        ([TEXT, b"0 0 600 700 re B*", b"0 0 m 9 9 l S", b"0 0 9 9 re f"], "on pages 2-4"),
        ([TEXT, INLINE, b"0 0 9 9 re b*"], "on pages 2-3"),
        ([TEXT, TEXT + IMAGE], "on page 2"),
        ([TEXT, TEXT + LOGO, LONG + IMAGE], None),
        ([TEXT, BLANK, b""], None),
    ],
)
def test_pages_that_are_images_are_named(pages: list[bytes], scanned: str | None) -> None:
    losses = pdf.read(pdf_of(pages), ReadOptions()).losses

    assert [loss.partition(" an image")[0] for loss in losses] == ([scanned] if scanned else [])


@pytest.mark.parametrize("page", [IMAGE, INLINE, BLANK])
def test_a_pdf_without_any_text_is_refused(page: bytes) -> None:
    with pytest.raises(Unreadable, match="has no text; perhaps its pages are images"):
        pdf.read(pdf_of([page]), ReadOptions())


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (b"it is twenty", b"five days.", "it is twenty\nfive days."),
        (b"It ends here.", b"And goes on.", "It ends here.\n\nAnd goes on."),
        (b"in the ware-", b"house", "in the warehouse"),
    ],
)
def test_a_sentence_goes_on_over_the_page_break(first: bytes, second: bytes, text: str) -> None:
    pages = [b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % part for part in (first, second)]

    assert pdf.read(pdf_of(pages), ReadOptions()).text.strip() == text


def paragraph(runs: str) -> str:
    return f"<w:p><w:r><w:t>Said.</w:t></w:r>{runs}</w:p>"


@pytest.mark.parametrize(
    ("body", "loss"),
    [
        (paragraph(""), None),
        (paragraph("<w:ins><w:r><w:t>More.</w:t></w:r></w:ins>"), "tracked changes"),
        (paragraph("<w:del><w:r><w:delText>Less.</w:delText></w:r></w:del>"), "tracked changes"),
        (paragraph("<w:moveFrom><w:r><w:t>Moved.</w:t></w:r></w:moveFrom>"), "tracked changes"),
        (paragraph("<m:oMath xmlns:m='urn:m'/><m:oMath xmlns:m='urn:m'/>"), "equations (2)"),
        (paragraph("<wps:txbx xmlns:wps='urn:s'/>"), "text boxes (1)"),
        (paragraph("<wps:txbx xmlns:wps='u'/><v:textbox xmlns:v='v'/>"), None),
        (paragraph("<c:chart xmlns:c='urn:c'/>"), "charts (1)"),
        (paragraph("") + "<w:altChunk/>", "embedded documents (1)"),
    ],
)
def test_what_a_docx_loses_is_said(body: str, loss: str | None) -> None:
    losses = docx.read(docx_of(body), ReadOptions()).losses

    assert len(losses) == (loss is not None)
    assert loss is None or loss in losses[0]


@pytest.mark.parametrize(
    ("name", "content", "loss"),
    [
        ("header1", "<w:hdr {}><w:t>Draft</w:t></w:hdr>", "headers"),
        ("footer12", "<w:ftr {}><w:t>Page</w:t></w:ftr>", "footers"),
        ("header2", "<w:hdr {}><w:p/></w:hdr>", None),
        (
            "comments",
            "<w:comments {}><w:comment w:id='1'/></w:comments>",
            "comments (1)",
        ),
    ],
)
def test_parts_beside_the_text_are_named(name: str, content: str, loss: str | None) -> None:
    namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    document = f"<w:document {namespace}><w:body>{paragraph('')}</w:body></w:document>"
    parts = {"word/document.xml": document, f"word/{name}.xml": content.format(namespace)}

    losses = docx.read(
        zipped({part: text.encode() for part, text in parts.items()}), ReadOptions()
    ).losses

    assert losses == ([f"these parts are not read: {loss}"] if loss else [])
