"""Compares what a shard holds with the tables at its revision.

The statement that confirms proposals can't notice a chunk that was not proposed. So all chunks of a
partition are read again, page by page as for loading, and compared: vectors, terms and what decides
who may see them. That finds a faulty row whatever is asked, and however many chunks there are.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.postgres.database import Database
from index.resident import followed_shard
from index.resident.building import loading
from index.resident.building.loading import DocumentPage, Unsuitable
from index.resident.labels import Codes, Labels
from index.resident.segment import ShardSegment
from index.resident.shard import ChunkLabels, Shard
from index.resident.term_postings import TermPostings

_POSTINGS = 1 << 20  # hashed at a time, in 8 MB for each array
_NORM_ERROR_MAX = 1e-6  # relative: two sums of the same squares may differ in their order


@dataclass(frozen=True, slots=True)
class ShardDifferences:
    """How many chunks a shard lacks, has though the tables don't, or has with other content."""

    missing: int
    extra: int
    changed: int

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra or self.changed)


async def compare(database: Database, shard: Shard) -> ShardDifferences | None:
    """The differences between the shard, followed until now, and the tables in one snapshot.

    None if the shard has to be loaded again. Takes about as long as loading.
    Raises `DatabaseUnavailable`.
    """
    async with database.shard_snapshot() as session:
        changes = await loading.changes_in(session, shard)
        followed = None if changes is None else followed_shard.apply(shard, changes)
        if followed is None:
            return None
        comparison = await asyncio.to_thread(ShardComparison, followed)
        async for page in loading.read_pages(session, shard.partition):
            await asyncio.to_thread(comparison.add, page)
    return comparison.differences


class ShardComparison:
    """A shard, and the pages of the tables that it has been compared with so far."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._term_hashes = [_term_hashes(segment.postings) for segment in shard.segments]
        self._rows = sum(int(np.count_nonzero(live)) for live in shard.live)
        self._matched = self._missing = self._changed = 0

    @property
    def differences(self) -> ShardDifferences:
        """After all pages: what no page held is extra."""
        return ShardDifferences(self._missing, self._rows - self._matched, self._changed)

    def add(self, read: DocumentPage) -> None:
        """Compare the chunks of these documents."""
        labels = loading.new_labels()  # the shard's belong to the event loop
        try:
            page = read.segment(labels)
        except Unsuitable:
            self._changed += read.chunks["chunks"]
            return
        codes = _translated(page.labels, labels, self._shard.labels)
        hashes = _term_hashes(page.postings)
        spaces = {row["embedding_space"] for row in read.documents}
        matches, is_equal = np.zeros(len(page), np.int64), np.ones(len(page), np.bool_)
        parts = zip(self._shard.segments, self._shard.live, self._term_hashes, strict=True)
        for segment, live, term_hashes in parts:
            rows = segment.rows_of(page.ids)
            rows = rows[live[rows]]
            places = page.rows_of(segment.ids[rows])
            matches[places] += 1
            is_equal[places] &= (
                _have_equal_content(segment, rows, page, places)
                & (segment.labels[:, rows] == codes[:, places]).all(axis=0)
                & (term_hashes[rows] == hashes[places])
                & _have_equal_records(segment, rows, page, places)
            )
        if spaces != {self._shard.space}:
            is_equal[:] = False
        self._matched += int(np.count_nonzero(matches))
        self._missing += int(np.count_nonzero(matches == 0))
        self._changed += int(np.count_nonzero((matches > 0) & ~is_equal))


def _have_equal_content(
    segment: ShardSegment, rows: NDArray[np.intp], page: ShardSegment, places: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether each row of the segment has the document and the vector of its place in the page."""
    if segment.dense.shape[1] != page.dense.shape[1]:
        return np.zeros(len(rows), np.bool_)
    norms, expected = segment.inverse_norms[rows], page.inverse_norms[places]
    is_equal: NDArray[np.bool_] = (
        (segment.document_keys[rows] == page.document_keys[places])
        & (np.abs(norms - expected) <= _NORM_ERROR_MAX * expected)
        & (segment.dense[rows] == page.dense[places]).all(axis=1)
    )
    return is_equal


def _have_equal_records(
    segment: ShardSegment, rows: NDArray[np.intp], page: ShardSegment, places: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether hits show the same of each row of the segment and its place in the page."""
    pieces = zip(segment.records.pieces(rows), page.records.pieces(places), strict=True)
    return np.fromiter((held == read for held, read in pieces), np.bool_, len(rows))


def _translated(codes: Codes, labels: ChunkLabels, theirs: ChunkLabels) -> Codes:
    """The codes of the same values in the other labels; -1 for values that these lack."""
    kinds: tuple[tuple[Labels[Any], Labels[Any]], ...] = (
        (labels.audiences, theirs.audiences),
        (labels.sources, theirs.sources),
        (labels.languages, theirs.languages),
        (labels.tags, theirs.tags),
        (labels.documents, theirs.documents),
        (labels.tenants, theirs.tenants),
    )
    return np.stack([_codes(*kind)[column] for kind, column in zip(kinds, codes, strict=True)])


def _codes(labels: Labels[Any], theirs: Labels[Any]) -> Codes:
    found = (theirs.codes((value,)) for value in labels.values())
    return np.array([codes[0] if len(codes) else -1 for codes in found], np.int32)


def _term_hashes(postings: TermPostings) -> NDArray[np.uint64]:
    """For each row the sum of the hashes of its terms with their values, whatever their order."""
    hashes = np.zeros(postings.rows_max, np.uint64)
    terms, rows, values = postings.triples()
    for start in range(0, len(rows), _POSTINGS):
        part = slice(start, start + _POSTINGS)
        packed = terms[part].astype(np.uint64) << np.uint64(32)
        np.add.at(hashes, rows[part], _mixed(packed | values[part].view(np.uint32)))
    return hashes


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Source: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))
