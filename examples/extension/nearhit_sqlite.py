"""An extension: sources of kind `sqlite`, whose documents are the rows of a table of a database.

`NEARHIT_SQLITE_FILE` names the file, which has a table `documents (id, title, text)`. Then an admin
puts a source, as any other: `PUT /v1/sources/notes {"kind": "sqlite", "settings": {}}`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Literal

from nearhit.gateway.extension import Extension
from nearhit.gateway.extensions._sources.source import Defaults, Item, document, each_once
from nearhit.gateway.extensions._sources.source_kind import SourceKind
from nearhit.gateway.extensions._sources.source_schemas import SourceConfiguration, SourceDocuments
from nearhit.index.model.document import Document
from nearhit.ingest.errors import JobRefused
from pydantic import BaseModel


class SqliteFile(BaseModel):
    file: Path | None = None


class SqliteSourceBody(SourceConfiguration):
    kind: Literal["sqlite"]
    settings: SourceDocuments


class SqliteSource:
    def __init__(self, file: Path, defaults: Defaults, *, name: str) -> None:
        self.name, self._file, self._defaults = name, file, defaults
        self._is_stopped = False

    def documents(self) -> Iterator[Item]:
        """Each row; one that makes no document is refused, and the others are read."""
        try:
            with closing(sqlite3.connect(f"{self._file.as_uri()}?mode=ro", uri=True)) as connection:
                rows = connection.execute("SELECT id, title, text FROM documents ORDER BY id")
                entries = ((f"row {row[0]}", row) for row in rows if not self._is_stopped)
                yield from each_once(self.name, entries, self._parse, "the id {} comes twice")
        except sqlite3.Error as error:
            raise JobRefused(f"The database can't be read: {error}.") from None

    def stop(self) -> None:
        self._is_stopped = True

    def _parse(self, row: tuple[Any, ...]) -> Document:
        names = {"document_id": f"{self.name}/{row[0]}", "source": self.name, "uri": ""}
        return document(self._defaults.fields() | names | {"title": row[1], "text": row[2]})


class SqliteReader:
    needs_slot = True

    def __init__(self, own: SqliteFile) -> None:
        self._file = own.file

    def denial_reason(self, _config: SourceDocuments) -> str | None:
        return None if self._file else "Ask the operator to set NEARHIT_SQLITE_FILE."

    async def open(
        self, _tenant: str, name: str, _config: SourceDocuments, defaults: Defaults
    ) -> SqliteSource:
        assert self._file is not None, "denial_reason has checked it"
        return SqliteSource(self._file, defaults, name=name)

    async def record(self, *_: object) -> None:
        """The next reading reads all rows again."""


EXTENSION: Extension[None] = Extension(
    summary="a worker reads the rows of an SQLite database as a source",
    settings=SqliteFile,
    contributes=(SourceKind(SqliteSourceBody, lambda _, own: nullcontext(SqliteReader(own))),),
)
