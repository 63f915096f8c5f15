"""Documents as arguments and as rows of statements."""

from typing import Any

from index.model.document import Document
from index.postgres.session import Row


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
    )
