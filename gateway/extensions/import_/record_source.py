"""The documents of a store's collection, one for each record, with their vectors."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from gateway.extensions._sources.source import Defaults, RefusedItem, reason
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.record import Record, RecordReader
from gateway.extensions.import_.record_mapping import RecordMapping
from gateway.extensions.import_.refused_records import RefusedRecords
from index.model.document import Document
from index.model.form import composed
from index.model.scope import PUBLIC
from ingest.chunkers import whole

CHUNKER = "whole"  # of records that name none: a record is a piece of text already
RECORDS_MAX = 10_000_000  # a starting value; an import remembers 70 bytes of each
SAMPLE_RECORDS = 8  # their names tell which value is the text; their vectors are compared
SAMPLE_ITEMS_MAX = 1_000  # that are looked at for these records, as some may be refused

Embeddings = Mapping[bytes, HalfVector]  # by digest of the chunk


@dataclass(slots=True)
class VectorCounts:
    """Of documents whose records have a vector that is used; have none; have a longer text."""

    used: int = 0
    missing: int = 0
    longer: int = 0


class RecordSource:
    """Documents NAME/KEY.

    defaults: for records that set none. name: None for that of the collection.
    refused: the records that are no documents. failure: why the reading ended early.
    readers: by kind of reader, the number of documents that such readers may read.
    """

    def __init__(
        self,
        reader: RecordReader,
        mapping: RecordMapping,
        defaults: Defaults,
        *,
        name: str | None = None,
    ) -> None:
        """Reads the first records. Raises `NotImportable`."""
        self.name = composed(name or reader.name)
        self.refused = RefusedRecords()
        self.failure: str | None = None
        self.readers: Counter[str] = Counter()
        self.vectors = VectorCounts()
        self._defaults = defaults
        self._seen: set[int] = set()
        self._embeddings: dict[str, Embeddings] = {}
        records = reader.records()
        first: list[Record | RefusedItem] = []
        self._sample: list[Record] = []
        for record in islice(records, SAMPLE_ITEMS_MAX):
            first.append(record)
            if isinstance(record, Record):
                self._sample.append(record)
            if len(self._sample) == SAMPLE_RECORDS:
                break
        self._records: Iterable[Record | RefusedItem] = chain(first, records)
        self._mapping = mapping.completed(reader.columns, self._sample, has_texts=reader.has_texts)
        try:
            self._mapping.check_access(self._mapping.names(self._sample))
        except ValueError as error:
            raise NotImportable(str(error)) from None

    def sample(self, dimensions: int) -> list[tuple[str, NDArray[np.float32]]]:
        """The embedded texts of the first records, with their unit vectors.

        Raises `NotImportable` if all of their vectors are invalid, as those of another space are.
        """
        pairs = []
        invalid: VectorInvalid | None = None
        for record in self._sample:
            try:
                chunks = whole.chunks(self._document(record).text)
                if record.vector is not None and len(chunks) == 1:
                    pairs.append((chunks[0].embedded_text, unit(record.vector, dimensions)))
            except VectorInvalid as error:
                invalid = error
            except ValueError:
                continue  # it is refused when it is read
        if invalid is not None and not pairs:
            raise NotImportable(f"{self.name}: {invalid}")
        return pairs

    def documents(self, dimensions: int | None) -> Iterator[Document]:
        """Every document once. dimensions: of the vectors; None if they are not used.

        A failure of the store ends the documents, and is in `failure`.
        """
        try:
            for number, record in enumerate(self._records, start=1):
                if number > RECORDS_MAX:
                    self.failure = (
                        f"only the first {RECORDS_MAX:,} records are imported; an import reads no "
                        "more: divide the collection"
                    )
                    return
                document = self._accept(record, number, dimensions)
                if document is not None:
                    yield document
        except NotImportable as error:
            self.failure = (
                f"{error}. The import is not complete: repeat the command, which continues"
            )

    def take_embeddings(self, document_ids: Iterable[str]) -> Embeddings:
        """The vectors of documents that were read, which are forgotten here."""
        embeddings: dict[bytes, HalfVector] = {}
        for document_id in document_ids:
            embeddings |= self._embeddings.pop(document_id, {})
        return embeddings

    def _accept(
        self, record: Record | RefusedItem, number: int, dimensions: int | None
    ) -> Document | None:
        """None if the record is refused."""
        if isinstance(record, RefusedItem):
            self.refused.add(record)
            return None
        try:
            document = self._document(record)
            embeddings = None if dimensions is None else _embeddings(document, record, dimensions)
            self._mark_seen(document)
        except ValueError as error:
            where = f"record {number:,} ({self._mapping.key(record)})"
            self.refused.add(RefusedItem(where, reason(error)))
            return None
        if dimensions is not None:
            self._keep(document, record, embeddings)
        self.readers.update(_reader_kinds(document))
        return document

    def _document(self, record: Record) -> Document:
        return self._mapping.document(record, self.name, self._defaults)

    def _mark_seen(self, document: Document) -> None:
        key = hash(document.document_id)  # 64 bits: two of ten million are equal once in 400,000
        if key in self._seen:
            raise ValueError("an earlier record has the same identifier")
        self._seen.add(key)

    def _keep(self, document: Document, record: Record, embeddings: Embeddings | None) -> None:
        if embeddings:
            self.vectors.used += 1
            self._embeddings[document.document_id] = embeddings
        elif record.vector is None:
            self.vectors.missing += 1
        else:
            self.vectors.longer += 1


class VectorInvalid(ValueError):
    """The vector of a record is not of the space."""


def unit(vector: Sequence[float], dimensions: int) -> NDArray[np.float32]:
    """The vector with length 1. Raises `VectorInvalid`."""
    try:
        values = np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError):
        raise VectorInvalid("its vector is no list of numbers") from None
    if values.ndim != 1:
        raise VectorInvalid("its vector is no list of numbers")
    if len(values) != dimensions:
        raise VectorInvalid(
            f"its vector has {len(values):,} dimensions; those of the space have {dimensions:,}"
        )
    length = float(np.linalg.norm(values))
    if not np.isfinite(length) or length == 0:
        raise VectorInvalid("its vector is zero or not finite")
    return (values / length).astype(np.float32)


def _embeddings(document: Document, record: Record, dimensions: int) -> Embeddings | None:
    """None if the vector is not that of the document's only chunk. Raises `VectorInvalid`."""
    if record.vector is None:
        return None
    vector = unit(record.vector, dimensions)
    chunks = whole.chunks(document.text) if document.chunker == CHUNKER else []
    return {chunks[0].digest: HalfVector(vector)} if len(chunks) == 1 else None


def _reader_kinds(document: Document) -> set[str]:
    kinds = {
        reader if reader in (PUBLIC, "tenant") else f"{reader.partition(':')[0]}s"
        for reader in document.readers
    }
    return kinds if document.owner is None else kinds | {"owner"}
