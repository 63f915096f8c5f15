"""The best of proposed chunks, scored in memory: what `search.exact` returns from PostgreSQL.

Pure.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.model.scope import Scope
from index.resident.segment import ShardSegment
from index.resident.shard import Shard, ShardQuestion


class _Scored(NamedTuple):
    """A chunk with its scores; dense is None without a vector. row: of it in the segment."""

    chunk_id: int
    dense: float | None
    lexical: float
    shard: Shard
    segment: ShardSegment
    row: int

    def score(self, alpha: float) -> float:
        """`score` of `search.sql`."""
        if self.dense is None:
            return self.lexical
        return alpha * self.dense + (1 - alpha) * self.lexical

    def hit_row(self, scope: Scope) -> "_HitRow":
        row = _HitRow(chunk_id=self.chunk_id, dense=self.dense, lexical=self.lexical)
        row.scored, row.scope = self, scope
        return row

    def fields(self, scope: Scope) -> dict[str, Any]:
        """What a hit shows of the chunk."""
        fields = self.segment.records.fields(self.row)
        tokens = self.shard.allowed_tokens(self.segment, self.row)
        scope_name = scope.name_of(fields["tenant"], tokens)
        return {
            **fields,
            "allowed_tokens": tokens,
            "scope_name": scope_name,
            "summaries": None,
        }


class _HitRow(dict[str, Any]):
    """A row of `search.sql`; what a hit shows is read from the record once it is asked for."""

    scored: _Scored
    scope: Scope

    def __missing__(self, key: str) -> Any:
        self.update(self.scored.fields(self.scope) | self)  # what a statement has added stays
        return self[key]


def best_chunks(
    shards: Sequence[Shard], question: ShardQuestion, proposed: Sequence[int]
) -> list[dict[str, Any]]:
    """The best chunks with the fields of their hits, best first, ties to the lower chunk id.

    proposed: of `shard.propose`.
    """
    ids = np.array(proposed, np.int64)
    scored = chain.from_iterable(_scored(shard, question, ids) for shard in shards)
    best = sorted(scored, key=lambda chunk: (-chunk.score(question.alpha), chunk.chunk_id))
    return [chunk.hit_row(question.scope) for chunk in best[: question.count]]


def _scored(shard: Shard, question: ShardQuestion, ids: NDArray[np.int64]) -> Iterator[_Scored]:
    for segment, live in zip(shard.segments, shard.live, strict=True):
        rows = segment.rows_of(ids)
        # A chunk of the caller's own tenant may be in the public shard too, which hides it there.
        rows = rows[live[rows] & shard.admitted(segment, question.scope)[rows]]
        if len(rows):
            yield from _scored_rows(shard, segment, rows, question)


def _scored_rows(
    shard: Shard, segment: ShardSegment, rows: NDArray[np.intp], question: ShardQuestion
) -> Iterator[_Scored]:
    lexical = shard.sums.lexical(segment.postings.products(rows, question.weights))
    dense: list[float | None] = [None] * len(rows)
    if question.vector is not None:
        places = np.flatnonzero(segment.inverse_norms[rows])
        scores = shard.sums.dense(segment.dense[rows[places]], question.vector)
        for place, score in zip(places.tolist(), scores.tolist(), strict=True):
            dense[place] = score
    chunks = zip(segment.ids[rows].tolist(), dense, lexical.tolist(), rows.tolist(), strict=True)
    for chunk_id, dense_score, lexical_score, row in chunks:
        yield _Scored(chunk_id, dense_score, lexical_score, shard, segment, row)
