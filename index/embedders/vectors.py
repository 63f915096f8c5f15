"""Vectors as the index stores them: finite, of length one, not wider than a column can be."""

from collections.abc import Mapping
from struct import pack

import numpy as np
from numpy.typing import NDArray

from index.errors import EmbeddingUnavailable

DIMENSIONS_MAX = 4_000  # of a halfvec that an HNSW index takes


def unit(rows: NDArray[np.floating], *, source: str) -> NDArray[np.float32]:
    """The rows at length one, shape (texts, dimensions).

    Raises `EmbeddingUnavailable`, which names the source, if a row has no direction: zero, or not
    finite.
    """
    wide = rows.astype(np.float64)
    with np.errstate(over="ignore"):  # what overflows is refused
        norms = np.linalg.norm(wide, axis=1, keepdims=True)
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise EmbeddingUnavailable(f"{source} gave vectors without a direction")
    wide /= norms
    return wide.astype(np.float32)


def sparse(weights: Mapping[int, float], dimensions: int) -> bytes:
    """A `sparsevec` as PostgreSQL is sent it; no weight may be zero.

    In half the time that pgvector's own takes, which a long reading makes for every chunk.
    """
    indexes = sorted(weights)
    held = len(indexes)
    values = map(weights.__getitem__, indexes)
    return pack(f">iii{held}i{held}f", dimensions, held, 0, *indexes, *values)
