"""The best of proposed chunks, scored in memory: what `search.exact` returns from PostgreSQL."""

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from common.shares.turns import map_in_steps
from index.model.scope import ScopeName
from index.resident.shard import AUDIENCE, ProposedChunks, ShardQuestion

# The negated score, so that the best sorts first; the chunk's id; its dense score, None without a
# vector; its lexical score; the code of its audience; the proposal and the row that it comes from.
_Scored: TypeAlias = tuple[float, int, float | None, float, int, ProposedChunks, int]

_best_first = itemgetter(0, 1)


async def best_chunks(
    question: ShardQuestion, proposed: Sequence[ProposedChunks]
) -> list[dict[str, Any]]:
    """The best chunks with the fields of their hits, best first, ties to the lower chunk id.

    In steps: the metadata of each may have 64 KB.
    """
    parts = [_scored(part, question) for part in proposed]
    best = sorted(chain.from_iterable(parts), key=_best_first)
    names = dict[tuple[str, tuple[str, ...]], ScopeName]()  # most chunks have the readers of others

    def to_row(scored: _Scored) -> dict[str, Any]:
        _, chunk_id, dense, lexical, audience, part, place = scored
        row = part.segment.records.fields(place)
        tokens = part.shard.labels.audiences.tokens[audience]
        readers = row["tenant"], tokens
        if readers not in names:
            names[readers] = question.scope.name_of(*readers)
        row["chunk_id"], row["dense"], row["lexical"] = chunk_id, dense, lexical
        row["allowed_tokens"], row["scope_name"] = tokens, names[readers]
        row["summaries"] = None
        return row

    return await map_in_steps(to_row, best[: question.count])


def _scored(proposed: ProposedChunks, question: ShardQuestion) -> Iterable[_Scored]:
    """`score` of `search.sql` for each chunk."""
    segment, rows = proposed.segment, proposed.rows
    scores = lexical = proposed.lexical.astype(np.float64)
    dense: list[float | None] = [None] * len(rows)
    if question.vector is not None:
        places = segment.inverse_norms[rows].nonzero()[0]
        similarities = proposed.shard.sums.dense(segment.dense[rows[places]], question.vector)
        scores = lexical.copy()
        scores[places] *= 1 - question.alpha
        scores[places] += question.alpha * similarities
        for place, similarity in zip(places.tolist(), similarities.tolist(), strict=True):
            dense[place] = similarity
    return zip(
        (-scores).tolist(),
        segment.ids[rows].tolist(),
        dense,
        lexical.tolist(),
        segment.labels[AUDIENCE, rows].tolist(),
        repeat(proposed, len(rows)),
        rows.tolist(),
        strict=True,
    )
