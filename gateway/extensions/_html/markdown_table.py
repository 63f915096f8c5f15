"""A table in Markdown, from the cells of HTML in their order.

Cells are placed as the HTML standard forms a table: the header group first, the footer group last,
and cells that grow over rows up to the end of their group.
https://html.spec.whatwg.org/multipage/tables.html#forming-a-table
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from math import inf

from gateway.extensions._html.inline_text import InlineText, escape_lines

COLSPAN_MAX, ROWSPAN_MAX = 1_000, 65_534  # of the standard
HEADER_ROWS_MAX = 4  # of one header; a starting value
PLACES_MAX = 1_000_000  # of a table; a starting value, not measured
REPEATED_CHARACTERS_MAX = 200  # of a cell that is repeated in each row; a starting value

_GROUPS = {"thead": 0, "tbody": 1, "tfoot": 2}  # in the order that a browser shows them


class TableTooLarge(ValueError):
    """The table has more than PLACES_MAX places."""


@dataclass(slots=True)
class _Cell:
    """rows: that it covers; 0 are all to the end of its group."""

    is_header: bool
    columns: int
    rows: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """group: the rank of its group, and the number of the group."""

    group: tuple[int, int]
    cells: list[_Cell] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _PlacedRow:
    """cells: by the column of their beginning, also those that began in an earlier row."""

    is_header: bool
    cells: Mapping[int, _Cell]


class MarkdownTable:
    """The outermost table; a table within its cells becomes text."""

    def __init__(self) -> None:
        self.depth = 1
        self.cell: InlineText | None = None
        self._rows: list[_Row] = []
        self._group = (_GROUPS["tbody"], 0)

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _GROUPS:
            self._begin_group(tag)
        elif tag == "tr":
            self._begin_row()
        elif tag in ("td", "th"):
            self._begin_cell(tag, attributes)

    def end(self, tag: str) -> None:
        if tag in _GROUPS:
            self._begin_group("tbody")
        elif tag in ("td", "th"):
            self._end_cell()

    def text(self) -> str:
        """The table, after the titles in its header. Raises `TableTooLarge`."""
        rows = list(_place(sorted(self._rows, key=lambda row: row.group)))
        columns = sorted({column for row in rows for column in row.cells})
        if len(columns) * len(rows) > PLACES_MAX:
            raise TableTooLarge
        header = list(takewhile(lambda row: row.is_header, rows))
        header = header[: 1 if len(header) == len(rows) else HEADER_ROWS_MAX]
        titles = list(takewhile(lambda row: _is_title(row, columns), header[:-1]))
        lines = [*_header_lines(header[len(titles) :], columns)] if columns else []
        lines += [_line([_text(row, column) for column in columns]) for row in rows[len(header) :]]
        return "\n\n".join(
            [*(escape_lines(_text(row, columns[0])) for row in titles), "\n".join(lines)]
        )

    def _begin_group(self, tag: str) -> None:
        self._group = (_GROUPS[tag], self._group[1] + 1)

    def _begin_row(self) -> None:
        self._rows.append(_Row(self._group))

    def _begin_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._end_cell()
        if not self._rows:
            self._begin_row()
        columns = _parse_span(attributes.get("colspan"), least=1, most=COLSPAN_MAX)
        rows = _parse_span(attributes.get("rowspan"), least=0, most=ROWSPAN_MAX)
        self._rows[-1].cells.append(_Cell(tag == "th", columns, rows))
        self.cell = InlineText()

    def _end_cell(self) -> None:
        if self.cell is not None:
            text = self.cell.take().replace("  \n", " ")
            self._rows[-1].cells[-1].text = text.replace("|", r"\|")
            self.cell = None


def _parse_span(value: str | None, *, least: int, most: int) -> int:
    """The number at the beginning of an attribute; 1 if there is none, or less than `least`."""
    digits = re.match(r"\s*\+?([0-9]+)", value or "")
    number = min(int(digits[1][:9]), most) if digits else 1
    return number if number >= least else 1


def _place(rows: Sequence[_Row]) -> Iterator[_PlacedRow]:
    """The rows that have cells of their own, each with those that grow into it."""
    places = 0
    for (rank, _), group in groupby(rows, key=lambda row: row.group):
        growing: dict[int, tuple[_Cell, float]] = {}  # by column, with the row after its last
        for number, row in enumerate(group):
            growing = {column: each for column, each in growing.items() if each[1] > number}
            cells = {column: cell for column, (cell, _) in growing.items()}
            occupied = {
                column + offset for column, cell in cells.items() for offset in range(cell.columns)
            }
            places += len(occupied) + len(row.cells)
            if places > PLACES_MAX:
                raise TableTooLarge
            column = 0
            for cell in row.cells:
                while column in occupied:
                    column += 1
                cells[column] = cell
                if cell.rows != 1:
                    growing[column] = _repeated(cell), number + (cell.rows or inf)
                column += cell.columns
            if row.cells:
                is_header = rank == _GROUPS["thead"] or all(cell.is_header for cell in row.cells)
                yield _PlacedRow(is_header, cells)


def _repeated(cell: _Cell) -> _Cell:
    """The cell in later rows, where a long text is not said again."""
    return cell if len(cell.text) <= REPEATED_CHARACTERS_MAX else replace(cell, text="")


def _is_title(row: _PlacedRow, columns: Sequence[int]) -> bool:
    """Whether one cell of a header covers all columns."""
    return len(row.cells) == 1 < len(columns) and row.cells[columns[0]].columns > columns[-1]


def _text(row: _PlacedRow, column: int) -> str:
    return row.cells[column].text if column in row.cells else ""


def _header_lines(header: Sequence[_PlacedRow], columns: Sequence[int]) -> tuple[str, str]:
    """One row of all header rows, in which each column has its whole name, and the delimiters."""
    names: list[dict[str, None]] = [{} for _ in columns]
    for row in header:
        for column, cell in row.cells.items():
            first, last = (bisect_left(columns, end) for end in (column, column + cell.columns))
            for name in names[first:last] if cell.text else ():
                name[cell.text] = None
    return _line([" ".join(name) for name in names]), _line(["---"] * len(columns))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
