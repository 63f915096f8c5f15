"""The order of the candidates by more than relevance: boosts are added, then diversity applies.

Relevance alone decides which chunks are candidates: the `depth` best of the fused ranking that
reach `min_score`. So a new chunk that is no candidate changes no order, and the floors of an answer
need not know of times, numbers or vectors.

Pure.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from index.model.query import Query
from index.postgres.session import Row
from index.search import boosting, diversity, fusion
from index.search.boosting import Boosts
from index.search.diversity import RankedChunk
from index.search.fusion import FusedChunk


def reordered(
    query: Query,
    ranking: Sequence[FusedChunk],
    rows: Mapping[int, Row],
    vectors: Mapping[int, NDArray[np.float16]],
) -> Sequence[FusedChunk]:
    """The candidates in the order in which they become hits.

    ranking: best first. rows: by chunk id, the fields of a hit. vectors: likewise, if the query
    asks for diversity. Ties keep the order of the ranking.
    """
    if not query.reorders:
        return ranking
    score_min = query.min_score or 0.0
    candidates = {chunk.chunk_id: chunk for chunk in ranking if chunk.score >= score_min}
    ranked = [
        RankedChunk(chunk.chunk_id, chunk.score + _boosts(query, rows[chunk.chunk_id]).total)
        for chunk in candidates.values()
    ]
    ranked.sort(key=lambda chunk: -chunk.score)  # stable
    ids = [chunk.chunk_id for chunk in ranked]
    if query.diversity:
        ids = diversity.diversified(_on_scale(query, ranked), vectors, query.diversity)
    return [candidates[chunk_id] for chunk_id in ids]


def _on_scale(query: Query, ranked: Sequence[RankedChunk]) -> Sequence[RankedChunk]:
    """With scores from 0 to 1, as similarities are, except for boosts."""
    if query.fusion != "rrf":
        return ranked
    factor = 1 / fusion.RECIPROCAL_RANK_MAX
    return [RankedChunk(chunk.chunk_id, chunk.score * factor) for chunk in ranked]


def _boosts(query: Query, row: Row) -> Boosts:
    return Boosts() if query.boost is None else boosting.boosts(query.boost, row)
