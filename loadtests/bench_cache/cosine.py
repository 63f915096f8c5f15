"""A semantic cache by similarity alone, for comparison: it has no guards and measures nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loadtests.bench_index.systems import vectors

_BLOCK = 500  # questions compared at once


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A question, the most similar one of those before it, and their similarity."""

    asked: str
    cached: str
    similarity: float


def nearest_before(questions: Sequence[str]) -> list[Neighbour]:
    """One for each question but the first; the questions differ."""
    # As halves and back, for that is how the tier keeps them.
    embedded = vectors.embed(questions).astype(np.float16).astype(np.float32)
    neighbours: list[Neighbour] = []
    for start in range(0, len(questions), _BLOCK):
        end = min(start + _BLOCK, len(questions))
        similarities = embedded[start:end] @ embedded[:end].T
        for row in range(max(start, 1), end):
            before = similarities[row - start, :row]
            best = int(np.argmax(before))
            neighbours.append(Neighbour(questions[row], questions[best], float(before[best])))
    return neighbours


def served_within(
    neighbours: Sequence[Neighbour], is_wrong: Callable[[Neighbour], bool], limit: float
) -> int:
    """How many questions the best threshold serves while at most this share of them is wrong.

    The threshold is chosen afterwards, with all answers known; no cache can choose it so well.
    """
    wrong = best = 0
    ranked = sorted(neighbours, key=lambda neighbour: -neighbour.similarity)
    for served, neighbour in enumerate(ranked, start=1):
        wrong += is_wrong(neighbour)
        if wrong <= limit * served:
            best = served
    return best
