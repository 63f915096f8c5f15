"""The rows of a table with vectors of pgvector."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from threading import Lock
from typing import Any, TypeVar

import orjson

from gateway.extensions._sources.source import RefusedItem
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers import vector_table
from gateway.extensions.import_.readers.record import Record
from gateway.extensions.import_.readers.vector_table import OpenVectorTable

T = TypeVar("T")


class PgvectorReader:
    """A table or view, in one snapshot, which is open until `close`.

    table: NAME or SCHEMA.NAME, as SQL reads it.
    vector: the column of the vectors, if there are several; None for the only one.
    """

    has_texts = False

    def __init__(
        self,
        url: str,
        table: str,
        *,
        password: str | None,
        with_vectors: bool,
        vector: str | None = None,
    ) -> None:
        """Raises `NotImportable`."""
        # The driver needs a loop, and readers do blocking I/O: one call at a time, in any thread.
        # A command that is interrupted closes the reader while its thread still reads.
        self._loop = asyncio.new_event_loop()
        self._lock = Lock()
        self._opening = vector_table.open_table(url, table, password)
        try:
            self._table: OpenVectorTable = self._run(self._opening.__aenter__)
        except NotImportable:
            self._loop.close()
            raise
        try:
            self._vector = self._vector_column(vector) if with_vectors else None
        except NotImportable:
            self.close()
            raise
        self.name = self._table.table.name
        self.columns = self._columns()

    def count(self) -> int:
        return self._run(self._table.count)

    def records(self) -> Iterator[Record | RefusedItem]:
        """In the order in which PostgreSQL reads them."""
        for number, row in enumerate(self._rows(), start=1):
            where = f"record {number:,}"
            yield RefusedItem(where, row) if isinstance(row, str) else self._record(row)

    def close(self) -> None:
        self._run(lambda: self._opening.__aexit__(None, None, None))
        self._run(self._loop.shutdown_asyncgens)
        with self._lock:
            self._loop.close()

    def _rows(self) -> Iterator[dict[str, Any] | str]:
        pages = self._table.pages(self._vector)
        while page := self._run(lambda: anext(pages, None)):
            yield from page

    def _columns(self) -> Mapping[str, str]:
        """The identifier is the primary key, if that is one column."""
        table = self._table.table
        title = {"title": "title"} if "title" in table.columns else {}
        return title | ({"id": table.key[0]} if len(table.key) == 1 else {})

    def _vector_column(self, name: str | None) -> str:
        vectors = self._table.table.vectors
        if not vectors:
            raise NotImportable(f"the table {self._table.table.name} has no column with vectors")
        if name is None and len(vectors) == 1:
            return vectors[0]
        if name is not None and name in vectors:
            return name
        raise NotImportable(f"choose a column of vectors by --vector: {', '.join(vectors)}")

    def _record(self, row: dict[str, Any]) -> Record:
        vector = row.pop(self._vector, None) if self._vector is not None else None
        return Record(None, row, vector=None if vector is None else orjson.loads(vector))

    def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        with self._lock:
            if self._loop.is_closed():
                raise NotImportable("the table is closed")
            return self._loop.run_until_complete(_awaited(call))


async def _awaited(call: Callable[[], Awaitable[T]]) -> T:
    return await call()
