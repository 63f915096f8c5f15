"""Turns the rows of a table into documents, by a mapping of columns to fields."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.extensions._files.coerce import scalar_text
from gateway.extensions._files.front_matter import refuse_lookalikes
from gateway.extensions._sources.source import (
    Defaults,
    Item,
    ItemWarning,
    RefusedItem,
    document,
    reason,
)
from index.model.document import Document, normalise

FIELDS = (
    "id",
    "title",
    "text",
    "uri",
    "language",
    "tags",
    "owner",
    "readers",
    "chunker",
    "summaries",
)
LISTS = frozenset({"tags", "readers"})
WARNINGS_MAX = 100  # of a table; starting values, not measured
ROWS_MAX = 1_000_000
_SEPARATOR = re.compile(r"[,;|\n]")

Row = Mapping[str, object]  # by column


@dataclass(frozen=True, slots=True)
class Columns:
    """of: the column of each field, by field. The other columns become metadata.

    A row may lack columns.
    """

    of: Mapping[str, str]

    def document(
        self, row: Row, number: int, name: str, defaults: Defaults, warnings: list[str]
    ) -> Document:
        """Raises `ValueError`."""
        fields = self.fields(row)
        key = str(fields.pop("id", number))
        if not str(fields.get("text", "")).strip():
            raise ValueError(f"column {self.of['text']!r} is empty")
        own = {"document_id": f"{name}/{key}", "source": name, "metadata": self.metadata(row)}
        return document(defaults.fields() | {"title": "", "uri": ""} | fields | own, warnings)

    def fields(self, row: Row) -> dict[str, Any]:
        """The values of the row's fields that are not empty. Raises `ValueError`."""
        values = {field: row.get(column) for field, column in self.of.items()}
        return {field: _field(field, value) for field, value in values.items() if _has_value(value)}

    def metadata(self, row: Row) -> dict[str, Any]:
        """The values that are no fields."""
        mapped = set(self.of.values())
        return {
            column: value
            for column, value in row.items()
            if column not in mapped and _has_value(value)
        }


def column_names(header: Iterable[str], mapping: Mapping[str, str]) -> list[str]:
    """The names of a header's columns, each once, but for those that may be fields."""
    fields = {*FIELDS, *mapping.values()}
    names: list[str] = []
    for number, cell in enumerate(header, start=1):
        name = " ".join(cell.split()) or f"column {number}"
        is_field = name in fields or name.casefold() in fields
        names.append(f"{name} {number}" if name in names and not is_field else name)
    return names


def has_columns(header: Iterable[str], mapping: Mapping[str, str]) -> bool:
    """Whether the header names each column that a document needs."""
    names = set(header)
    has_text = "text" in mapping or any(name.casefold().strip() == "text" for name in names)
    return has_text and names.issuperset(mapping.values())


def map_columns(header: Iterable[str], mapping: Mapping[str, str]) -> Columns:
    """The mapping, completed with the columns that are named like a field, in any case.

    Raises `ValueError`, which names the missing column or the unknown field.
    """
    names = list(header)
    if not names:
        raise ValueError("there is no column 'text', nor any other: the file has no header")
    if unknown := mapping.keys() - set(FIELDS):
        raise ValueError(f"there is no field {min(unknown)!r}; the fields are {', '.join(FIELDS)}")
    for field, column in mapping.items():
        if column not in names:
            raise ValueError(
                f"there is no column {column!r} for {field}; the columns are {_join(names)}"
            )
    if duplicates := [column for column in names if names.count(column) > 1]:
        raise ValueError(f"there are two columns {duplicates[0]!r}")
    refuse_lookalikes(set(names) - set(mapping.values()) - {"readers", "owner"})
    same_name = {
        field: column for column in names for field in FIELDS if column.casefold().strip() == field
    }
    exact = {name: name for name in names if name in FIELDS}
    columns = {**same_name, **exact, **mapping}
    if "text" not in columns:
        raise ValueError(
            f"there is no column 'text'; set --column text=NAME to one of {_join(names)}"
        )
    return Columns(columns)


def items(
    rows: Iterable[Row | RefusedItem], columns: Columns, name: str, file: str, defaults: Defaults
) -> Iterator[Item]:
    """The document of each row; refuses invalid rows and rows with the id of an earlier one.

    A warning is there once, since it may hold for a whole column.
    """
    document_ids: set[str] = set()
    warned: set[str] = set()
    for number, row in enumerate(rows, start=1):
        if isinstance(row, RefusedItem):
            yield row
            continue
        path = f"{file}, row {number:,}"
        if number > ROWS_MAX:
            yield RefusedItem(path, f"over {ROWS_MAX:,} rows; later rows are not read", holds="")
            return
        try:
            warnings: list[str] = []
            item = columns.document(row, number, name, defaults, warnings)
        except ValueError as error:
            yield RefusedItem(path, reason(error), holds=_key(row, columns, number))
            continue
        if item.document_id in document_ids:
            key = item.document_id.removeprefix(f"{name}/")
            yield RefusedItem(path, f"an earlier row also has the id {key!r}", holds=key)
            continue
        document_ids.add(item.document_id)
        for detail in dict.fromkeys(warnings):
            if detail not in warned and len(warned) < WARNINGS_MAX:
                warned.add(detail)
                yield ItemWarning(path, detail)
        yield item


def parts(value: object) -> tuple[str, ...]:
    """The items of a list, or of a text that separates them."""
    items = value if isinstance(value, list) else _SEPARATOR.split(str(value))
    return tuple(str(item).strip() for item in items if str(item).strip())


def _key(row: Row, columns: Columns, number: int) -> str:
    key = row.get(columns.of["id"]) if "id" in columns.of else None
    return str(_field("id", key)) if _has_value(key) else str(number)


def _has_value(value: object) -> bool:
    match value:
        case None:
            return False
        case str():
            return bool(value.strip())
        case float():
            return not math.isnan(value)  # pandas writes NaN for an empty cell
        case _:
            return True


def _field(field: str, value: object) -> object:
    if field == "tags" and isinstance(value, list):
        return value
    if field in LISTS:
        return parts(value)
    if field == "id" and isinstance(value, float) and value.is_integer():
        return str(int(value))  # pandas writes floats where a cell is empty
    text = scalar_text(value)
    return normalise(text) if field == "text" else text.strip()


def _join(columns: list[str]) -> str:
    return ", ".join(map(repr, columns[:20])) + (" …" if len(columns) > 20 else "")
