"""A question that has been answered, as it lies beside its answer."""

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FORMAT = 1  # another layout, or another judge, takes another one
_HEADER = struct.Struct(">BH")  # format, dimensions; then the family, the vector and the text
_FAMILY_BYTES = 16
_HALF_BYTES = 2


@dataclass(frozen=True, slots=True)
class CachedQuestion:
    """family: 32 hexadecimal digits, equal for all that is asked of the same in the same way.

    vector: of unit length, by the judge, in half precision.
    """

    family: str
    text: str
    vector: NDArray[np.float16]

    def encode(self) -> bytes:
        header = _HEADER.pack(_FORMAT, len(self.vector))
        halves = self.vector.astype("<f2").tobytes()
        return b"".join((header, bytes.fromhex(self.family), halves, self.text.encode()))


def decode(record: bytes) -> CachedQuestion | None:
    """None for what is truncated, of another format, or no question at all."""
    if len(record) < _HEADER.size:
        return None
    form, dimensions = _HEADER.unpack_from(record)
    text_at = _HEADER.size + _FAMILY_BYTES + dimensions * _HALF_BYTES
    if form != _FORMAT or not dimensions or len(record) < text_at:
        return None
    family = record[_HEADER.size : _HEADER.size + _FAMILY_BYTES].hex()
    vector = np.frombuffer(record, "<f2", dimensions, _HEADER.size + _FAMILY_BYTES)
    if not np.isfinite(vector).all():
        return None
    try:
        return CachedQuestion(family, record[text_at:].decode(), vector)
    except UnicodeDecodeError:
        return None
