"""The CSV source: one document a row, with columns mapped to its fields.

It reads what spreadsheets export: any encoding, `sep=;` in the first line, blank lines before the
header, empty columns at the end, and quotes within cells.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TextIO

from index.model.document import TEXT_CHARACTERS_MAX
from index.model.form import composed
from ingest.parse import encoding
from ingest.parse.front_matter import ACCESS
from ingest.sources.readers import confined, table
from ingest.sources.readers.table import Columns, Row
from ingest.sources.source import Defaults, Item, RefusedItem, reason

FILE_BYTES_MAX = 2**30  # read row by row, in little memory; a starting value, not measured
ROW_CHARACTERS_MAX = 2 * TEXT_CHARACTERS_MAX
DELIMITERS = ",;\t|"

_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[;,\t]*\s*', re.IGNORECASE)  # for Excel
_NO_DELIMITER = "\x1f"  # of a file with one column, whose cells may contain any of the delimiters
_QUOTED = re.compile(r'"(?:[^"]|"")*(?:"|\Z)')


class DelimitedSource:
    """A file of comma-, semicolon-, tab- or bar-separated values with a header.

    columns: the column of each field of a document, by field.
    within: the resolved folder that must contain the file; None allows any location.
    """

    def __init__(
        self,
        path: Path,
        defaults: Defaults,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        within: Path | None = None,
    ) -> None:
        self.name = composed(name or path.stem)
        self._path = path
        self._defaults = defaults
        self._columns = columns or {}
        self._within = within

    def documents(self) -> Iterator[Item]:
        """The rows in their order. Does blocking I/O; raises nothing for a row or the file."""
        try:
            with confined.open_file(self._path, FILE_BYTES_MAX, self._within) as content:
                name = encoding.encoding_of(content)
                with io.TextIOWrapper(content, name, errors="replace", newline="") as file:
                    yield from self._items(file)
        except (OSError, ValueError, csv.Error) as error:
            message = str(error) if isinstance(error, csv.Error) else reason(error)
            yield RefusedItem(self._path.name, message, holds="")

    def _items(self, file: TextIO) -> Iterator[Item]:
        csv.field_size_limit(TEXT_CHARACTERS_MAX)  # process-wide: the library has no other limit
        records = _Records(_Lines(file))
        names = table.column_names(next(records, []), self._columns)
        columns = table.map_columns(names, self._columns)
        rows = _rows(records, names, columns, self._path.name)
        yield from table.items(rows, columns, self.name, self._path.name, self._defaults)


def _rows(
    records: Iterator[list[str]], names: list[str], columns: Columns, file: str
) -> Iterator[Row | RefusedItem]:
    """A row may end early, but not before the columns that say who may read it."""
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
        if len(cells) < cells_min or any(cell.strip() for cell in cells[len(names) :]):
            message = f"has {len(cells)} cells, but the header has {len(names)}"
            yield RefusedItem(f"{file}, row {number:,}", message, holds="")
        else:
            yield dict(zip(names, cells, strict=False))


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
        self._delimiter = self._find_delimiter()

    def __iter__(self) -> "_Records":
        return self

    def __next__(self) -> list[str]:
        while (cells := self._read()) is not None:
            if any(cell.strip() for cell in cells):
                return cells
        raise StopIteration

    def _find_delimiter(self) -> str:
        """The one that is most often in the header, outside quotes; leaves the header in place."""
        first = next((line for line in self._lines if line.strip(" \t\r\n,;|")), "")
        if named := _SEPARATOR_LINE.fullmatch(first):
            return named[1]
        self._lines.put_back([first] if first else [])
        unquoted = _QUOTED.sub("", first)
        delimiter = max(DELIMITERS, key=unquoted.count)
        return delimiter if delimiter in unquoted else _NO_DELIMITER

    def _read(self) -> list[str] | None:
        """The cells of the next record, blank or not; None at the end."""
        taken: list[str] = []
        try:
            return next(self._parse(self._take(taken), strict=True), None)
        except csv.Error:
            self._lines.put_back(taken[1:])
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
