"""Reads rows of the followed relation as documents. No name of a caller is SQL: all are quoted."""

import json
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.extensions._sources.source import Defaults, RefusedItem, document, reason
from gateway.extensions.sources_postgres.postgres_schemas import (
    PostgresSource,
    Through,
)
from index.model.document import Document
from index.model.form import composed, is_blank
from index.postgres.functions.function_roles import Connection

# Starting values, not measured.
VALUE_BYTES_MAX = 2**23  # of a column: what 2,000,000 characters take at most
ROWS_S_MAX = 300.0
_ROWS = 16  # at once, each with some values of that length
_KEYS = 1_000  # of a statement
_LISTS = frozenset({"tags", "readers"})
_JSON = _LISTS | {"metadata"}

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowBatch:
    """What a batch of rows is. gone: keys of no document, refused ones among them."""

    documents: Sequence[Document]
    gone: Sequence[str]
    refused: Sequence[RefusedItem]
    warnings: Sequence[str]


class RelationReader:
    """types: by relation and column."""

    def __init__(
        self,
        connection: Connection,
        config: PostgresSource,
        types: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._connection = connection
        self._config = config
        self._fields = {
            field: column for field, column in config.columns.model_dump().items() if column
        }
        self._types = types

    async def all_rows(self) -> AsyncIterator[list[Row]]:
        """All rows, in a transaction of the caller."""
        cursor = await self._connection.cursor(self._select(), timeout=ROWS_S_MAX)
        while rows := await cursor.fetch(_ROWS, timeout=ROWS_S_MAX):
            yield [dict(row) for row in rows]

    async def rows_of(self, keys: Collection[str]) -> AsyncIterator[list[Row]]:
        """The rows with these keys, in a transaction of the caller."""
        where = f" WHERE {self._is_any(self._config.relation, self._config.key)}"
        ordered = sorted(keys)
        for start in range(0, len(ordered), _KEYS):
            cursor = await self._connection.cursor(
                self._select() + where, ordered[start : start + _KEYS], timeout=ROWS_S_MAX
            )
            while rows := await cursor.fetch(_ROWS, timeout=ROWS_S_MAX):
                yield [dict(row) for row in rows]

    async def keys_of(self, values: Mapping[str, Collection[str]]) -> set[str]:
        """The keys of the documents that changed rows belong to. values: by followed table."""
        keys: set[str] = set()
        for table in self._config.tables:
            changed = values.get(table.table, ())
            if changed and table.through:
                keys |= await self._keys_through(table.through, sorted(changed))
            else:
                keys |= set(changed)
        return keys

    async def _keys_through(self, through: Through, values: Sequence[str]) -> set[str]:
        rows = await self._connection.fetch(
            f"SELECT DISTINCT {_quoted(through.key)}::text AS key FROM {_relation(through.table)} "  # noqa: S608
            f"WHERE {self._is_any(through.table, through.column)}",
            values,
            timeout=ROWS_S_MAX,
        )
        return {row["key"] for row in rows if row["key"] is not None}

    def _is_any(self, relation: str, column: str) -> str:
        """The type's name is the catalogue's, quoted by the server."""
        return f"{_quoted(column)} = ANY ($1::text[]::{self._types[relation][column]}[])"

    def _select(self) -> str:
        key = _quoted(self._config.key)
        named = [f"{key}::text AS key", *(_column(*each) for each in self._fields.items())]
        lengths = (f"octet_length({_text(*each)})" for each in self._fields.items())
        named.append(f"greatest({', '.join(lengths)}) > {VALUE_BYTES_MAX} AS is_too_long")
        return f"SELECT {', '.join(named)} FROM {_relation(self._config.relation)}"  # noqa: S608


def read_batch(
    rows: Iterable[Row],
    name: str,
    defaults: Defaults,
    columns: Mapping[str, str | None],
    read: set[str],
) -> RowBatch:
    """What rows are.

    A row that can't be a document is refused, and its stored document is removed: others may read
    that than may read the row. columns: by field, those that rows have. read: the keys of earlier
    rows, which gets those of these; a key of two rows is nobody's.
    """
    documents, gone, refused, warnings = dict[str, Document](), [], [], list[str]()
    for row in rows:
        key, details = composed(row["key"] or ""), list[str]()
        try:
            _require_new(key, read)
            documents[key] = _document(row, name, defaults, columns, details)
        except _Blank:
            gone.append(key)
        except ValueError as error:
            refused.append(RefusedItem(key, reason(error), holds=key))
            documents.pop(key, None)
            gone += [key] if key else []
        warnings += [f"{key}: {detail}" for detail in details]
    return RowBatch(list(documents.values()), gone, refused, warnings)


def _require_new(key: str, read: set[str]) -> None:
    """Add the key to those that were read. Raises `ValueError`."""
    if not key or key in read:
        raise ValueError("is the key of another row, too" if key else "has no key")
    read.add(key)


class _Blank(Exception):
    """The row has no text."""


def _document(
    row: Row, name: str, defaults: Defaults, columns: Mapping[str, str | None], warnings: list[str]
) -> Document:
    """Raises `ValueError` and `_Blank`."""
    if row["is_too_long"]:
        raise ValueError(f"has a value of more than {VALUE_BYTES_MAX:,} bytes")
    if is_blank(row["text"] or ""):
        raise _Blank
    named = [field for field, column in columns.items() if column]
    values = {field: _value(field, row[field]) for field in named if row[field] is not None}
    fields = {field: value for field, value in values.items() if value is not None}
    own: dict[str, Any] = {"document_id": f"{name}/{row['key']}", "source": name}
    if "readers" in named:
        own["readers"] = fields.get("readers", ())
    if "owner" in named:
        own["owner"] = fields.get("owner")
    return document(defaults.fields() | {"title": "", "uri": ""} | fields | own, warnings)


def _value(field: str, text: str) -> Any:
    """Raises `ValueError`."""
    if field not in _JSON:
        return text
    value = json.loads(text)
    if field in _LISTS and value is not None:
        if not isinstance(value, list):
            raise ValueError(f"{field}: must be an array, or JSON with a list")
        return tuple(value)
    return value


def _column(field: str, column: str) -> str:
    text = _text(field, column)
    return f"CASE WHEN octet_length({text}) <= {VALUE_BYTES_MAX} THEN {text} END AS {field}"


def _text(field: str, column: str) -> str:
    return f"to_json({_quoted(column)})::text" if field in _JSON else f"{_quoted(column)}::text"


def _relation(name: str) -> str:
    return ".".join(map(_quoted, name.split(".")))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
