"""The CSV source: one document a row, with columns mapped to its fields."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from index.model.document import TEXT_CHARACTERS_MAX
from index.model.form import composed
from ingest.sources.readers import confined, table
from ingest.sources.readers.table import Row
from ingest.sources.source import Defaults, Item, RefusedItem, reason

FILE_BYTES_MAX = 2**30  # read row by row, in little memory; a starting value, not measured
HEADER_CHARACTERS_MAX = 65_536
ROW_CHARACTERS_MAX = 2 * TEXT_CHARACTERS_MAX
DELIMITERS = ",;\t|"


class DelimitedSource:
    """A file of comma-, semicolon-, tab- or bar-separated values in UTF-8, with a header.

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
            content = confined.open_file(self._path, FILE_BYTES_MAX, self._within)
            # Bytes that are not UTF-8 become surrogates, for which the row is refused.
            with io.TextIOWrapper(
                content, encoding="utf-8-sig", errors="surrogateescape", newline=""
            ) as file:
                yield from self._items(file)
        except (OSError, ValueError, csv.Error) as error:
            message = str(error) if isinstance(error, csv.Error) else reason(error)
            yield RefusedItem(self._path.name, message, holds="")

    def _items(self, file: TextIO) -> Iterator[Item]:
        first_line = file.readline(HEADER_CHARACTERS_MAX)
        csv.field_size_limit(TEXT_CHARACTERS_MAX)  # process-wide: the library has no other limit
        delimiter = max(DELIMITERS, key=first_line.count)
        header = next(csv.reader([first_line], delimiter=delimiter), [])
        columns = table.map_columns(header, self._columns)
        rows = _rows(file, delimiter, header, self._path.name)
        yield from table.items(rows, columns, self.name, self._path.name, self._defaults)


class _Lines:
    """The lines of one row after the other: a quoted cell may go on for as long as the file."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._room = ROW_CHARACTERS_MAX

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(self._room + 1):
            self._room -= len(line)
            if self._room < 0:
                raise csv.Error(f"a row has over {ROW_CHARACTERS_MAX:,} characters")
            yield line

    def begin_row(self) -> None:
        self._room = ROW_CHARACTERS_MAX


def _rows(
    file: TextIO, delimiter: str, header: list[str], name: str
) -> Iterator[Row | RefusedItem]:
    lines = _Lines(file)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    number = 0
    while True:
        number += 1
        lines.begin_row()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            # The start of the next row is unknown after this.
            reason = f"{error}; later rows are not read"
            yield RefusedItem(f"{name}, row {number:,}", reason, holds="")
            return
        if cells is None:
            return
        if not cells:
            number -= 1
        elif len(cells) != len(header):
            reason = f"has {len(cells)} cells, but the header has {len(header)}"
            yield RefusedItem(f"{name}, row {number:,}", reason, holds="")
        else:
            yield dict(zip(header, cells, strict=True))
