"""The items of a source as bytes, which one process sends to another.

JSON and not pickle: the sender has read files that nobody has checked, so the receiver validates.
"""

import json
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from gateway.extensions._sources.source import (
    BlankItem,
    Item,
    ItemWarning,
    RefusedItem,
    SkippedFiles,
    UnchangedItem,
)
from index.model.document import Document
from index.model.provenance import Provenance


@dataclass(frozen=True, slots=True)
class EndOfItems:
    """What follows the last item. failure: why the source can never be read."""

    failure: str | None = None


Message: TypeAlias = Item | EndOfItems

_KINDS: Final = {
    "document": Document,
    "refused": RefusedItem,
    "skipped": SkippedFiles,
    "warning": ItemWarning,
    "unchanged": UnchangedItem,
    "blank": BlankItem,
    "end": EndOfItems,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_FIELDS = {kind: [field.name for field in fields(kind)] for kind in _NAMES}
_ADAPTERS: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}


def encode(message: Message) -> bytes:
    kind = type(message)
    values = {name: getattr(message, name) for name in _FIELDS[kind]}
    if isinstance(message, Document):
        values["provenance"] = {"hidden_text": message.provenance.hidden_text}
    # The path of a refused item may not be UTF-8: its bytes are then surrogates.
    text = json.dumps([_NAMES[kind], values], ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def decode(line: bytes) -> Message:
    """Raises `ValueError` for what `encode` does not make."""
    kind, values = json.loads(line.decode("utf-8", "surrogatepass"))
    message: Message = _ADAPTERS[kind].validate_python(values)
    if isinstance(message, Document):  # who wrote it is not for the sender to say
        provenance = Provenance(hidden_text=message.provenance.hidden_text)
        return replace(message, provenance=provenance)
    return message
