"""The order of the candidates by more than relevance: boosts are added, then diversity applies.

Relevance alone decides which chunks are candidates: the `depth` best of the fused ranking that
reach `min_score`. So a new chunk that is no candidate changes no order, and the floors of an answer
need not know of times, numbers or vectors.

Pure.
"""

from collections.abc import Mapping, Sequence

from index.model.query import Query
from index.postgres.session import Row
from index.search.ranking import boosting, diversity, fusion
from index.search.ranking.diversity import RankedChunk
from index.search.ranking.fusion import FusedChunk
from index.search.tables.snapshot_reads import SnapshotReads


def reordered(
    query: Query,
    ranking: Sequence[FusedChunk],
    rows: Mapping[int, Row],
    reads: SnapshotReads,
) -> Sequence[FusedChunk]:
    """The candidates in the order in which they become hits, if the query reorders them.

    ranking: best first. rows: by chunk id, the fields of a hit. Ties keep the order of the ranking.
    """
    score_min = query.min_score or 0.0
    candidates = {chunk.chunk_id: chunk for chunk in ranking if chunk.score >= score_min}
    ranked = [
        RankedChunk(chunk.chunk_id, chunk.score + _added(query, rows[chunk.chunk_id], reads))
        for chunk in candidates.values()
    ]
    ranked.sort(key=lambda chunk: -chunk.score)  # stable
    ids = [chunk.chunk_id for chunk in ranked]
    if query.diversity:
        ids = diversity.diversified(_on_scale(query, ranked), reads.vectors, query.diversity)
    return [candidates[chunk_id] for chunk_id in ids]


def _on_scale(query: Query, ranked: Sequence[RankedChunk]) -> Sequence[RankedChunk]:
    """With scores from 0 to 1, as similarities are, except for boosts."""
    if query.fusion != "rrf":
        return ranked
    factor = 1 / fusion.RECIPROCAL_RANK_MAX
    return [RankedChunk(chunk.chunk_id, chunk.score * factor) for chunk in ranked]


def _added(query: Query, row: Row, reads: SnapshotReads) -> float:
    if query.boost is None:
        return 0.0
    return boosting.boosts(query.boost, row, reads).total
