"""Vectors as the index stores them: finite, of length one, of at most DIMENSIONS_MAX."""

from collections.abc import Mapping
from struct import pack

import numpy as np
from numpy.typing import NDArray

from index.errors import EmbeddingUnavailable

DIMENSIONS_MAX = 4_000  # of a halfvec in an HNSW index


def unit(rows: NDArray[np.floating], *, source: str) -> NDArray[np.float32]:
    """The rows, normalised to length one, shape (texts, dimensions).

    Raises `EmbeddingUnavailable`, which names the source, if a row is zero or not finite.
    """
    doubles = rows.astype(np.float64)
    with np.errstate(over="ignore"):  # an overflow is refused below
        norms = np.linalg.norm(doubles, axis=1, keepdims=True)
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise EmbeddingUnavailable(f"{source} gave vectors without a direction")
    doubles /= norms
    return doubles.astype(np.float32)


def sparse(weights: Mapping[int, float], dimensions: int) -> bytes:
    """A `sparsevec` in PostgreSQL's binary format; no weight may be zero.

    Takes half the time of pgvector's own encoder; it is called for every chunk.
    """
    indexes = sorted(weights)
    count = len(indexes)
    values = map(weights.__getitem__, indexes)
    return pack(f">iii{count}i{count}f", dimensions, count, 0, *indexes, *values)
