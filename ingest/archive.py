"""A tenant written down: one JSON object a line, each with its kind, in this order.

    {"kind": "header", "format": 1, "tenant": "acme", "name": "A", "revision": 17, "documents": 2}
    {"kind": "group", "group": "sales", "members": ["ana", "ben"]}
    {"kind": "source", "source": "wiki", "reads": "folder", "settings": {…}, "schedule": null}
    {"kind": "document", "document_id": "team/leave", "title": "Leave", "text": "…", …}
    {"kind": "end", "documents": 2}

No line is an archive's last but `end`: what lacks it was cut short. Keys are in none: of a key only
a digest is known, and nobody can let anybody in by it elsewhere.
"""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from index.model.document import Document, DocumentId, Owner
from index.model.document import Source as SourceName
from ingest.errors import NotImportable
from ingest.sources.source import Item, RefusedItem

FORMAT = 1  # raise it when the same lines mean something else than before
_LINE_BYTES_MAX = 33_554_432  # the longest text, every character escaped, and room for the rest


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Header(_Line):
    kind: Literal["header"] = "header"
    format: int
    tenant: str
    name: str
    revision: int
    documents: int


class GroupLine(_Line):
    kind: Literal["group"] = "group"
    group: Owner
    members: tuple[Owner, ...]


class SourceLine(_Line):
    kind: Literal["source"] = "source"
    source: SourceName
    reads: str
    settings: dict[str, Any]
    schedule: str | None


class End(_Line):
    kind: Literal["end"] = "end"
    documents: int


class _DocumentLine(_Line):
    """Any text that a document may have, and its identifier, are checked as all documents' are."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Literal["document"] = "document"
    document_id: DocumentId


Other: TypeAlias = GroupLine | SourceLine
_LINE: TypeAdapter[GroupLine | SourceLine | End | _DocumentLine] = TypeAdapter(
    Annotated[GroupLine | SourceLine | End | _DocumentLine, Field(discriminator="kind")]
)
_DOCUMENT: TypeAdapter[Document] = TypeAdapter(Document)
_FIELDS = [field.name for field in fields(Document)]


def write_archive(line: BaseModel | Document) -> bytes:
    if isinstance(line, Document):
        told = {name: getattr(line, name) for name in _FIELDS}
        return orjson.dumps({"kind": "document", **told}, option=orjson.OPT_APPEND_NEWLINE)
    return orjson.dumps(line.model_dump(), option=orjson.OPT_APPEND_NEWLINE)


class Archive:
    """One that is read; it blocks on the disk.

    Raises `NotImportable` if it is none, or one of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.header = _header(file)

    def others(self) -> Iterator[Other]:
        """What comes before the documents, as far as it can be read."""
        for _, found in self._lines():
            if isinstance(found, Document | End):
                return
            if isinstance(found, GroupLine | SourceLine):
                yield found

    def documents(self) -> Iterator[Item]:
        """Every document, and each line that is nothing at all; the end, if it is missing."""
        last, has_begun = None, False
        for number, last in self._lines():
            if isinstance(last, Document | RefusedItem):
                has_begun |= isinstance(last, Document)
                yield last
            elif has_begun and not isinstance(last, End):
                yield _refused(number, "stands after the first document, where nobody looks for it")
        if not isinstance(last, End):
            yield RefusedItem("end", "the archive was cut short: its last line is missing")

    def _lines(self) -> Iterator[tuple[int, Item | Other | End]]:
        with self.path.open("rb") as file:
            _header(file)
            number = 1
            while line := file.readline(_LINE_BYTES_MAX + 1):
                number += 1
                if len(line) > _LINE_BYTES_MAX:
                    yield number, _refused(number, "is too long")
                    while line and not line.endswith(b"\n"):
                        line = file.readline(_LINE_BYTES_MAX)
                elif line.strip():
                    yield number, _parsed(number, line)


def _header(file: BinaryIO) -> Header:
    line = file.readline(_LINE_BYTES_MAX)
    try:
        told = orjson.loads(line)
        if isinstance(told, dict) and told.get("format", FORMAT) != FORMAT:
            raise NotImportable(f"it has format {told['format']}, and only {FORMAT} is known here")
        return Header.model_validate(told)
    except ValueError:
        raise NotImportable("it does not begin as `nearhit export` does") from None


def _parsed(number: int, line: bytes) -> Item | Other | End:
    try:
        told = _LINE.validate_json(line)
        if not isinstance(told, _DocumentLine):
            return told
        document = orjson.loads(line)
        del document["kind"]
        return _DOCUMENT.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return _refused(number, f"{where}: {first['msg']}" if where else first["msg"])
    except ValueError as error:
        return _refused(number, str(error))


def _refused(number: int, reason: str) -> RefusedItem:
    return RefusedItem(f"line {number}", reason)
