"""A query's own vector in canonical form: equal for all vectors that must get the same answer.

Pure.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_HALF = "<f2"
# A vector whose length differs by less is of length one: its numbers are those that an embedder
# made, and a division would move some of them to a neighbouring half.
_UNIT_TOLERANCE = 1e-6


def encode(numbers: Sequence[float]) -> str:
    """The vector of length one in this direction, as the index compares it: in half precision.

    Raises `ValueError` if the numbers are not finite, or all zero.
    """
    try:
        vector = np.array(numbers, np.float64)
    except OverflowError:
        raise ValueError("must have finite numbers") from None
    largest = np.abs(vector).max()
    if not np.isfinite(largest):
        raise ValueError("must have finite numbers")
    if largest == 0:
        raise ValueError("must have a number other than zero")
    scaled = vector / largest  # so that no square overflows or vanishes
    scaled_length = float(np.linalg.norm(scaled))
    if abs(scaled_length * float(largest) - 1) > _UNIT_TOLERANCE:
        vector = scaled / scaled_length
    return b64encode(vector.astype(_HALF).tobytes()).decode()


def decode(encoded: str) -> NDArray[np.float16]:
    """The vector, shape (dimensions,)."""
    return np.frombuffer(b64decode(encoded), _HALF)
