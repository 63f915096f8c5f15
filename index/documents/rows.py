"""Documents as arguments and as rows of statements."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from index.model import provenance
from index.model.document import Document
from index.postgres.session import Row


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A stored chunk; start and end count characters of the document's text.

    text: without the headings that are embedded before it.
    """

    chunk_id: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class DatedDocument:
    """A document with the times at which Nearhit stored it, whatever its source says of its own.

    updated_at: of the last write that changed its content or a field; a change of its access alone
        does not count.
    chunks: in the order of the text; None unless they were asked for.
    revision: of that write in its tenant, if it was asked for and the change is kept.
    """

    document: Document
    created_at: datetime
    updated_at: datetime
    chunks: tuple[DocumentChunk, ...] | None = None
    revision: int | None = None


def document_to_row(document: Document) -> dict[str, Any]:
    """The document for the statement `documents.put`, without its text."""
    return {
        "document_id": document.document_id,
        "source": document.source,
        "title": document.title,
        "uri": document.uri,
        "language": document.language,
        "tags": document.tags,
        "metadata": dict(document.metadata),
        "owner": document.owner,
        "readers": document.readers,
        "chunker": document.chunker,
        "summaries": document.summaries,
        "is_active": document.is_active,
        "provenance": document.provenance.to_json(),
    }


def row_to_document(row: Row) -> Document:
    return Document(
        document_id=row["document_id"],
        title=row["title"],
        text=row["text"],
        source=row["source"],
        uri=row["uri"],
        language=row["language"],
        tags=tuple(row["tags"]),
        metadata=row["metadata"],
        owner=row["owner"],
        readers=tuple(row["readers"]),
        chunker=row["chunker"],
        summaries=row["summaries"],
        is_active=row["is_active"],
        provenance=provenance.from_json(row["provenance"]),
    )


def row_to_dated_document(row: Row) -> DatedDocument:
    rows = row.get("chunk_rows")
    chunks = None if rows is None else tuple(DocumentChunk(*chunk) for chunk in rows)
    dates = row["created_at"], row["updated_at"]
    return DatedDocument(row_to_document(row), *dates, chunks, row.get("revision"))
