"""The request and response bodies of documents."""

from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from gateway.bodies.schemas import Body
from index.model.chunk_kind import Kind
from index.model.conditions.times import Instant
from index.model.document import (
    API_SOURCE,
    ChunkerName,
    Language,
    Metadata,
    Source,
    Summaries,
    Tags,
    Text,
    Title,
    Uri,
)
from index.model.form import is_blank
from index.model.identifiers import Readers, SubjectId
from index.model.provenance import Origin, Trust
from index.model.relations import NO_RELATIONS, RelatesTo, RelationName, with_relations
from ingest.write.write_warning import WarningCode


class DocumentBody(Body):
    """A document to write. Absent owner, readers, chunker, summaries and active stay as stored.

    A new document without owner and readers is private to its writer.
    """

    title: Title = ""
    text: Text
    source: Source = API_SOURCE
    uri: Uri = ""
    language: Language | None = None
    tags: Tags = ()
    metadata: Metadata = Field(default_factory=dict)
    relates_to: RelatesTo | None = Field(
        None, description="documents of the tenant that it names; kept in its metadata"
    )
    owner: SubjectId | None = None
    readers: Readers | None = None
    chunker: ChunkerName | None = Field(
        None,
        description="how the text is split into chunks: structure, characters:1000/200, "
        "tokens:500/50, messages:10, turns, whole or model; default for a new document: structure",
    )
    summaries: Summaries | None = Field(
        None,
        description="how a long document and its long sections are summarized: none, extract "
        "(sentences of the text) or model; default for a new document: none",
    )
    active: bool | None = Field(
        None,
        description="whether searches find the document; false: it is kept, and only its owner and "
        "admins see it; default for a new document: true",
    )
    created_at: Instant | None = Field(
        None, description="ignored, so that a document can be sent back as it was read"
    )
    updated_at: Instant | None = Field(None, description="ignored, as `created_at`")
    revision: Any = Field(None, description="ignored, as `created_at`")
    provenance: Any = Field(None, description="ignored, as `created_at`")

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if is_blank(text):
            raise ValueError("must not be blank")
        return text

    @field_validator("relates_to")
    @classmethod
    def _agrees_with_metadata(
        cls, relates_to: RelatesTo | None, info: ValidationInfo
    ) -> RelatesTo | None:
        if relates_to is not None and "metadata" in info.data:
            with_relations(info.data["metadata"], relates_to)
        return relates_to

    @property
    def stored_metadata(self) -> dict[str, Any]:
        """The metadata with the relations."""
        relates_to = self.relates_to or NO_RELATIONS
        return with_relations(self.metadata, relates_to)


def _told(description: str) -> Any:
    """A field that is absent where nothing is known, or nothing is so."""
    return Field(None, description=description, exclude_if=lambda value: value is None)


class ProvenanceAnswer(Body):
    """What is not known, or not so, is absent."""

    trust: Trust | None = _told("absent: nobody knows who wrote it")
    by: Origin | None = _told("who wrote the content")
    subject: str | None = _told("who wrote it, or for whom an agent did")
    agents: tuple[str, ...] | None = _told("tokens and actors that wrote, the nearest first")
    hidden_text: bool | None = _told("true: its file or page has text that nobody sees")
    ratified_by: str | None = _told("who stands behind it; empty: a subject of another tenant")
    ratified_at: Instant | None = _told("since when it does")
    held_readers: tuple[str, ...] | None = _told("in quarantine: those that it gets if ratified")


class DocumentSummary(Body):
    document_id: str
    title: str
    source: str
    uri: str
    language: str
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    relates_to: dict[RelationName, list[str]] | None = Field(
        None,
        description="what its metadata says of other documents; absent: nothing",
        exclude_if=lambda relates_to: relates_to is None,
    )
    owner: str | None
    readers: tuple[str, ...]
    chunker: str
    summaries: Summaries
    active: bool = Field(
        description="whether searches find the document; false only for its owner and admins, whom "
        "alone it is shown to"
    )
    provenance: ProvenanceAnswer | None = Field(
        None,
        description="where it comes from, and who stands behind it; absent: not known",
        exclude_if=lambda provenance: provenance is None,
    )
    created_at: Instant = Field(description="when Nearhit first stored the document")
    updated_at: Instant = Field(
        description="when a write last changed the document, other than its access alone; not a "
        "time of its source, which belongs in the metadata"
    )


class DocumentChunkAnswer(Body):
    chunk_id: int
    kind: Kind = Field(description="whether it is a piece of the text, or a summary of one")
    start: int = Field(description="where it begins in the document's text, in characters")
    end: int
    headings: tuple[str, ...] | None = Field(
        description="the headings above it, which are embedded before its text; null if the "
        "chunker would cut the document otherwise today"
    )
    text: str = Field(
        description="what is embedded after the headings: the piece, after the lines that it "
        "repeats of a table, list or code; or the summary of the piece"
    )


class DocumentAnswer(DocumentSummary):
    text: str
    revision: int | None = Field(
        None,
        description="the tenant's revision that the write of `updated_at` made; absent if 10,000 "
        "newer ones are stored, or if it is another tenant's",
        exclude_if=lambda revision: revision is None,
    )
    chunks: tuple[DocumentChunkAnswer, ...] | None = Field(
        None,
        description="in the order of the text; absent unless `chunks` is `true`",
        exclude_if=lambda chunks: chunks is None,
    )
    tenant: str | None = Field(
        None,
        description="another tenant, whose public document it is, without its owner and other "
        "readers; absent: the caller's own",
        exclude_if=lambda tenant: tenant is None,
    )


class DocumentsAnswer(Body):
    documents: tuple[DocumentSummary, ...] = Field(
        description="the documents, by identifier, without texts"
    )
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")
    total: int | None = Field(
        None,
        description="number of documents of all pages, counted up to 10,001; absent unless `total` "
        "is `true`",
        exclude_if=lambda total: total is None,
    )


class ChunksAnswer(Body):
    added: int = Field(description="number of chunks added")
    unchanged: int = Field(description="number of chunks that stayed")
    removed: int = Field(description="number of chunks removed")
    embedded: int = Field(description="number of texts that the embedder embedded")


class WarningAnswer(Body):
    code: WarningCode = Field(description="stable, for programs")
    detail: str


class WrittenAnswer(Body):
    document_id: str
    revision: int
    chunks: ChunksAnswer
    warnings: tuple[WarningAnswer, ...] = Field(
        (), description="what the index does otherwise than the document asks; it is stored"
    )


class RevisionAnswer(Body):
    document_id: str
    revision: int


class AccessBody(Body):
    """A new owner, new readers, or whether searches find the document; absent: no change."""

    owner: SubjectId | None = None
    readers: Readers | None = None
    active: bool | None = None
