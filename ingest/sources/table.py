"""The rows of a table as documents: which column holds which field."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from index.model.document import UNSTORABLE, Document, normalise
from ingest.parse.markdown import refuse_lookalikes
from ingest.sources.source import Defaults, Item, RefusedItem, document, reason

FIELDS = ("id", "title", "text", "uri", "language", "tags", "owner", "readers", "cut", "summaries")
LISTS = frozenset({"tags", "readers"})
ROWS_MAX = 1_000_000  # a starting value, not measured
_BETWEEN = re.compile(r"[,;|\n]")

Row = Mapping[str, object]  # by column


@dataclass(frozen=True, slots=True)
class Columns:
    """By field of a document, the column that holds it; columns in none are its metadata."""

    of: Mapping[str, str]

    def document(self, row: Row, number: int, name: str, defaults: Defaults) -> Document:
        """Raises `ValueError`."""
        values = {field: row[column] for field, column in self.of.items()}
        said = {field: _field(field, value) for field, value in values.items() if _is_said(value)}
        key = str(said.pop("id", number))
        if not str(said.get("text", "")).strip():
            raise ValueError(f"column {self.of['text']!r} is empty")
        taken = set(self.of.values())
        metadata = {
            column: _scalar(value)
            for column, value in row.items()
            if column not in taken and _is_said(value)
        }
        own = {"document_id": f"{name}/{key}", "source": name, "metadata": metadata}
        return document(defaults.fields() | {"title": "", "uri": ""} | said | own)


def columns_of(header: Iterable[str], wanted: Mapping[str, str]) -> Columns:
    """What `wanted` says, and else the columns that are called as fields are, whatever their case.

    Raises `ValueError`, which names what is missing.
    """
    there = list(header)
    if unknown := wanted.keys() - set(FIELDS):
        raise ValueError(f"there is no field {min(unknown)!r}: {', '.join(FIELDS)}")
    for field, column in wanted.items():
        if column not in there:
            raise ValueError(f"there is no column {column!r} for {field}: {_listed(there)}")
    if doubled := [column for column in there if there.count(column) > 1]:
        raise ValueError(f"there are two columns {doubled[0]!r}")
    refuse_lookalikes(set(there) - set(wanted.values()) - {"readers", "owner"})
    named = {
        field: column for column in there for field in FIELDS if column.casefold().strip() == field
    }
    found = {**named, **wanted}
    if "text" not in found:
        raise ValueError(f"there is no column 'text': say --column text=NAME, of {_listed(there)}")
    return Columns(found)


def items(
    rows: Iterable[Row | RefusedItem], columns: Columns, name: str, file: str, defaults: Defaults
) -> Iterator[Item]:
    """A document a row, refused where it can't be one or has the identifier of an earlier one."""
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        if isinstance(row, RefusedItem):
            yield row
            continue
        place = f"{file}, row {number:,}"
        if number > ROWS_MAX:
            yield RefusedItem(place, f"over {ROWS_MAX:,} rows; the rest is not read", holds="")
            return
        try:
            made = columns.document(row, number, name, defaults)
        except ValueError as error:
            yield RefusedItem(place, reason(error), holds=_key(row, columns, number))
            continue
        if made.document_id in seen:
            key = made.document_id.removeprefix(f"{name}/")
            yield RefusedItem(place, f"an earlier row has the id {key!r} too", holds=key)
            continue
        seen.add(made.document_id)
        yield made


def _key(row: Row, columns: Columns, number: int) -> str:
    key = row.get(columns.of["id"]) if "id" in columns.of else None
    return str(key) if _is_said(key) else str(number)


def _is_said(value: object) -> bool:
    match value:
        case None:
            return False
        case str():
            return bool(value.strip())
        case float():
            return not math.isnan(value)  # what pandas writes where there is nothing
        case _:
            return True


def _field(field: str, value: object) -> object:
    if field in LISTS:
        parts = value if isinstance(value, list) else _BETWEEN.split(str(value))
        return tuple(str(part).strip() for part in parts if str(part).strip())
    text = str(_scalar(value))
    if UNSTORABLE.search(text):
        raise ValueError(f"{field}: not UTF-8")
    return normalise(text) if field == "text" else text.strip()


def _scalar(value: object) -> Any:
    if isinstance(value, str | int | float | bool | list):
        return value
    return value.decode() if isinstance(value, bytes) else str(value)


def _listed(columns: list[str]) -> str:
    return ", ".join(map(repr, columns[:20])) + (" …" if len(columns) > 20 else "")
