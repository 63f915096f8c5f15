"""An immutable run of a shard's chunks, as columns.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from index.resident import chunk_records, term_postings
from index.resident.chunk_records import ChunkRecords
from index.resident.term_postings import TermPostings

_SCOPES_MAX = 64  # a byte a row each; a starting value, not measured


@dataclass(frozen=True, slots=True, eq=False)
class ShardSegment:
    """One row a chunk, ascending by chunk id.

    ids:       chunk ids; below zero for summaries.
    document_keys: of the document of each chunk.
    dense:     vectors as PostgreSQL stores them, in half precision; shape (rows, dimensions).
    inverse_norms: 1 / the length of each vector; 0 for the zero vector, which stands for none.
    postings:  the chunks' terms.
    labels:    codes of each chunk's audience, source, language, tags, document and tenant, in the
               order of `ChunkLabels`; shape (6, rows).
    records:   what hits show of the chunks.
    admitted:  which rows a scope admits, by the scope's fingerprint; shape (rows,).
    """

    ids: NDArray[np.int64]
    document_keys: NDArray[np.int64]
    dense: NDArray[np.float16]
    inverse_norms: NDArray[np.float32]
    postings: TermPostings
    labels: NDArray[np.int32]
    records: ChunkRecords
    admitted: LRUCache[bytes, NDArray[np.bool_]] = field(
        default_factory=lambda: LRUCache(_SCOPES_MAX)
    )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def size_bytes(self) -> int:
        columns = (self.ids, self.document_keys, self.dense, self.inverse_norms, self.labels)
        masks = (_SCOPES_MAX + 1) * len(self.ids)  # as many as there can be, and the live rows
        others = self.postings.size_bytes + self.records.size_bytes
        return masks + others + sum(each.nbytes for each in columns)

    def is_consistent(self, label_counts: Sequence[int]) -> bool:
        """Whether the columns fit together, so that no question reads beside them.

        label_counts: how many labels there are of each kind, in the order of `labels`.
        """
        ranks = (self.ids.ndim, self.dense.ndim, self.labels.ndim, self.postings.rows_max)
        if ranks != (1, 2, 2, len(self)) or not self.postings.is_consistent():
            return False
        columns = (getattr(self, each.name) for each in fields(self) if each.name != "labels")
        are_rows = all(len(each) == len(self) for each in columns if isinstance(each, np.ndarray))
        if not are_rows or self.labels.shape != (len(label_counts), len(self)):
            return False
        if not self.records.is_consistent(len(self)):
            return False
        counts = np.array(label_counts)[:, np.newaxis]
        are_codes = (self.labels >= 0).all() and (self.labels < counts).all()
        return bool(are_codes and (self.ids[1:] > self.ids[:-1]).all())

    @property
    def has_summaries(self) -> bool:
        return bool(len(self.ids)) and bool(self.ids[0] < 0)

    def rows_of(self, ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """The rows of those chunks that the segment has."""
        ids = ids[(ids >= self.ids[0]) & (ids <= self.ids[-1])] if len(self.ids) else ids[:0]
        rows = np.asarray(np.searchsorted(self.ids, ids))
        found: NDArray[np.intp] = rows[self.ids[rows] == ids]
        return found


def merge(segments: Sequence[ShardSegment], live: Sequence[NDArray[np.bool_]]) -> ShardSegment:
    """One segment of the live rows of all."""
    kept = [np.flatnonzero(rows) for rows in live]
    ids = np.concatenate([each.ids[rows] for each, rows in zip(segments, kept, strict=True)])
    order = np.argsort(ids)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)

    terms, rows, values, first = [], [], [], 0
    for each, kept_rows in zip(segments, kept, strict=True):
        row_after = np.full(len(each), -1, np.int32)
        row_after[kept_rows] = place[first : first + len(kept_rows)]
        first += len(kept_rows)
        of_terms, of_rows, of_values = each.postings.triples()
        is_kept = row_after[of_rows] >= 0
        terms.append(of_terms[is_kept])
        rows.append(row_after[of_rows[is_kept]])
        values.append(of_values[is_kept])

    def column(name: str, axis: int = 0) -> NDArray[np.generic]:
        parts = [
            np.take(getattr(each, name), kept_rows, axis)
            for each, kept_rows in zip(segments, kept, strict=True)
        ]
        return np.take(np.concatenate(parts, axis), order, axis)

    return ShardSegment(
        ids=ids[order],
        document_keys=column("document_keys").astype(np.int64, copy=False),
        dense=column("dense").astype(np.float16, copy=False),
        inverse_norms=column("inverse_norms").astype(np.float32, copy=False),
        postings=term_postings.build(
            np.concatenate(terms), np.concatenate(rows), np.concatenate(values), len(ids)
        ),
        labels=column("labels", 1).astype(np.int32, copy=False),
        records=_merge_records(segments, kept, order),
    )


def _merge_records(
    segments: Sequence[ShardSegment],
    kept: Sequence[NDArray[np.intp]],
    order: NDArray[np.intp],
) -> ChunkRecords:
    pieces: list[bytes] = []
    for each, rows in zip(segments, kept, strict=True):
        pieces += each.records.pieces(rows)
    return chunk_records.build([pieces[place] for place in order.tolist()])
