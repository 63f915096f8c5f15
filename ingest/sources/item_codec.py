"""The items of a source as bytes, which one process sends to another.

JSON and not pickle: the sender has read files that nobody has checked, so the receiver validates.
"""

import json
from dataclasses import dataclass, fields
from typing import Any, Final

from pydantic import TypeAdapter

from index.model.document import Document
from ingest.sources.source import (
    BlankItem,
    Item,
    ItemWarning,
    RefusedItem,
    SkippedFiles,
    UnchangedItem,
)

_KINDS: Final = {
    "document": Document,
    "refused": RefusedItem,
    "skipped": SkippedFiles,
    "warning": ItemWarning,
    "unchanged": UnchangedItem,
    "blank": BlankItem,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_FIELDS = {kind: [field.name for field in fields(kind)] for kind in _NAMES}
_ADAPTERS: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class EndOfItems:
    """What follows the last item. failure: why the source can never be read."""

    failure: str | None


def encode(item: Item) -> bytes:
    kind = type(item)
    values = {name: getattr(item, name) for name in _FIELDS[kind]}
    return _encode(_NAMES[kind], values)


def encode_end(failure: str | None = None) -> bytes:
    return _encode("end", failure)


def decode(message: bytes) -> Item | EndOfItems:
    """Raises `ValueError` for what `encode` does not make."""
    kind, values = json.loads(message.decode("utf-8", "surrogatepass"))
    if kind == "end":
        return EndOfItems(values)
    item: Item = _ADAPTERS[kind].validate_python(values)
    return item


def _encode(kind: str, values: object) -> bytes:
    # The path of a refused item may not be UTF-8: its bytes are then surrogates.
    text = json.dumps([kind, values], ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")
