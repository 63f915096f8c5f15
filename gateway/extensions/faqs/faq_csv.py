"""FAQs as rows of a CSV file (RFC 4180) that spreadsheets read and write."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from gateway.extension import problems
from gateway.extensions.faqs import spreadsheet_text
from gateway.extensions.faqs.import_line import ImportLine
from gateway.extensions.faqs.spreadsheet_text import SpreadsheetText

COLUMNS = (
    "id",
    "question",
    "answer",
    "category",
    "keywords",
    "priority",
    "active",
    "language",
    "readers",
)
_REQUIRED = ("question", "answer")
# No keyword holds a comma, and no reader a space.
_LIST_SEPARATORS = {"keywords": ", ", "readers": " "}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_DOUBTFUL = "The row was read as {}: check its accented letters."
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
# A spreadsheet computes a cell that begins so; an apostrophe before it makes it text.
# Source: OWASP, CSV Injection.
_FORMULA_START = "=+\\-@\t\r\uff1d\uff0b\uff0d\uff20"
_FORMULA = re.compile(f"'*[{_FORMULA_START}]")
_ESCAPED_FORMULA = re.compile(f"'+[{_FORMULA_START}]")


def encode_header() -> bytes:
    """The first row; the byte order mark tells spreadsheets that the file is UTF-8."""
    return b"\xef\xbb\xbf" + _encode([COLUMNS])


def encode_rows(faqs: Iterable[Mapping[str, Any]]) -> bytes:
    """A row for each FAQ; `faqs` have the fields of `FaqLine`."""
    return _encode([_to_cell(column, faq[column]) for column in COLUMNS] for faq in faqs)


def _encode(rows: Iterable[Sequence[str]]) -> bytes:
    target = io.StringIO(newline="")
    csv.writer(target, quoting=csv.QUOTE_ALL).writerows(rows)
    return target.getvalue().encode()


def _to_cell(column: str, value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    text = value if isinstance(value, str) else _LIST_SEPARATORS[column].join(value)
    return f"'{text}" if _FORMULA.match(text) else text


def to_lines(body: bytes, *, rows_max: int) -> list[ImportLine]:
    """Each row as the JSON of a `FaqLine`.

    The separator is that of a first line `sep=;`, or a comma, a semicolon or a tab, as in the
    header. Blank rows are left out. A row with a wrong byte has a warning, and so has one with
    letters beyond ASCII if the encoding of the file was guessed.
    Raises a `Problem`: 400 for a body that is no text or not CSV, 422 for an unknown or
    missing column and for no rows or more than `rows_max`.
    """
    file = spreadsheet_text.read(body)
    rows = _rows(file, rows_max)
    _, header = next(rows, (0, []))
    columns = _check_header(header)
    lines: list[ImportLine] = []
    for number, cells in rows:
        if len(lines) == rows_max:
            raise _wrong_count(rows_max)
        text = "".join(cells)
        is_doubtful = "\ufffd" in text or (file.is_guessed and not text.isascii())
        warning = _DOUBTFUL.format(file.encoding) if is_doubtful else None
        lines.append(ImportLine(number, orjson.dumps(_to_fields(columns, cells)), warning))
    if not lines:
        raise _wrong_count(rows_max)
    return lines


def _rows(file: SpreadsheetText, rows_max: int) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of its first line in the file."""
    row_characters = 0

    def lines() -> Iterator[str]:
        nonlocal row_characters
        for line in file.lines:
            row_characters += len(line)
            if row_characters > spreadsheet_text.ROW_CHARACTERS_MAX:
                most = f"{spreadsheet_text.ROW_CHARACTERS_MAX:,} characters"
                raise csv.Error(f"it has more than {most}")
            yield line

    reader = csv.reader(lines(), delimiter=file.separator, strict=True)
    first_line = file.first_line
    try:
        for count, cells in enumerate(reader):
            if count > 2 * rows_max:  # with blank ones
                raise _wrong_count(rows_max)
            if any(cell.strip() for cell in cells):
                yield first_line, cells
            first_line, row_characters = file.first_line + reader.line_num, 0
    except csv.Error as error:
        raise problems.malformed(f"Invalid CSV in the row of line {first_line}: {error}") from None


def _check_header(header: Sequence[str]) -> list[str]:
    columns = [cell.strip().lower() for cell in header]
    is_known = set(_REQUIRED) <= set(columns) <= set(COLUMNS)
    if not is_known or len(set(columns)) < len(columns):
        raise problems.invalid_field(
            "body",
            f"must begin with a row of column names, each once, with {' and '.join(_REQUIRED)}; "
            f"the columns are {', '.join(COLUMNS)}",
        )
    return columns


def _to_fields(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """The row's fields without empty cells; a cell beyond the header is a field that is refused.

    Empty readers are kept, and refused: left out, they would be the whole tenant.
    """
    pairs = zip(columns, cells, strict=False)
    fields: dict[str, Any] = {"readers": []} if "readers" in columns else {}
    fields |= {column: _from_cell(column, cell) for column, cell in pairs if cell.strip()}
    beyond = [n for n, cell in enumerate(cells, 1) if n > len(columns) and cell.strip()]
    return fields | {f"column {n}": None for n in beyond[:1]}


def _from_cell(column: str, cell: str) -> Any:
    """The cell's value; text that is no number or boolean stays text, which the schema refuses."""
    if column == "priority":
        number = cell.strip()
        return int(number) if _NUMBER.fullmatch(number) else cell
    if column == "active":
        return _BOOLEANS.get(cell.strip().lower(), cell)
    text = cell[1:] if _ESCAPED_FORMULA.match(cell) else cell
    if column == "readers":
        return text.split()
    if column == "keywords":
        return [keyword for keyword in map(str.strip, text.split(",")) if keyword]
    return text if column in _REQUIRED else text.strip()


def _wrong_count(rows_max: int) -> Exception:
    return problems.invalid_field("body", f"must have 1 to {rows_max:,} rows below the header")
