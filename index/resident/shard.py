"""The chunks of one partition at one revision, and which of them may be the best for a question.

A shard proposes: it returns every chunk that could be among the best, by a proven bound on the
error of its scores. `best_chunks` scores these as PostgreSQL does, and orders them. So the answer
is the one of a scan, to the last bit, on every machine.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numkong
import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from common.shares.threads import FairThreads
from index.model.conditions.condition import ColumnName, Rows
from index.model.query import Filter, Query
from index.model.scope import PUBLIC, Scope
from index.resident.exact_scores import SumOrder
from index.resident.labels import Audiences, Labels
from index.resident.segment import ShardSegment, merge
from index.vocabulary.resident_words import ResidentWords

_HALF_ULP = 2.0**-24  # the largest relative error of one rounding in single precision
_LABEL_BYTES = 160  # a string of 20 characters, its number, and its place in a dictionary
_SPARSE_SHARE = 4  # below one visible row in this many, the visible vectors are copied first
_PROBED_DIMENSIONS = 1_536
_FILTERS_MAX = 32  # a byte a row each; a starting value, not measured
# More would block the event loop for a millisecond or more; a thread costs a tenth of that.
_INLINE_ROWS_MAX = 32_768
_BLOCK = 64  # rows whose best scores bound the score of the best chunks from below
_ALL_COMPARED_MAX = 1_024  # rows; to find out which need not be takes longer than to compare them
_ROWS = attrgetter("rows")  # of proposed chunks


@dataclass(frozen=True, slots=True)
class ShardQuestion:
    """A query as a shard compares it.

    vector:  in half precision, as PostgreSQL receives it; None if no vector counts.
    space:   of the vector.
    weights: of the query's terms. alpha: the share of the dense score.
    count:   the number of best chunks wanted.
    """

    scope: Scope
    filter: Filter
    vector: NDArray[np.float16] | None
    space: str
    weights: Mapping[int, float]
    alpha: float
    count: int

    @property
    def error_max(self) -> float:
        """The bound on the difference between a shard's score and PostgreSQL's.

        Both sum products of halves, which single precision holds exactly, in some order: a sum of n
        terms errs by at most n roundings of the sum of their magnitudes, here at most 1. Both
        divide by two such lengths. Lexical scores, at most 1 for each term, are exact; their share
        and the sum are rounded.

        Source: Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1.
        """
        dense = 0 if self.vector is None else 4 * (len(self.vector) + 8)
        return _HALF_ULP * (self.alpha * dense + 2 * (len(self.weights) + 1))


@dataclass(frozen=True, slots=True, eq=False)
class ChunkLabels:
    """What the codes in `ShardSegment.labels` stand for; grows with the shard."""

    audiences: Audiences
    sources: Labels[str]
    languages: Labels[str]
    tags: Labels[tuple[str, ...]]
    documents: Labels[str]
    tenants: Labels[str]

    @property
    def size_bytes(self) -> int:
        """An estimate: short strings, which are what most labels are."""
        parts: tuple[Labels[Any], ...] = (self.audiences, self.tags, self.documents)
        return _LABEL_BYTES * sum(len(part) for part in parts)

    def where(self, column: ColumnName, condition: Callable[[Any], bool]) -> Rows:
        row, meeting = _LABEL_ROWS[column], getattr(self, column).where(condition)
        return lambda segment: meeting[segment.labels[row]]

    def among(self, column: ColumnName, labels: Iterable[Any], *, invert: bool = False) -> Rows:
        row, codes = _LABEL_ROWS[column], getattr(self, column).codes(labels)
        return lambda segment: np.isin(segment.labels[row], codes, invert=invert)


@dataclass(frozen=True, slots=True)
class PartitionStats:
    """What a search reads of a partition's row in `tenants`, at the shard's revision.

    space:      of its vectors; None if the index has none yet.
    confidence: the tenant's stored confidence settings.
    audience_revision: of the tenant's audiences.
    """

    space: str | None
    languages: frozenset[str]
    vocabulary_size: int
    confidence: Mapping[str, Any] | None
    audience_revision: int = 0


_LABEL_ROWS = {each.name: row for row, each in enumerate(fields(ChunkLabels))}
AUDIENCE, _TENANT = _LABEL_ROWS["audiences"], _LABEL_ROWS["tenants"]


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """An immutable version; each change makes another that shares what has not changed.

    partition: a tenant, or `public`: then the public chunks of all tenants.
    space:     of all vectors; None without chunks.
    stats:     of the partition.
    sums:      how PostgreSQL adds.
    words:     of the tenant's vocabulary; None if they are not in memory, as for `public`.
    segments:  the oldest and largest first. live: for each, which rows still exist.
    filtered:  this version with the documents alone that a scope and the unindexed conditions of a
               filter admit; see `index/resident/matching_documents.py`.
    """

    partition: str
    history: str
    revision: int
    space: str | None
    stats: PartitionStats
    sums: SumOrder
    labels: ChunkLabels
    words: ResidentWords | None
    segments: tuple[ShardSegment, ...]
    live: tuple[NDArray[np.bool_], ...]
    filtered: LRUCache[bytes, "Shard"] = field(
        init=False, repr=False, default_factory=lambda: LRUCache(_FILTERS_MAX)
    )

    @property
    def size_bytes(self) -> int:
        words = 0 if self.words is None else self.words.size_bytes
        filtered = _FILTERS_MAX * self.rows  # as many as there can be
        segments = sum(each.size_bytes for each in self.segments)
        return words + filtered + self.labels.size_bytes + segments

    @property
    def rows(self) -> int:
        return sum(len(segment) for segment in self.segments)

    def visible(self, question: ShardQuestion) -> "list[VisibleRows]":
        """The segments with rows that the scope and the filter admit, and which rows these are."""
        masks = []
        for condition, value in question.filter.conditions:
            if condition.mask is not None:
                masks.append(condition.mask(value, self.labels))
        visible: list[VisibleRows] = []
        for segment, live in zip(self.segments, self.live, strict=True):
            rows = live & self.admitted(segment, question.scope)
            for mask in masks:
                rows &= mask(segment)
            if rows.any():
                visible.append((self, segment, rows))
        return visible

    def without(self, removed: NDArray[np.int64]) -> "Shard":
        """The shard without those chunks."""
        live = list(self.live)
        for number, segment in enumerate(self.segments):
            rows = segment.rows_of(removed)
            if len(rows):
                live[number] = live[number].copy()
                live[number][rows] = False
        return replace(self, live=tuple(live))

    def with_segment(self, segment: ShardSegment) -> "Shard":
        """The shard with more chunks; small segments are merged, so that there are few."""
        segments, live = [*self.segments, segment], [*self.live, np.ones(len(segment), np.bool_)]
        while len(segments) > 2 and len(segments[-2]) < 2 * len(segments[-1]):
            merged = merge(segments[-2:], live[-2:])
            segments[-2:], live[-2:] = [merged], [np.ones(len(merged), np.bool_)]
        return replace(self, segments=tuple(segments), live=tuple(live))

    def of_documents(self, document_keys: NDArray[np.int64]) -> "Shard":
        """The shard with the chunks of these documents alone."""
        live = [
            rows & np.isin(segment.document_keys, document_keys)
            for segment, rows in zip(self.segments, self.live, strict=True)
        ]
        return replace(self, live=tuple(live))

    def at_revision(
        self, revision: int, space: str | None, stats: PartitionStats, words: ResidentWords | None
    ) -> "Shard":
        """The shard, which now holds all changes up to the revision."""
        return replace(self, revision=revision, space=space, stats=stats, words=words)

    def compacted(self) -> "Shard":
        """The same chunks in one segment, and the same words in one table for each token."""
        merged = merge(self.segments, self.live)
        words = None if self.words is None else self.words.compacted()
        live = np.ones(len(merged), np.bool_)
        return replace(self, segments=(merged,), live=(live,), words=words)

    def admitted(self, segment: ShardSegment, scope: Scope) -> NDArray[np.bool_]:
        """Which rows the scope admits; asked before any vector is compared."""
        fingerprint = scope.fingerprint
        admitted = segment.admitted.get(fingerprint)
        if admitted is None:
            if self.partition != PUBLIC:
                codes, column = self.labels.audiences.admitted(scope), AUDIENCE
            elif scope.public:
                codes = self.labels.tenants.where(lambda tenant: tenant != scope.tenant)
                column = _TENANT
            else:
                codes, column = np.zeros(len(self.labels.tenants), np.bool_), _TENANT
            admitted = segment.admitted[fingerprint] = codes[segment.labels[column]]
        return admitted


VisibleRows: TypeAlias = tuple[Shard, ShardSegment, NDArray[np.bool_]]


def can_answer(query: Query) -> bool:
    """Whether a shard can propose for the query.

    It can't for queries that need legs, more than one statement, or what no shard holds of chunks:
    those read PostgreSQL alone.
    """
    return not (query.by_legs or query.needs_snapshot or query.filter.needs_tables)


@dataclass(frozen=True, slots=True)
class ProposedChunks:
    """Rows of a segment that may be among the best, and their lexical scores; shapes (rows,)."""

    shard: Shard
    segment: ShardSegment
    rows: NDArray[np.intp]
    lexical: NDArray[np.float32]


async def propose(
    shards: Sequence[Shard], question: ShardQuestion, proposed_max: int, threads: FairThreads
) -> Sequence[ProposedChunks] | None:
    """The chunks among which the best of all shards are; None if they are too many.

    None also if the vector can't be compared with all chunks. Raises `Saturated`.
    """
    vector = question.vector
    if vector is not None and not vector.any():
        return None
    visible: list[VisibleRows] = []
    for shard in shards:
        if vector is not None and shard.space not in (None, question.space):
            return None
        visible += shard.visible(question)
    if sum([len(segment.ids) for _, segment, _ in visible]) <= _INLINE_ROWS_MAX:
        return _propose(visible, question, proposed_max)
    tenant = question.scope.tenant
    return await threads.run(tenant, _propose, visible, question, proposed_max)


def _propose(
    visible: Sequence[VisibleRows],
    question: ShardQuestion,
    proposed_max: int,
) -> Sequence[ProposedChunks] | None:
    """Uses nothing that another thread may change."""
    compared = [_compared(*part, question) for part in visible]
    if not compared:
        return ()
    scores = compared[0].scores
    if compared[1:]:
        scores = np.concatenate([part.scores for part in compared])
    error_max = question.error_max
    lowest = max(_kth_best(scores, question.count) - 2 * error_max, -error_max)
    proposed = [_at_least(lowest, part) for part in compared]
    return proposed if sum(map(len, map(_ROWS, proposed))) <= proposed_max else None


class _Compared(NamedTuple):
    """Scores of a segment's rows; that of a row that is not visible is -infinity.

    Rows that are certain not to score above 0, or not to be among the best, may be left out.
    rows: that `scores` belong to; None for all rows. lexical: the lexical scores of all rows.
    """

    shard: Shard
    segment: ShardSegment
    rows: NDArray[np.intp] | None
    scores: NDArray[np.float32]
    lexical: NDArray[np.float32]


def _at_least(lowest: float, compared: _Compared) -> ProposedChunks:
    rows = (compared.scores >= lowest).nonzero()[0]
    if compared.rows is not None:
        rows = compared.rows[rows]
    return ProposedChunks(compared.shard, compared.segment, rows, compared.lexical[rows])


def _compared(
    shard: Shard, segment: ShardSegment, visible: NDArray[np.bool_], question: ShardQuestion
) -> _Compared:
    lexical = shard.sums.lexical(segment.postings.products(question.weights), len(segment))
    vector = question.vector
    if vector is None or not question.alpha:
        rows = (visible & (lexical > 0)).nonzero()[0]
        return _Compared(shard, segment, rows, lexical[rows], lexical)
    has_vector = segment.inverse_norms > 0  # others are compared by words alone
    words = np.where(has_vector, lexical * np.float32(1 - question.alpha), lexical)
    words[~visible] = -np.inf
    asked = vector.astype(np.float64)
    shares = segment.inverse_norms * np.float32(question.alpha / np.sqrt(asked @ asked))
    if len(segment) > _ALL_COMPARED_MAX:
        scores_of = partial(_scores, segment.dense, vector, shares, words)
        rows = _within_reach(words, question, scores_of)
        if len(rows) * _SPARSE_SHARE < len(segment):
            return _Compared(shard, segment, rows, scores_of(rows), lexical)
    scores = _products(segment.dense, vector) * shares + words
    return _Compared(shard, segment, None, scores, lexical)


def _scores(
    dense: NDArray[np.float16],
    vector: NDArray[np.float16],
    shares: NDArray[np.float32],
    words: NDArray[np.float32],
    rows: NDArray[np.intp],
) -> NDArray[np.float32]:
    """Of these rows. shares: what each product counts. words: what the words of each row add."""
    return _products(dense[rows], vector) * shares[rows] + words[rows]


def _within_reach(
    words: NDArray[np.float32],
    question: ShardQuestion,
    scores_of: Callable[[NDArray[np.intp]], NDArray[np.float32]],
) -> NDArray[np.intp]:
    """The rows whose words and any vector could make one of the best; maybe some others.

    words: their part of each score; -infinity if the row is not visible. The best by words bound
    the score of the best from below, and a vector adds at most `alpha`.
    """
    visible = (words > -np.inf).nonzero()[0]
    if len(visible) <= question.count:
        return visible
    first = (words >= _kth_best(words, question.count)).nonzero()[0]
    if len(first) * _SPARSE_SHARE >= len(words):  # words tell too few apart
        return visible
    lowest = _kth_best(scores_of(first), question.count)
    return (words >= lowest - question.alpha - 3 * question.error_max).nonzero()[0]


def _kth_best(scores: NDArray[np.float32], count: int) -> float:
    """The score of the last of the best; -infinity if there are fewer."""
    if len(scores) < count:
        return -np.inf
    blocks = len(scores) // _BLOCK
    if blocks > 2 * count:  # the best are in few blocks: to sort what reaches these takes less time
        best_of_blocks = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        scores = scores[scores >= np.partition(best_of_blocks, blocks - count)[-count]]
    return float(np.partition(scores, len(scores) - count)[-count])


def products_are_precise() -> bool:
    """Whether this processor sums products of halves at least in single precision.

    The bound on a score's error holds only then. Compares random vectors with double precision.
    """
    random = np.random.default_rng(0)
    rows = random.standard_normal((64, _PROBED_DIMENSIONS)).astype(np.float16)
    wide = rows.astype(np.float64)
    magnitudes = np.abs(wide) @ np.abs(wide[0])
    errors = np.abs(_products(rows, rows[0]) - wide @ wide[0])
    return bool((errors <= _HALF_ULP * _PROBED_DIMENSIONS * magnitudes).all())


def _products(dense: NDArray[np.float16], vector: NDArray[np.float16]) -> NDArray[np.float32]:
    """The inner product of each row with the vector; it sums in at least single precision."""
    products = np.asarray(numkong.cdist(vector[np.newaxis], dense, "dot"))
    return products.reshape(-1).astype(np.float32)
