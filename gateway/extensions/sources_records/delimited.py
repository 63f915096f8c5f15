"""The CSV source: one document a row, with columns mapped to its fields.

It reads what spreadsheets export: any encoding, `sep=;` in the first line, titles and blank lines
above the header, empty columns at the end, cells beyond them, and quotes within cells.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TextIO

from gateway.extensions._files import encoding
from gateway.extensions._files.front_matter import ACCESS
from gateway.extensions._records import table
from gateway.extensions._records.table import Columns, Row
from gateway.extensions._sources import confined
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Item, ItemWarning, RefusedItem, reason
from index.model.document_limits import TEXT_CHARACTERS_MAX

FILE_BYTES_MAX = 2**30  # read row by row, in little memory; a starting value, not measured
ROW_CHARACTERS_MAX = 2 * TEXT_CHARACTERS_MAX
DELIMITERS = ",;\t|"
TITLES_MAX = 20  # rows above the header; a starting value

_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[;,\t]*\s*', re.IGNORECASE)  # for Excel
_NO_DELIMITER = "\x1f"  # of a file with one column, whose cells may contain any of the delimiters
_SHOWN_CHARACTERS = 60  # of a row above the header
_QUOTED = re.compile(r'"(?:[^"]|"")*(?:"|\Z)')


def documents(request: ReaderRequest) -> Iterator[Item]:
    """The rows of a file of comma-, semicolon-, tab- or bar-separated values with a header.

    In their order. Does blocking I/O; raises nothing for a row or the file.
    """
    try:
        with confined.open_file(request.path, FILE_BYTES_MAX, request.within) as content:
            name = encoding.encoding_of(content)
            with io.TextIOWrapper(content, name, errors="replace", newline="") as file:
                yield from _items(request, file)
    except (OSError, ValueError, csv.Error) as error:
        message = str(error) if isinstance(error, csv.Error) else reason(error)
        yield RefusedItem(request.path.name, message, holds="")


def _items(request: ReaderRequest, file: TextIO) -> Iterator[Item]:
    csv.field_size_limit(TEXT_CHARACTERS_MAX)  # process-wide: the library has no other limit
    records, path, mapping = _Records(_Lines(file)), request.path.name, request.columns
    header, titles = records.read_header(
        lambda cells: table.has_columns(table.column_names(cells, mapping), mapping)
    )
    names = table.column_names(header, mapping)
    columns = table.map_columns(names, mapping)
    if titles:
        texts = (" ".join(" ".join(cells).split()) for cells in titles)
        shown = ", ".join(repr(text[:_SHOWN_CHARACTERS]) for text in texts)
        yield ItemWarning(path, f"not read, above the header: {shown}")
    longer: list[int] = []
    rows = _rows(records, names, columns, path, longer)
    yield from table.items(rows, columns, request.name, path, request.defaults)
    if longer:
        detail = f"rows with more cells than the header: {len(longer):,}, first row {longer[0]:,}; "
        detail += f"the cells are in the metadata, from {_column(len(names))!r} on"
        yield ItemWarning(path, detail)


def _rows(
    records: Iterator[list[str]],
    names: list[str],
    columns: Columns,
    file: str,
    longer: list[int],
) -> Iterator[Row | RefusedItem]:
    """A row may end early, but not before the columns that say who may read it.

    longer: gets the numbers of rows that have more cells than the header. Such a row is refused if
    a column says who may read it: a comma too many would move that.
    """
    access = [names.index(columns.of[key]) + 1 for key in ACCESS & columns.of.keys()]
    cells_min = max(access, default=0)
    for number in count(1):
        try:
            cells = next(records, None)
        except csv.Error as error:
            yield RefusedItem(f"{file}, row {number:,}", str(error), holds="")
            continue
        if cells is None:
            return
        extra = {
            _column(at): cell for at, cell in enumerate(cells) if at >= len(names) and cell.strip()
        }
        if len(cells) < cells_min or (extra and access):
            message = f"has {len(cells)} cells, but the header has {len(names)}"
            yield RefusedItem(f"{file}, row {number:,}", message, holds="")
            continue
        if extra:
            longer.append(number)
        yield dict(zip(names, cells, strict=False)) | extra


def _column(at: int) -> str:
    """The name of a column that the header does not name."""
    return f"column {at + 1}"


@dataclass(slots=True)
class _Lines:
    """The lines of a file, which can be put back. One over the limit is cut after it."""

    file: TextIO
    _again: deque[str] = field(default_factory=deque)

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._read()
        if not line:
            raise StopIteration
        return line

    def put_back(self, lines: list[str]) -> None:
        self._again.extendleft(reversed(lines))

    def _read(self) -> str:
        line = self.file.readline(ROW_CHARACTERS_MAX + 1)
        if len(line) > ROW_CHARACTERS_MAX:
            while (rest := self.file.readline(ROW_CHARACTERS_MAX)) and not rest.endswith("\n"):
                pass
        return line


class _Records:
    """The cells of each record that is not blank, as RFC 4180 has them, where they follow it.

    A quote that does not end its cell as it should is a part of the cell: the record is then one
    line, so that a cell like 5" costs no other record. After `csv.Error`, the next record follows.
    """

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._delimiter = _NO_DELIMITER

    def __iter__(self) -> "_Records":
        return self

    def __next__(self) -> list[str]:
        while (cells := self._read()) is not None:
            if any(cell.strip() for cell in cells):
                return cells
        raise StopIteration

    def read_header(
        self, is_header: Callable[[list[str]], bool]
    ) -> tuple[list[str], list[list[str]]]:
        """The cells of the header and of each record above it.

        The header is the first record that is one, cut by the delimiter that is most often in its
        line, outside quotes; the first record of all, if none of the first ones is.
        """
        named = self._named_delimiter()
        titles: list[list[str]] = []
        lines: list[str] = []
        while len(titles) <= TITLES_MAX and (record := self._next_with_own_delimiter(named)):
            cells, taken = record
            if is_header(cells):
                return cells, titles
            titles.append(cells)
            lines += taken
        self._lines.put_back(lines)
        first = self._next_with_own_delimiter(named)
        return (first[0] if first else []), []

    def _named_delimiter(self) -> str | None:
        line = self._next_line()
        if named := _SEPARATOR_LINE.fullmatch(line):
            return named[1]
        self._lines.put_back([line] if line else [])
        return None

    def _next_with_own_delimiter(self, named: str | None) -> tuple[list[str], list[str]] | None:
        """The cells and lines of the next record that is not blank."""
        line = self._next_line()
        if not line:
            return None
        self._lines.put_back([line])
        unquoted = _QUOTED.sub("", line)
        most_often = max(DELIMITERS, key=unquoted.count)
        self._delimiter = named or (most_often if most_often in unquoted else _NO_DELIMITER)
        taken: list[str] = []
        return self._read(taken) or [], taken

    def _next_line(self) -> str:
        return next((line for line in self._lines if line.strip(" \t\r\n,;|")), "")

    def _read(self, taken: list[str] | None = None) -> list[str] | None:
        """The cells of the next record, blank or not; None at the end. taken: gets its lines."""
        taken = [] if taken is None else taken
        try:
            return next(self._parse(self._take(taken), strict=True), None)
        except csv.Error:
            self._lines.put_back(taken[1:])
            del taken[1:]
            if len(taken[0]) > ROW_CHARACTERS_MAX:
                raise
            return next(self._parse(iter(taken[:1]), strict=False), None)

    def _take(self, taken: list[str]) -> Iterator[str]:
        room = ROW_CHARACTERS_MAX
        for line in self._lines:
            taken.append(line)
            room -= len(line)
            if room < 0:
                raise csv.Error(f"a row has over {ROW_CHARACTERS_MAX:,} characters")
            yield line

    def _parse(self, lines: Iterator[str], *, strict: bool) -> Iterator[list[str]]:
        return csv.reader(lines, delimiter=self._delimiter, skipinitialspace=True, strict=strict)
