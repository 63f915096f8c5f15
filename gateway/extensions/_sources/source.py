"""A source of documents, read completely, item by item."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from common import validation_text
from gateway.extensions._files.coerce import coerce
from gateway.extensions._files.extracted import DEFAULT_OPTIONS, ReadOptions
from gateway.extensions._files.formats import TEXT_FORMATS, Formats
from gateway.extensions._sources import base_url
from index.model import chunking_config
from index.model.document import NO_SUMMARIES, Document, Summaries
from index.model.form import composed, is_blank
from index.text import language_detection

T = TypeVar("T")

_DOCUMENT = TypeAdapter(Document)
_CHUNKER = chunking_config.DEFAULT


class DocumentOfOtherOrigin(Exception):
    """Nothing was stored; the document of the other origin stays."""

    def __init__(self, document_id: str) -> None:
        super().__init__(
            f"another origin of this source, or a caller, has written {document_id}; it stays"
        )


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item of the source that could not be read as a document.

    path: a file relative to its folder, or a file's line.
    holds: the document or folder of documents that the item may contain, which pruning keeps; an
           identifier without the source's name. Empty: the whole source. None: the path.
    """

    path: str
    reason: str
    holds: str | None = None


@dataclass(frozen=True, slots=True)
class SkippedFiles:
    """Files of a folder that are no items, for one reason; examples: the first of their paths."""

    reason: str
    number: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemWarning:
    """What a document keeps in another way than its source has it. path: as of a refused item."""

    path: str
    detail: str


@dataclass(frozen=True, slots=True)
class UnchangedItem:
    """A document that the source still has as it is stored; its text was not sent again."""

    document_id: str


@dataclass(frozen=True, slots=True)
class BlankItem:
    """A file without text, which is no document: one that is stored under its name is removed.

    path: as of a refused item.
    """

    document_id: str
    path: str


Item: TypeAlias = Document | RefusedItem | UnchangedItem | SkippedFiles | ItemWarning | BlankItem


class Source(Protocol):
    """`documents` does blocking I/O; an unreadable item is refused and raises nothing."""

    name: str

    def documents(self) -> Iterator[Item]: ...

    def stop(self) -> None:
        """Let `documents`, which another thread iterates, end soon."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """The defaults of a source's documents.

    language: None to detect it in each text; default_language: of a text that does not show it.
    chunker: the chunker; None for the source's own default.
    base_url: below which the documents open in a browser; empty for none.
    options, formats: how its files are read, and which.
    source_suffixes: of files in a folder that are sources of their own.
    """

    owner: str | None = None
    readers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    language: str | None = None
    default_language: str = "en"
    chunker: str | None = None
    summaries: Summaries = NO_SUMMARIES
    base_url: str = ""
    options: ReadOptions = DEFAULT_OPTIONS
    formats: Formats = field(default_factory=lambda: TEXT_FORMATS)
    source_suffixes: Collection[str] = frozenset()

    def fields(self, own_chunker: str = _CHUNKER) -> dict[str, Any]:
        return {
            "owner": self.owner,
            "readers": self.readers,
            "tags": self.tags,
            "language": self.language,
            "default_language": self.default_language,
            "chunker": self.chunker or own_chunker,
            "summaries": self.summaries,
            "base_url": self.base_url,
            "is_active": None,
            "metadata": {},
        }


def document(fields: dict[str, Any], warnings: list[str] | None = None) -> Document:
    """The document with these fields, which may include Defaults' own.

    warnings: gets what `coerce` changed; with None nothing is, so that nothing changes unsaid.

    A name in another of Unicode's forms, as some file systems have it, becomes form C: nobody could
    tell two such documents apart. Raises `ValidationError`, which is a `ValueError`.
    """
    values = dict(fields) if warnings is None else coerce(fields, warnings)
    for name in ("document_id", "source"):
        values[name] = composed(str(values[name]))
    if base := values.pop("base_url", ""):
        path = values["document_id"].removeprefix(f"{values['source']}/")
        values["uri"] = base_url.link(base, path, values["uri"])
    default_language = values.pop("default_language", None)
    if values.get("language") is None:
        language = language_detection.detect_surely(str(values.get("text", "")))
        values["language"] = language or default_language
    return _DOCUMENT.validate_python(values)


def file_item(fields: dict[str, Any], warnings: list[str], path: str) -> Document | BlankItem:
    """What a file with these fields is; of a blank one they are checked as well.

    path: of the file, as people see it. Raises what `document` raises.
    """
    whole = document(fields, warnings)
    return BlankItem(whole.document_id, path) if is_blank(whole.text) else whole


def each_once(
    name: str, entries: Iterable[tuple[str, T]], parse: Callable[[T], Document], repeated: str
) -> Iterator[Item]:
    """The document of each entry of a file; refuses what is invalid, or has an earlier one's id.

    name: of the source. entries: each with its place. repeated: the reason, with {} for the id.
    """
    document_ids: set[str] = set()
    for place, entry in entries:
        try:
            parsed = parse(entry)
        except ValueError as error:
            # Its stored document is unknown, so pruning keeps all of them.
            yield RefusedItem(place, reason(error), holds="")
            continue
        if parsed.document_id in document_ids:
            key = parsed.document_id.removeprefix(f"{name}/")
            yield RefusedItem(place, repeated.format(repr(key)), holds=key)
            continue
        document_ids.add(parsed.document_id)
        yield parsed


def reason(error: OSError | ValueError) -> str:
    """The error as one line for a person."""
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            return ": ".join(
                filter(
                    None, [".".join(map(str, first["loc"])), validation_text.plain(first["msg"])]
                )
            )
        case UnicodeDecodeError():
            return f"not UTF-8: {error.reason} at byte {error.start}"
        case OSError(strerror=str(message)):
            return message
        case _:
            return str(error)
