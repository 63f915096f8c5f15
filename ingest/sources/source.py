"""A source: where documents come from, read as a whole, one item after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from pydantic import TypeAdapter, ValidationError

from index.model import chunking_config
from index.model.document import NO_SUMMARIES, Document, Summaries

_DOCUMENT = TypeAdapter(Document)
_CUT = chunking_config.DEFAULT


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """What is there but gave no document.

    path: what a person finds it by: a file relative to its folder, or a file's line.
    holds: the document, or the folder of documents, that may be in it and so is kept; by its
           identifier without the source's name, all of the source if it is empty. The path if None.
    """

    path: str
    reason: str
    holds: str | None = None


Item: TypeAlias = Document | RefusedItem


class Source(Protocol):
    """`documents` blocks on the disk, and raises nothing for an item: it is refused instead."""

    name: str

    def documents(self) -> Iterator[Item]: ...


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for a source's documents where they say nothing else.

    cut: the source's own choice if None.
    """

    owner: str | None = None
    readers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    language: str = "en"
    cut: str | None = None
    summaries: Summaries = NO_SUMMARIES

    def fields(self, own_cut: str = _CUT) -> dict[str, Any]:
        return {
            "owner": self.owner,
            "readers": self.readers,
            "tags": self.tags,
            "language": self.language,
            "cut": self.cut or own_cut,
            "summaries": self.summaries,
            "metadata": {},
        }


def document(fields: dict[str, Any]) -> Document:
    """Raises `ValidationError`, which is a `ValueError`."""
    return _DOCUMENT.validate_python(fields)


def reason(error: OSError | ValueError) -> str:
    """What a person reads of it, in one line."""
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            return ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))
        case UnicodeDecodeError():
            return f"not UTF-8: {error.reason} at byte {error.start}"
        case OSError(strerror=str(why)):
            return why
        case _:
            return str(error)
