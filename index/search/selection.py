"""The hits of a search, selected from the chunks that it has found.

Pure. The chunks of a search tell what another search would select too, if it has the same scope,
question and filter, and asks for no more candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from index.model.query import Query
from index.search.found_chunks import FoundChunks
from index.search.hits import SelectedHits, select_hits
from index.search.ranking import fusion, reordering
from index.search.ranking.fusion import FusedChunk


@dataclass(frozen=True, slots=True)
class RankedChunks:
    """ranking: by relevance, as far as it was read. order: in which these become hits."""

    chunks: FoundChunks
    ranking: Sequence[FusedChunk]
    order: Sequence[FusedChunk]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a search has found, and the hits selected from it. ranking: as far as it was read."""

    chunks: FoundChunks
    ranking: Sequence[FusedChunk]
    selected: SelectedHits


def select(query: Query, chunks: FoundChunks, rows_max: int) -> Selection:
    """rows_max: how many of the best chunks may become hits."""
    return select_ranked(query, rank(query, chunks, rows_max))


def rank(query: Query, chunks: FoundChunks, rows_max: int) -> RankedChunks:
    """Whatever the query's `top_k`."""
    ranking = _fuse(query, chunks)[:rows_max]
    order = ranking
    if query.reorders:
        order = reordering.reordered(query, ranking, chunks.rows, chunks.extras)
    return RankedChunks(chunks, ranking, order)


def select_ranked(query: Query, ranked: RankedChunks) -> Selection:
    selected = select_hits(query, ranked.order, ranked.chunks.rows)
    if query.reorders:  # also a candidate that is no hit decides the order
        selected = replace(selected, examined=tuple(one.chunk_id for one in ranked.order))
    return Selection(ranked.chunks, ranked.ranking, selected)


def leg_share(chunks: FoundChunks) -> float:
    """The dense leg's share; 0 if the leg is empty."""
    return chunks.prepared.embedded_query.alpha if chunks.dense else 0.0


def _fuse(query: Query, chunks: FoundChunks) -> Sequence[FusedChunk]:
    dense, lexical = chunks.dense[: query.candidates], chunks.lexical[: query.candidates]
    match query.fusion:
        case "absolute":
            alpha = chunks.prepared.embedded_query.alpha
            return fusion.absolute(chunks.scored, dense, lexical, alpha=alpha)
        case "relative":
            return fusion.relative(dense, lexical, alpha=leg_share(chunks))
        case "rrf":
            return fusion.reciprocal_rank(dense, lexical)
    assert_never(query.fusion)
