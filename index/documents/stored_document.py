"""A document as it is stored, with its chunks: what the next write of it is planned from."""

from dataclasses import dataclass, field

from index.documents.rows import row_to_document
from index.model.document import Document
from index.model.write_order import PartSequences
from index.postgres.session import Row


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary of text[start:end] of its document."""

    chunk_id: int
    digest: bytes
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document's stored version, with its chunks in the order of the text.

    revision: the tenant's, when this was read.
    spans: start and end of each chunk. summaries: further chunks, which those tuples leave out.
    sequences: of the last writes of its parts. is_awaited: whether a write of it is queued.
    """

    document: Document
    version: int
    revision: int
    chunk_ids: tuple[int, ...]
    digests: tuple[bytes, ...]
    spans: tuple[tuple[int, int], ...]
    summaries: tuple[StoredSummary, ...] = ()
    sequences: PartSequences = field(default_factory=dict)
    is_awaited: bool = False

    @property
    def all_ids(self) -> tuple[int, ...]:
        return (*self.chunk_ids, *(summary.chunk_id for summary in self.summaries))


def row_to_stored_document(row: Row) -> StoredDocument:
    return StoredDocument(
        document=row_to_document(row),
        version=row["version"],
        revision=row["revision"],
        chunk_ids=tuple(row["chunk_ids"]),
        digests=tuple(row["digests"]),
        spans=tuple(zip(row["starts"], row["ends"], strict=True)),
        summaries=tuple(StoredSummary(*summary) for summary in row["summary_rows"] or ()),
        sequences=row["sequences"],
        is_awaited=row["is_awaited"],
    )
