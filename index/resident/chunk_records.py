"""What a hit shows of each chunk of a shard.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

# As `record` of `resident.sql`; the other fields of a row of `search.sql` belong to the question.
_FIELDS = (
    "document_key", "tenant", "document_id", "title", "source", "uri", "language", "tags",
    "metadata", "digest", "start_at", "end_at", "text", "trust",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRecords:
    """A JSON array for each row of a segment, one after the other.

    json:   all of them, UTF-8. starts: of each, and the end of the last; shape (rows + 1,).
    """

    json: NDArray[np.uint8]
    starts: NDArray[np.int64]

    @property
    def size_bytes(self) -> int:
        return self.json.nbytes + self.starts.nbytes

    def is_consistent(self, rows: int) -> bool:
        """Whether there are arrays of so many rows, which take all of `json`."""
        starts = self.starts
        if (self.json.ndim, starts.ndim, len(starts)) != (1, 1, rows + 1):
            return False
        ends = (int(starts[0]), int(starts[-1]))
        return ends == (0, len(self.json)) and bool((starts[1:] >= starts[:-1]).all())

    def fields(self, row: int) -> dict[str, Any]:
        """The fields of a hit."""
        start, end = self.starts[row : row + 2].tolist()
        return dict(zip(_FIELDS, orjson.loads(self.json.data[start:end]), strict=True))

    def pieces(self, rows: NDArray[np.intp]) -> list[bytes]:
        """The arrays of these rows."""
        whole, starts = memoryview(self.json.data), self.starts
        bounds = zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True)
        return [bytes(whole[start:end]) for start, end in bounds]


def build(pieces: Sequence[bytes]) -> ChunkRecords:
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    return of_bytes(b"".join(pieces), lengths)


def of_bytes(json: bytes, lengths: NDArray[np.int64]) -> ChunkRecords:
    """json: the arrays, one after the other. lengths: of each, in bytes."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return ChunkRecords(np.frombuffer(json, np.uint8), starts)
