"""Diversity: the order in which no chunk repeats those before it more than its score is worth.

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Of a longer ranking the chunks after these keep their order; a starting value, not measured.
DIVERSE_MAX = 200
_DECIMALS = 6  # of a similarity: what processors round differently decides no order


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk and the score that it is ranked by."""

    chunk_id: int
    score: float


def diversified(
    ranking: Sequence[RankedChunk], vectors: Mapping[int, NDArray[np.float16]], diversity: float
) -> list[int]:
    """The ids in the order of greatest (1-d)·score - d·(similarity to the nearest one before).

    ranking: best first; a score difference of 1 weighs as much as one between equal vectors and
    vectors with nothing in common. vectors: by id; a chunk without one, or with one of zeros, is
    similar to none. diversity: d, 0 keeps the order. Ties go to the better ranked.

    Source: Carbonell, Goldstein, The Use of MMR, SIGIR 1998.
    """
    ids = [chunk.chunk_id for chunk in ranking]
    head = ranking[:DIVERSE_MAX]
    if not head:
        return ids
    similarities = _similarities(head, vectors)
    relevance = (1 - diversity) * np.array([chunk.score for chunk in head])
    nearest = np.zeros(len(head))
    is_left = np.ones(len(head), np.bool_)
    order: list[int] = []
    for _ in head:
        values = np.where(is_left, relevance - diversity * nearest, -np.inf)
        best = int(np.argmax(values))  # the first of equal ones
        order.append(ids[best])
        is_left[best] = False
        nearest = np.maximum(nearest, similarities[best])
    return [*order, *ids[DIVERSE_MAX:]]


def _similarities(
    ranking: Sequence[RankedChunk], vectors: Mapping[int, NDArray[np.float16]]
) -> NDArray[np.float64]:
    """The cosine of each two, below 0 counted as 0."""
    width = max((len(vector) for vector in vectors.values()), default=1)
    matrix = np.zeros((len(ranking), width))
    for row, chunk in enumerate(ranking):
        vector = vectors.get(chunk.chunk_id)
        if vector is not None:
            wide = vector.astype(np.float64)
            matrix[row] = wide / (np.sqrt((wide * wide).sum()) or 1.0)
    products = np.empty((len(matrix), len(matrix)))
    for row in range(len(matrix)):  # each two once
        # Not BLAS, whose sums depend on the number of its threads.
        products[row, row:] = np.einsum("k,jk->j", matrix[row], matrix[row:])
        products[row:, row] = products[row, row:]
    return products.clip(min=0.0).round(_DECIMALS)
