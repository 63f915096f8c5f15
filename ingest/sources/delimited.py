"""The CSV source: a document a row, the columns mapped to its fields."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from index.model.document import TEXT_CHARACTERS_MAX
from ingest.sources import confined, table
from ingest.sources.source import Defaults, Item, RefusedItem, reason
from ingest.sources.table import Row

FILE_BYTES_MAX = 2**30  # read row by row, so memory is no limit; a starting value, not measured
HEADER_CHARACTERS_MAX = 65_536
LINE_CHARACTERS_MAX = 2 * TEXT_CHARACTERS_MAX
DELIMITERS = ",;\t|"


class DelimitedSource:
    """A file of comma-, semicolon-, tab- or bar-separated values in UTF-8, with a header.

    columns: by field of a document, the column that holds it.
    within: a resolved folder that the file lies in; anywhere unless given.
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
        self.name = name or path.stem
        self._path = path
        self._defaults = defaults
        self._columns = columns or {}
        self._within = within

    def documents(self) -> Iterator[Item]:
        """The rows in their order. Blocks on the disk, and raises nothing for a row or the file."""
        try:
            content = confined.open_file(self._path, FILE_BYTES_MAX, self._within)
            # What is not UTF-8 comes as characters that no document may have: its row is refused.
            with io.TextIOWrapper(
                content, encoding="utf-8-sig", errors="surrogateescape", newline=""
            ) as file:
                yield from self._items(file)
        except (OSError, ValueError, csv.Error) as error:
            said = str(error) if isinstance(error, csv.Error) else reason(error)
            yield RefusedItem(self._path.name, said, holds="")

    def _items(self, file: TextIO) -> Iterator[Item]:
        first = file.readline(HEADER_CHARACTERS_MAX)
        csv.field_size_limit(TEXT_CHARACTERS_MAX)  # of the process: the library has no other
        delimiter = max(DELIMITERS, key=first.count)
        header = next(csv.reader([first], delimiter=delimiter), [])
        columns = table.columns_of(header, self._columns)
        lines = csv.reader(_lines(file), delimiter=delimiter, strict=True)
        rows = _rows(lines, header, self._path.name)
        yield from table.items(rows, columns, self.name, self._path.name, self._defaults)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(LINE_CHARACTERS_MAX + 1):
        if len(line) > LINE_CHARACTERS_MAX:
            raise csv.Error(f"a line has over {LINE_CHARACTERS_MAX:,} characters")
        yield line


def _rows(lines: Iterator[list[str]], header: list[str], file: str) -> Iterator[Row | RefusedItem]:
    number = 0
    while True:
        number += 1
        try:
            cells = next(lines, None)
        except csv.Error as error:
            # Where the next row begins is anybody's guess after this.
            reason = f"{error}; the rest is not read"
            yield RefusedItem(f"{file}, row {number:,}", reason, holds="")
            return
        if cells is None:
            return
        if not cells:
            number -= 1
        elif len(cells) != len(header):
            said = f"has {len(cells)} cells, the header {len(header)}"
            yield RefusedItem(f"{file}, row {number:,}", said, holds="")
        else:
            yield dict(zip(header, cells, strict=True))
