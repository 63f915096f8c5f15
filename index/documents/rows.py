"""Documents as arguments and as rows of statements."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from index.model.document import Document
from index.postgres.session import Row


@dataclass(frozen=True, slots=True)
class DatedDocument:
    """A document with the times at which Nearhit stored it, whatever its source says of its own.

    created_at: None if it was first stored by a version that did not record it.
    updated_at: of the last write that changed its content or a field; a change of its access alone
        does not count.
    """

    document: Document
    created_at: datetime | None
    updated_at: datetime


def document_to_row(document: Document) -> tuple[Any, ...]:
    """The arguments of the statement `documents.put`, from the second on."""
    return (
        document.document_id,
        document.source,
        document.title,
        document.uri,
        document.language,
        list(document.tags),
        dict(document.metadata),
        document.owner,
        list(document.readers),
        document.text,
        document.chunker,
        document.summaries,
    )


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
    )


def row_to_dated_document(row: Row) -> DatedDocument:
    return DatedDocument(row_to_document(row), row["created_at"], row["updated_at"])
