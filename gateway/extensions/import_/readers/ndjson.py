"""Records in a file of NDJSON, for stores that have no reader of their own.

    {"id": "leave", "text": "Everybody …", "title": "Leave", "readers": ["user:ana"], "vector": […]}

Only `text` is required. Values that are no fields of a document become its metadata.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from gateway.extension import content
from gateway.extensions._records import json_lines, table
from gateway.extensions._sources.source import RefusedItem, reason
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.record import TOO_MANY_VALUES, Record

LINE_BYTES_MAX = 2**25  # the longest text, with every character escaped, and a vector


class NdjsonReader:
    """vector: the name of the value that is the vector.

    A line without an `id` is identified by its number.
    """

    columns: Mapping[str, str] = {field: field for field in table.FIELDS if field != "text"}
    has_texts = False

    def __init__(self, path: Path, *, vector: str = "vector") -> None:
        self.name = path.stem
        self._path = path
        self._vector = vector

    def count(self) -> int:
        return sum(1 for _ in self._lines())

    def records(self) -> Iterator[Record | RefusedItem]:
        for number, line in self._lines():
            yield self._record(number, line)

    def close(self) -> None:
        """Nothing stays open between two readings."""

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        try:
            with self._path.open("rb") as file:
                yield from json_lines.lines(file, LINE_BYTES_MAX)
        except OSError as error:
            raise NotImportable(f"{self._path}: {reason(error)}") from None

    def _record(self, number: int, line: bytes) -> Record | RefusedItem:
        where = f"line {number:,}"
        if len(line) > LINE_BYTES_MAX:
            return RefusedItem(where, f"over {LINE_BYTES_MAX:,} bytes")
        if not content.has_few_values(line):
            return RefusedItem(where, TOO_MANY_VALUES)
        try:
            values = orjson.loads(line)
        except ValueError:
            return RefusedItem(where, "not JSON")
        if not isinstance(values, dict):
            return RefusedItem(where, "not a JSON object")
        return Record(number, values, vector=values.pop(self._vector, None))
