"""The archive of a tenant: JSON Lines, each an object with its kind, in this order.

    {"kind": "header", "format": 1, "tenant": "acme", "name": "A", "revision": 17, "documents": 2}
    {"kind": "group", "group": "sales", "members": ["ana", "ben"]}
    {"kind": "source", "source": "wiki", "reads": "folder", "settings": {…}, "schedule": null}
    {"kind": "document", "document_id": "team/leave", "title": "Leave", "text": "…", …}
    {"kind": "end", "documents": 2}

A complete archive ends with an `end` line. An archive contains no keys: the database stores only
their digests, which would not authenticate anybody elsewhere.
"""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gateway.extension import content
from gateway.extensions._sources.source import Item, RefusedItem
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.record import TOO_MANY_VALUES
from index.model.document import Document, DocumentId
from index.model.document import Source as SourceName
from index.model.identifiers import GroupId, SubjectId

FORMAT = 1  # raise it when the meaning of a line changes
_LINE_BYTES_MAX = 33_554_432  # the longest text, with every character escaped, and the other fields


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
    group: GroupId
    members: tuple[SubjectId, ...]


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
    """The other fields are validated as those of any document."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Literal["document"] = "document"
    document_id: DocumentId


Preamble: TypeAlias = GroupLine | SourceLine
_LINE: TypeAdapter[GroupLine | SourceLine | End | _DocumentLine] = TypeAdapter(
    Annotated[GroupLine | SourceLine | End | _DocumentLine, Field(discriminator="kind")]
)
_DOCUMENT: TypeAdapter[Document] = TypeAdapter(Document)
_FIELDS = [field.name for field in fields(Document)]


def encode_line(line: BaseModel | Document) -> bytes:
    if isinstance(line, Document):
        values = {name: getattr(line, name) for name in _FIELDS}
        return orjson.dumps({"kind": "document", **values}, option=orjson.OPT_APPEND_NEWLINE)
    return orjson.dumps(line.model_dump(), option=orjson.OPT_APPEND_NEWLINE)


class Archive:
    """Reads an archive, with blocking I/O.

    Raises `NotImportable` if the file is no archive, or has another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.header = _header(file)

    def preamble(self) -> Iterator[Preamble]:
        """The groups and sources, which precede the documents; skips invalid lines."""
        for _, line in self._lines():
            if isinstance(line, Document | End):
                return
            if isinstance(line, GroupLine | SourceLine):
                yield line

    def documents(self) -> Iterator[Item]:
        """Every document, and a `RefusedItem` for each invalid line and for a missing end."""
        line, has_begun = None, False
        for number, line in self._lines():
            if isinstance(line, Document | RefusedItem):
                has_begun |= isinstance(line, Document)
                yield line
            elif has_begun and not isinstance(line, End):
                yield _refuse(number, "must precede the first document")
        if not isinstance(line, End):
            yield RefusedItem("end", "the archive is incomplete: its last line is missing")

    def _lines(self) -> Iterator[tuple[int, Item | Preamble | End]]:
        with self.path.open("rb") as file:
            _header(file)
            number = 1
            while line := file.readline(_LINE_BYTES_MAX + 1):
                number += 1
                if len(line) > _LINE_BYTES_MAX:
                    yield number, _refuse(number, "is too long")
                    while line and not line.endswith(b"\n"):
                        line = file.readline(_LINE_BYTES_MAX)
                elif line.strip():
                    yield number, _parse(number, line)


def _header(file: BinaryIO) -> Header:
    line = file.readline(_LINE_BYTES_MAX)
    try:
        header = orjson.loads(line) if content.has_few_values(line) else None
        if isinstance(header, dict) and header.get("format", FORMAT) != FORMAT:
            raise NotImportable(
                f"it has format {header['format']}; this version reads only format {FORMAT}"
            )
        return Header.model_validate(header)
    except ValueError:
        raise NotImportable(
            "it does not begin with the header of `nearhit export`; for the records of another "
            "store, use --from"
        ) from None


def _parse(number: int, line: bytes) -> Item | Preamble | End:
    if not content.has_few_values(line):
        return _refuse(number, TOO_MANY_VALUES)
    try:
        parsed = _LINE.validate_json(line)
        if not isinstance(parsed, _DocumentLine):
            return parsed
        document = orjson.loads(line)
        del document["kind"]
        return _DOCUMENT.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return _refuse(number, f"{where}: {first['msg']}" if where else first["msg"])
    except ValueError as error:
        return _refuse(number, str(error))


def _refuse(number: int, reason: str) -> RefusedItem:
    return RefusedItem(f"line {number}", reason)
