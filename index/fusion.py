"""Two legs' candidates into one ranking.

Each leg comes best first and holds a chunk once. The fused ranking is best first too, ties to the
lower chunk id: equal inputs give equal bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk as one leg found it; the greater score is the better."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Leg:
    """Where a leg ranked a chunk, counted from 1, and by what score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk in the fused ranking, and what each leg said of it; None where it was not found."""

    chunk_id: int
    score: float
    dense: Leg | None
    lexical: Leg | None


def relative(
    dense: Sequence[Candidate], lexical: Sequence[Candidate], *, alpha: float
) -> list[Fused]:
    """Fuse by alpha·dense + (1-alpha)·lexical, each leg scaled to 0..1 over its own candidates.

    alpha: 0 to 1. A leg without weight adds no chunk: 0 is pure keywords, 1 is pure meaning.
    A chunk that a leg did not find has 0 there. A leg of equal scores scales to 1.
    """
    return _fused(dense, lexical, _scaled(dense, alpha), _scaled(lexical, 1 - alpha))


def reciprocal_rank(
    dense: Sequence[Candidate], lexical: Sequence[Candidate], *, k: int = 60
) -> list[Fused]:
    """Fuse by summed reciprocal rank: the sum over the legs of 1 / (k + rank).

    Source: Cormack, Clarke, Buettcher, SIGIR 2009.
    """
    return _fused(dense, lexical, _reciprocal(dense, k), _reciprocal(lexical, k))


def _scaled(leg: Sequence[Candidate], weight: float) -> dict[int, float]:
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


def _fused(
    dense: Sequence[Candidate],
    lexical: Sequence[Candidate],
    dense_parts: Mapping[int, float],
    lexical_parts: Mapping[int, float],
) -> list[Fused]:
    dense_legs, lexical_legs = _ranked(dense), _ranked(lexical)
    fused = [
        Fused(
            chunk_id,
            dense_parts.get(chunk_id, 0.0) + lexical_parts.get(chunk_id, 0.0),
            dense_legs.get(chunk_id),
            lexical_legs.get(chunk_id),
        )
        for chunk_id in dense_parts.keys() | lexical_parts.keys()
    ]
    return sorted(fused, key=lambda chunk: (-chunk.score, chunk.chunk_id))


def _ranked(leg: Sequence[Candidate]) -> dict[int, Leg]:
    return {
        candidate.chunk_id: Leg(rank, candidate.score)
        for rank, candidate in enumerate(leg, start=1)
    }
