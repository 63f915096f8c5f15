"""Tables of HTML and DOCX: which cell is in which row and column of the Markdown."""

import re

import pytest

from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import Unreadable
from gateway.extensions._html import html_markdown
from gateway.extensions.formats.office import word_tables
from tests.gateway.extensions._sources.files import docx_of


def rows(markdown: str) -> list[list[str]]:
    """The cells of each row but the delimiters, whose number is checked."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    header, delimiters, *body = ([cell.strip() for cell in cells(line)] for line in lines)
    assert delimiters == ["---"] * len(header)
    assert all(len(row) == len(header) for row in body)
    return [header, *body]


def cells(line: str) -> list[str]:
    return [cell.replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows_of_html(table: str) -> list[list[str]]:
    return rows(html_markdown.convert(f"<table>{table}</table>").text)


HEAD = "<thead><tr><th>City<th>Bed<th>Sofa</thead>"
HEAD_ROW = ["City", "Bed", "Sofa"]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("<tr><th>a<th>b<tr><td>1", [["a", "b"], ["1", ""]]),
        ("<tr><td>1<td>2<tr><td>3", [["", ""], ["1", "2"], ["3", ""]]),
        ("<tr><th>a<tr><td>1<td>2<td>3", [["a", "", ""], ["1", "2", "3"]]),
        ("<td>no row", [[""], ["no row"]]),
        (
            f"{HEAD}<tr><td rowspan=2>Rome<td>1<td>2<tr><td>3<td>4",
            [HEAD_ROW, ["Rome", "1", "2"], ["Rome", "3", "4"]],
        ),
        (
            f"{HEAD}<tr><td>Rome<td colspan=2>none<tr><td>Oslo<td>3<td>4",
            [HEAD_ROW, ["Rome", "none", ""], ["Oslo", "3", "4"]],
        ),
        # A span ends with its group, and a span of 0 reaches to that end.
        (
            f"{HEAD}<tbody><tr><td rowspan=9>Rome<td>1<td>2<tbody><tr><td>Oslo<td>3<td>4",
            [HEAD_ROW, ["Rome", "1", "2"], ["Oslo", "3", "4"]],
        ),
        (
            f"{HEAD}<tbody><tr><td rowspan=0>Rome<td>1<td>2<tr><td>3<td>4<tbody><tr><td>Oslo",
            [HEAD_ROW, ["Rome", "1", "2"], ["Rome", "3", "4"], ["Oslo", "", ""]],
        ),
        # Cells that grow into a row from several places leave its gaps to its own cells.
        (
            "<tr><th>a<th>b<th>c<th>d<tr><td rowspan=2>1<td>2<td rowspan=2>3<td>4<tr><td>5<td>6",
            [["a", "b", "c", "d"], ["1", "2", "3", "4"], ["1", "5", "3", "6"]],
        ),
        # The footer is last and the header first, wherever they are written.
        (
            "<tfoot><tr><td>sum<td>9</tfoot><tbody><tr><td>x<td>9</tbody><thead><tr><td>a<td>b</thead>",
            [["a", "b"], ["x", "9"], ["sum", "9"]],
        ),
        # Columns in which no cell begins are none.
        ("<tr><th colspan=9>a<tr><td colspan=9>1", [["a"], ["1"]]),
        ("<tr><th>a<th>b<tr><td colspan=100>all", [["a", "b"], ["all", ""]]),
        ("<tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3", [["a", "a", "b"], ["1", "2", "3"]]),
        # Attributes that are no number count as 1, and a number may end in something else.
        ("<tr><th colspan=x>a<th colspan=-1>b<tr><td>1<td>2", [["a", "b"], ["1", "2"]]),
        (
            "<tr><th>a<th>b<tr><td rowspan='2px'>1<td>2<tr><td>3",
            [["a", "b"], ["1", "2"], ["1", "3"]],
        ),
        ("<tr><th>a<th>b<tr><td rowspan=''>1<td colspan=0>2", [["a", "b"], ["1", "2"]]),
        # A header of several rows gives each column its whole name, once.
        (
            "<tr><th rowspan=2>a<th colspan=2>b<tr><th>c<th>d<tr><td>1<td>2<td>3",
            [["a", "b c", "b d"], ["1", "2", "3"]],
        ),
        # A row in which only the first cell is a header is none.
        (
            "<tr><th>Bed<td>1<td>2<tr><th>Sofa<td>3<td>4",
            [["", "", ""], ["Bed", "1", "2"], ["Sofa", "3", "4"]],
        ),
        # A table of headers alone has rows too.
        ("<tr><th>a<tr><th>b<tr><th>c", [["a"], ["b"], ["c"]]),
        ("<tr><th>a<th>b<tr></tr><tr><td>1<td>2", [["a", "b"], ["1", "2"]]),
        (
            "<tr><th>a<th>b<tr><td>1<table><tr><td>in<td rowspan=5>ner</table>2<td>3<tr><td>4",
            [["a", "b"], ["1 in ner 2", "3"], ["4", ""]],
        ),
    ],
)
def test_cells_of_html_are_where_a_browser_shows_them(
    table: str, expected: list[list[str]]
) -> None:
    assert rows_of_html(table) == expected


def test_a_title_in_the_header_stands_before_the_table() -> None:
    html = "<table><tr><th colspan=2>Rooms</th></tr><tr><th>a<th>b<tr><td>1<td>2</table>"

    assert html_markdown.convert(html).text == ("Rooms\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")


def test_a_long_cell_is_written_once() -> None:
    long = "word " * 100

    found = rows_of_html(f"<tr><th>a<th>b<tr><td rowspan=2>{long}<td>1<tr><td>2")

    assert found == [["a", "b"], [long.strip(), "1"], ["", "2"]]


@pytest.mark.sampled("table0")
@pytest.mark.parametrize(
    "table",
    [
        "<tr>" + "<td>a" * 1_000 + "<tr><td>b" * 2_000,
        "<tr>" + "<td rowspan=65534>a" * 1_000 + "<tr><td>b" * 2_000,
        "<tr><td rowspan=65534 colspan=1000>a" + "<tr>" * 2_000,
    ],
)
def test_a_table_of_too_many_places_is_refused(table: str) -> None:
    with pytest.raises(Unreadable, match="characters of text"):
        rows_of_html(table)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a|b", r"a\|b"),
        ("a&#x7c;b", r"a\|b"),
        ("||", r"\|\|"),
        ("<code>a|b</code>", r"`a\|b`"),
        ("<pre>a | b\nc</pre>", r"a \| b c"),
        ("<b>a</b>|<i>b</i>", r"**a**\|*b*"),
        ("a<br>|b", r"a \|b"),
        ("<p>a|</p><p>b</p>", r"a\| b"),
        ("<ul><li>a|b<li>c</ul>", r"a\|b c"),
        ("<table><tr><td>a|b</table>", r"a\|b"),
    ],
)
def test_a_pipe_in_a_cell_ends_no_cell(cell: str, expected: str) -> None:
    html = f"<table><tr><th>a|b<th>c<tr><td>{cell}<td>x</table>"

    assert html_markdown.convert(html).text == (
        f"| a\\|b | c |\n| --- | --- |\n| {expected} | x |\n"
    )


def tc(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"


def tr(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def rows_of_docx(
    extractor: Extractor, *rows_: str, look: str = '<w:tblLook w:val="04A0"/>'
) -> list[list[str]]:
    body = f"<w:tbl><w:tblPr>{look}</w:tblPr>{''.join(rows_)}</w:tbl>"
    return rows(extractor.extract(".docx", docx_of(body)).text)


START, ON = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
WORD_HEAD = tr(tc("a"), tc("b"), tc("c"))
MARK = '<w:bookmarkStart w:id="1" w:name="here"/><w:bookmarkEnd w:id="1"/>'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([tr(tc("1"), tc("2"))], [["1", "2", ""]]),
        ([tr(tc("1", '<w:gridSpan w:val="2"/>'), tc("2"))], [["1", "", "2"]]),
        (
            [tr(tc("1", START), tc("2"), tc("3")), tr(tc("", ON), tc("4"), tc("5"))],
            [["1", "2", "3"], ["1", "4", "5"]],
        ),
        (
            [tr(tc("1"), tc("2", START), tc("3")), MARK, tr(tc("4"), tc("", ON), tc("5"))],
            [["1", "2", "3"], ["4", "2", "5"]],
        ),
        (
            [tr(tc("1"), MARK, tc("2", START), tc("3")), tr(tc("4"), tc("", ON), tc("5"))],
            [["1", "2", "3"], ["4", "2", "5"]],
        ),
        (
            [tr(tc("2"), tc("3"), properties='<w:gridBefore w:val="1"/>')],
            [["", "2", "3"]],
        ),
        ([tr(tc("3"), properties='<w:gridBefore w:val="2"/>')], [["", "", "3"]]),
        # A row without its first column continues the cell above its second.
        (
            [
                tr(tc("1"), tc("2", START), tc("3")),
                tr(tc("", ON), tc("5"), properties='<w:gridBefore w:val="1"/>'),
            ],
            [["1", "2", "3"], ["", "2", "5"]],
        ),
        (
            [tr(tc("1", '<w:hMerge w:val="restart"/>'), tc("", "<w:hMerge/>"), tc("3"))],
            [["1", "", "3"]],
        ),
        (
            [tr(tc("1"), tc("x | y"), tc("3"), properties='<w:gridAfter w:val="1"/>')],
            [["1", "x | y", "3"]],
        ),
    ],
)
def test_cells_of_word_are_where_word_shows_them(
    extractor: Extractor, body: list[str], expected: list[list[str]]
) -> None:
    assert rows_of_docx(extractor, WORD_HEAD, *body) == [["a", "b", "c"], *expected]


@pytest.mark.parametrize(
    ("look", "header"),
    [
        ('<w:tblLook w:val="04A0"/>', ["a", "b", "c"]),
        ('<w:tblLook w:firstRow="1"/>', ["a", "b", "c"]),
        ('<w:tblLook w:val="0480"/>', ["", "", ""]),
        ('<w:tblLook w:val="04A0" w:firstRow="0"/>', ["", "", ""]),
        ("", ["", "", ""]),
    ],
)
def test_the_first_row_is_a_header_where_the_look_of_the_table_says_so(
    extractor: Extractor, look: str, header: list[str]
) -> None:
    found = rows_of_docx(extractor, WORD_HEAD, tr(tc("1"), tc("2"), tc("3")), look=look)

    assert found[0] == header
    assert found[-2:] == [["a", "b", "c"], ["1", "2", "3"]]


def test_a_docx_without_tables_is_not_rewritten() -> None:
    content = docx_of("<w:p/>")

    assert word_tables.rewrite(content) is content
