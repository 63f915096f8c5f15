"""A document: one thing of a source, with the limits of each field on the field's type.

HTTP bodies and front matter use the same types, so both are validated alike.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, LiteralString

from pydantic import AfterValidator, Field, PlainValidator, StringConstraints
from pydantic_core import PydanticCustomError

from index.model import chunking_config, instant
from index.model.document_limits import (
    LANGUAGE,
    LANGUAGE_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    URI_CHARACTERS_MAX,
)
from index.model.form import (
    CONTROLS,
    INVISIBLE,
    PART_CHARACTERS_MAX,
    SURROGATES,
    Form,
    composed,
    parts,
)
from index.model.identifiers import Readers, SubjectId
from index.model.provenance import UNKNOWN, Provenance

# Starting values, not measured, unless a source is given.
DOCUMENT_ID_CHARACTERS_MAX = 512  # of 4 bytes: within the 2,704 that a Postgres index row holds
SOURCE_CHARACTERS_MAX = 128
LINE_CHARACTERS_MAX = 512
TAGS_MAX = 64
TAG_CHARACTERS_MAX = 128
METADATA_KEYS_MAX = 64
METADATA_KEY_CHARACTERS_MAX = 128
METADATA_ITEMS_MAX = 256
METADATA_TEXT_CHARACTERS_MAX = 4_096
METADATA_INTEGER_MAX = 2**53 - 1  # exact in every JSON reader: RFC 8259, section 6

UNSTORABLE = re.compile(rf"[\0{SURROGATES}]")  # what Postgres refuses within a text
LINE = re.compile(rf"[^{CONTROLS}{SURROGATES}]*")
_SCHEME = re.compile("[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # RFC 3986, section 3.1
_DOTS = frozenset({".", ".."})
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
EXPLAIN_PATH = "/access/explain"  # after a document's path: another route


def normalise(text: str) -> str:
    r"""The text in Unicode's normal form C, with lines that end in \n and no byte order mark.

    What Postgres refuses becomes U+FFFD, as CommonMark (section 2.3) asks for U+0000.
    """
    text = text.lstrip("\ufeff")
    if len(text) <= PART_CHARACTERS_MAX:
        return _normalise_part(text)
    return "".join(map(_normalise_part, parts(text)))


def _normalise_part(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if lines.isascii():
        return lines.replace("\0", "\ufffd")
    return composed(UNSTORABLE.sub("\ufffd", lines))


def _addressable(document_id: str) -> str:
    """Refuse ids that a client can't send as they are in a path below /v1/documents/.

    Clients resolve dots (RFC 3986, section 5.2.4), and proxies join slashes.
    """
    if problem := _address_problem(document_id):
        raise PydanticCustomError("path", problem)
    return document_id


def _address_problem(document_id: str) -> LiteralString | None:
    parts = document_id.split("/")
    if not _DOTS.isdisjoint(parts):
        return "must have no part . or .. between slashes: clients resolve these in a path"
    # The last part of a page's path is often empty, and so is what follows the scheme of a URL.
    if any(
        not part and not _SCHEME.fullmatch(before)
        for before, part in zip(["", *parts], parts[:-1], strict=False)
    ):
        return "must not begin with a slash, nor have two in a row but for a URL: proxies join them"
    if document_id != document_id.strip():
        return "must not begin or end with a space"
    if _INVISIBLE.search(document_id):
        return "must not hold invisible characters, such as U+202E"
    if not unicodedata.is_normalized("NFC", document_id):
        return "must be in Unicode's normal form C: other forms look the same and are other ids"
    if document_id.endswith(EXPLAIN_PATH):
        return "must not end in /access/explain, which names a call"
    return None


def _metadata_value(value: object) -> object:
    items = value if isinstance(value, list) else [value]
    if len(items) <= METADATA_ITEMS_MAX and all(map(_is_scalar, items)):
        return (
            list(map(_normal_scalar, value)) if isinstance(value, list) else _normal_scalar(value)
        )
    raise PydanticCustomError(
        "metadata", "must be text, a number, true, false, null or a list of these, within limits"
    )


def _normal_scalar(value: object) -> object:
    if not isinstance(value, str) or (len(value) < instant.CHARACTERS_MIN and _is_plain(value)):
        return value
    return instant.normal_form(normalise(value))


def _is_plain(text: str) -> bool:
    """Whether it is normal and storable as it is; a list may have thousands of such texts."""
    return text.isascii() and text.isprintable()


def _is_scalar(value: object) -> bool:
    match value:
        case None | bool():
            return True
        case int():
            return abs(value) <= METADATA_INTEGER_MAX
        case float():
            return math.isfinite(value)
        case str():
            is_storable = _is_plain(value) or not UNSTORABLE.search(value)
            return len(value) <= METADATA_TEXT_CHARACTERS_MAX and is_storable
        case _:
            return False


def _chunker_name(name: str) -> str:
    try:
        chunking_config.parse(name)
    except ValueError as error:
        raise PydanticCustomError("chunker", "{reason}", {"reason": str(error)}) from None
    return name


_ONE_LINE = "must be one line of text without control characters"
OneLine = Form(LINE, _ONE_LINE)
ComposedLine = Form(LINE, _ONE_LINE, composed)

Line = Annotated[str, Field(min_length=1, max_length=LINE_CHARACTERS_MAX), OneLine]
DocumentId = Annotated[str, Field(min_length=1, max_length=DOCUMENT_ID_CHARACTERS_MAX), OneLine]
NewDocumentId = Annotated[DocumentId, AfterValidator(_addressable)]  # of what is written
Source = Annotated[str, Field(min_length=1, max_length=SOURCE_CHARACTERS_MAX), OneLine]
Title = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=TITLE_CHARACTERS_MAX), ComposedLine
]
Text = Annotated[str, Field(max_length=TEXT_CHARACTERS_MAX), AfterValidator(normalise)]
Uri = Annotated[str, Field(max_length=URI_CHARACTERS_MAX), OneLine]
Language = Annotated[
    str,
    Field(max_length=LANGUAGE_CHARACTERS_MAX),
    Form(LANGUAGE, "must be a language tag such as en or pt-BR"),
]
Tag = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=TAG_CHARACTERS_MAX),
    ComposedLine,
]
Tags = Annotated[tuple[Tag, ...], Field(max_length=TAGS_MAX)]
MetadataKey = Annotated[
    str, Field(min_length=1, max_length=METADATA_KEY_CHARACTERS_MAX), ComposedLine
]
MetadataScalar = str | int | float | bool | None
_DescribedScalar = (
    Annotated[str, Field(max_length=METADATA_TEXT_CHARACTERS_MAX)]
    | Annotated[int, Field(ge=-METADATA_INTEGER_MAX, le=METADATA_INTEGER_MAX)]
    | float
    | bool
    | None
)
_DescribedValue = (
    _DescribedScalar | Annotated[list[_DescribedScalar], Field(max_length=METADATA_ITEMS_MAX)]
)
MetadataValue = Annotated[
    MetadataScalar | list[MetadataScalar],
    PlainValidator(_metadata_value, json_schema_input_type=_DescribedValue),
]
Metadata = Annotated[Mapping[MetadataKey, MetadataValue], Field(max_length=METADATA_KEYS_MAX)]
_CHUNKER_PATTERN = (
    "^(structure|turns|whole|model|(characters|tokens|messages)(:[0-9]{1,5}(/[0-9]{1,5})?)?)$"
)
ChunkerName = Annotated[
    str,
    Field(
        max_length=chunking_config.CHUNKER_CHARACTERS_MAX,
        json_schema_extra={"pattern": _CHUNKER_PATTERN},
    ),
    AfterValidator(_chunker_name),
]
Summaries = Literal["none", "extract", "model"]

NO_SUMMARIES: Summaries = "none"
API_SOURCE, EVENTS_SOURCE, CURATION_SOURCE = "api", "events", "curation"  # if none is named
FAQ_SOURCE = "managed-faqs"  # of the FAQs that admins write by the API


@dataclass(frozen=True, slots=True)
class Document:
    """A document as its source gives it.

    document_id: unique within the tenant.
    text: Markdown, normalised, without front matter.
    language: a tag of RFC 5646.
    owner: the subject that may always read it; None if it has no owner.
    chunker: how its text is split into chunks; see `index.model.chunking_config`.
    summaries: how the document and its long sections are summarized: not at all, by extracted
               sentences, or by a language model.
    is_active: whether searches may find it; None, before a write: as it is stored, and a new
               document is active.
    provenance: as it is stored; before a write, of what a source has found: the writer judges it.
    """

    document_id: NewDocumentId
    title: Title
    text: Text
    source: Source
    uri: Uri
    language: Language
    tags: Tags
    metadata: Metadata
    owner: SubjectId | None
    readers: Readers
    chunker: ChunkerName = chunking_config.DEFAULT
    summaries: Summaries = NO_SUMMARIES
    is_active: bool | None = True
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """What two documents have in common if one of them is the other under a new name.

    digest: SHA-256 of the text. A document for others is another one, whatever its text.
    """

    digest: bytes
    owner: str | None
    readers: frozenset[str]
