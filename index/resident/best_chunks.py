"""The best of proposed chunks, scored in memory: what `search.exact` returns from PostgreSQL.

Pure.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.resident.segment import ShardSegment
from index.resident.shard import Shard, ShardQuestion


class _Scored(NamedTuple):
    """A chunk with its scores; dense is None without a vector. row: of it in the segment."""

    score: float
    chunk_id: int
    dense: float | None
    lexical: float
    shard: Shard
    segment: ShardSegment
    row: int


def best_chunks(
    shards: Sequence[Shard], question: ShardQuestion, proposed: Sequence[int]
) -> list[dict[str, Any]]:
    """The best chunks with the fields of their hits, best first, ties to the lower chunk id.

    proposed: of `shard.propose`.
    """
    ids = np.array(proposed, np.int64)
    scored = [each for shard in shards for each in _scored(shard, question, ids)]
    scored.sort(key=itemgetter(1))
    scored.sort(key=itemgetter(0), reverse=True)  # stable
    name_of = cache(question.scope.name_of)  # most chunks have the readers of others
    rows = []
    for each in scored[: question.count]:
        row = each.segment.records.fields(each.row)
        tokens = each.shard.allowed_tokens(each.segment, each.row)
        row |= {
            "chunk_id": each.chunk_id,
            "dense": each.dense,
            "lexical": each.lexical,
            "allowed_tokens": tokens,
            "scope_name": name_of(row["tenant"], tokens),
            "summaries": None,
        }
        rows.append(row)
    return rows


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
    """`score` of `search.sql` for each row."""
    lexical = shard.sums.lexical(segment.postings.products(rows, question.weights))
    dense: list[float | None] = [None] * len(rows)
    if question.vector is not None:
        places = np.flatnonzero(segment.inverse_norms[rows])
        scores = shard.sums.dense(segment.dense[rows[places]], question.vector)
        for place, score in zip(places.tolist(), scores.tolist(), strict=True):
            dense[place] = score
    alpha, words_share = question.alpha, 1 - question.alpha
    chunks = zip(segment.ids[rows].tolist(), dense, lexical.tolist(), rows.tolist(), strict=True)
    for chunk_id, of_vector, of_words, row in chunks:
        score = of_words if of_vector is None else alpha * of_vector + words_share * of_words
        yield _Scored(score, chunk_id, of_vector, of_words, shard, segment, row)
