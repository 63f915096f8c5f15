"""An answered question, as it is stored with its answer."""

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FORMAT = 1  # raise it with any change of the layout or the similarity model
_HEADER = struct.Struct(">BH")  # format, dimensions; then the family, the vector and the text
_FAMILY_BYTES = 16
_HALF_BYTES = 2


@dataclass(frozen=True, slots=True)
class CachedQuestion:
    """family: 32 hexadecimal digits, equal for requests that differ only in the query text.

    vector: of unit length, from the similarity model, in half precision.
    """

    family: str
    text: str
    vector: NDArray[np.float16]

    def encode(self) -> bytes:
        header = _HEADER.pack(_FORMAT, len(self.vector))
        halves = self.vector.astype("<f2").tobytes()
        return b"".join((header, bytes.fromhex(self.family), halves, self.text.encode()))


def decode(record: bytes) -> CachedQuestion | None:
    """None if the record is empty, truncated or of another format."""
    if len(record) < _HEADER.size:
        return None
    format_number, dimensions = _HEADER.unpack_from(record)
    text_offset = _HEADER.size + _FAMILY_BYTES + dimensions * _HALF_BYTES
    if format_number != _FORMAT or not dimensions or len(record) < text_offset:
        return None
    family = record[_HEADER.size : _HEADER.size + _FAMILY_BYTES].hex()
    vector = np.frombuffer(record, "<f2", dimensions, _HEADER.size + _FAMILY_BYTES)
    if not np.isfinite(vector).all():
        return None
    try:
        return CachedQuestion(family, record[text_offset:].decode(), vector)
    except UnicodeDecodeError:
        return None
