"""Fusion of the dense and the lexical leg into one ranking.

`absolute` scores each chunk by itself; `relative` and `reciprocal_rank` score it by its position
among a leg's candidates. Each leg is best first and holds a chunk once. The fused ranking is best
first, ties to the lower chunk id: equal inputs give equal bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

_RANK_OFFSET = 60  # k, as in the source of `reciprocal_rank`
RECIPROCAL_RANK_MAX = 2 / (_RANK_OFFSET + 1)  # of the first of both legs
_CHUNK_ID, _SCORE = itemgetter(0), itemgetter(1)  # of a `FusedChunk`


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk as one leg ranked it; a greater score is better."""

    chunk_id: int
    score: float


class ScoredChunk(NamedTuple):
    """A chunk with both scores; dense is None if its vector is of another space."""

    chunk_id: int
    dense: float | None
    lexical: float


class LegRank(NamedTuple):
    """A chunk's score in a leg, and its rank, counted from 1, if it is a candidate."""

    rank: int | None
    score: float


class FusedChunk(NamedTuple):
    """A chunk in the fused ranking, with its rank in each leg; None if the leg lacks it."""

    chunk_id: int
    score: float
    dense: LegRank | None
    lexical: LegRank | None


def absolute(
    scored: Sequence[ScoredChunk],
    dense: Sequence[Candidate] = (),
    lexical: Sequence[Candidate] = (),
    *,
    alpha: float,
) -> list[FusedChunk]:
    """Fuse by alpha·dense + (1-alpha)·lexical of the unscaled scores; drop chunks not above 0.

    alpha: 0 to 1. dense, lexical: the legs, if the result is to hold the ranks in them.
    A chunk's score depends on the query and the chunk alone. Both scales end at 1, and on both 0
    means nothing in common. A chunk without a dense score keeps its lexical score.

    Source: the convex combination of Bruch, Gai, Ingber, An Analysis of Fusion Functions for Hybrid
    Retrieval, ACM TOIS 2023, here with both ends of each scale from theory.
    """
    dense_ranks, lexical_ranks = _ranks(dense), _ranks(lexical)
    fused: list[FusedChunk] = []
    for chunk_id, similarity, words in scored:
        score = words if similarity is None else alpha * similarity + (1 - alpha) * words
        if score > 0:
            ranks = dense_ranks.get(chunk_id), lexical_ranks.get(chunk_id)
            by_vector = None if similarity is None else LegRank(ranks[0], similarity)
            by_words = LegRank(ranks[1], words) if words else None
            fused.append(FusedChunk(chunk_id, score, by_vector, by_words))
    return _best_first(fused)


def relative(
    dense: Sequence[Candidate], lexical: Sequence[Candidate], *, alpha: float
) -> list[FusedChunk]:
    """Fuse by alpha·dense + (1-alpha)·lexical, each leg scaled to 0..1 over its own candidates.

    alpha: 0 to 1; 0 uses keywords alone, 1 vectors alone. A leg without weight adds no chunk.
    A chunk that is no candidate of a leg scores 0 there. A leg of equal scores scales to 1.
    """
    return _fuse(dense, lexical, _scale(dense, alpha), _scale(lexical, 1 - alpha))


def reciprocal_rank(
    dense: Sequence[Candidate], lexical: Sequence[Candidate], *, k: int = _RANK_OFFSET
) -> list[FusedChunk]:
    """Fuse by summed reciprocal rank: the sum over the legs of 1 / (k + rank).

    Source: Cormack, Clarke, Buettcher, SIGIR 2009.
    """
    return _fuse(dense, lexical, _reciprocal(dense, k), _reciprocal(lexical, k))


def _scale(leg: Sequence[Candidate], weight: float) -> dict[int, float]:
    if not leg or not weight:
        return {}
    worst, best = leg[-1].score, leg[0].score
    spread = best - worst
    return {
        candidate.chunk_id: weight * ((candidate.score - worst) / spread if spread else 1.0)
        for candidate in leg
    }


def _reciprocal(leg: Sequence[Candidate], k: int) -> dict[int, float]:
    return {candidate.chunk_id: 1 / (k + rank) for rank, candidate in enumerate(leg, start=1)}


def _fuse(
    dense: Sequence[Candidate],
    lexical: Sequence[Candidate],
    dense_parts: Mapping[int, float],
    lexical_parts: Mapping[int, float],
) -> list[FusedChunk]:
    dense_legs, lexical_legs = _legs(dense), _legs(lexical)
    return _best_first(
        FusedChunk(
            chunk_id,
            dense_parts.get(chunk_id, 0.0) + lexical_parts.get(chunk_id, 0.0),
            dense_legs.get(chunk_id),
            lexical_legs.get(chunk_id),
        )
        for chunk_id in dense_parts.keys() | lexical_parts.keys()
    )


def _best_first(fused: Iterable[FusedChunk]) -> list[FusedChunk]:
    return sorted(sorted(fused, key=_CHUNK_ID), key=_SCORE, reverse=True)  # both are stable


def _legs(candidates: Sequence[Candidate]) -> dict[int, LegRank]:
    return {
        candidate.chunk_id: LegRank(rank, candidate.score)
        for rank, candidate in enumerate(candidates, start=1)
    }


def _ranks(candidates: Sequence[Candidate]) -> dict[int, int]:
    return {candidate.chunk_id: rank for rank, candidate in enumerate(candidates, start=1)}
