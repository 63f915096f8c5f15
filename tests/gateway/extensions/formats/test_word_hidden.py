"""The hidden text of a DOCX is left out, whatever hides it."""

from contextlib import closing

import pytest

from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import ReadOptions
from gateway.extensions._files.formats import by_suffix
from gateway.extensions.formats.formats import FORMATS
from gateway.extensions.formats.office import word_hidden
from tests.gateway.extensions._sources.files import zipped

SEEN = "<w:p><w:r><w:t>Seen.</w:t></w:r></w:p>"


def run(properties: str, paragraph: str = "") -> str:
    text = f"<w:r><w:rPr>{properties}</w:rPr><w:t>x9</w:t></w:r>"
    return f"<w:p><w:pPr>{paragraph}</w:pPr>{text}</w:p>"


HIDDEN = [
    run("<w:vanish/>"),
    run("<w:b/><w:vanish w:val='1'/>"),
    run("<w:vanish w:val='true'/>"),
    run("<w:specVanish/>"),
    run("<w:sz w:val='2'/>"),
    f"<w:tbl><w:tr><w:tc>{run('<w:vanish/>')}</w:tc></w:tr></w:tbl>",
    run("<w:rStyle w:val='Secret'/>"),
    run("<w:rStyle w:val='Based'/>"),
    run("", "<w:pStyle w:val='Secret'/>"),
]
SHOWN = [
    run("<w:b/>"),
    run("<w:vanish w:val='0'/>"),
    run("<w:vanish w:val='false'/>"),
    run("<w:webHidden/>"),
    run("<w:sz w:val='22'/>"),
    run("<w:rStyle w:val='Secret'/><w:vanish w:val='off'/>"),
    run("<w:rStyle w:val='None'/>"),
    run("<w:rStyle w:val='Loop'/>"),
    run("", "<w:rPr><w:vanish/></w:rPr>"),
]
NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = f"""<w:styles {NAMESPACE}>
<w:style w:type="character" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="character" w:styleId="Based"><w:basedOn w:val="Secret"/></w:style>
<w:style w:type="character" w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>
</w:styles>"""


def docx(body: str) -> bytes:
    document = f"<w:document {NAMESPACE}><w:body>{SEEN}{body}</w:body></w:document>"
    return zipped({"word/document.xml": document.encode(), "word/styles.xml": STYLES.encode()})


@pytest.mark.parametrize("body", HIDDEN)
def test_hidden_text_is_left_out(extractor: Extractor, body: str) -> None:
    found = extractor.extract(".docx", docx(body))

    assert "x9" not in found.text
    assert list(found.losses) == ["2 characters that readers don't see are left out"]


def test_hidden_text_is_marked_if_the_operator_wants_it() -> None:
    with closing(Extractor(by_suffix(FORMATS), ReadOptions(marks_hidden=True))) as extractor:
        found = extractor.extract(".docx", docx(HIDDEN[0]))

    assert found.text == "Seen.\n\n[hidden: x9]\n"
    assert list(found.losses) == ["2 characters that readers don't see are marked"]


@pytest.mark.parametrize("body", SHOWN)
def test_text_that_is_shown_is_kept(extractor: Extractor, body: str) -> None:
    found = extractor.extract(".docx", docx(body))

    assert "x9" in found.text
    assert not found.losses


def test_a_file_without_hidden_text_is_left_as_it_is() -> None:
    content = zipped({"word/document.xml": b"<document/>"})

    assert word_hidden.rewrite(content, marks_hidden=False) == (content, 0)
