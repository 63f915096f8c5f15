"""A cache of values computed from pieces of text."""

from collections.abc import Callable
from typing import TypeVar

PIECES_MAX = 262_144  # about 40 MB; with half as many, 28,000 passages took a tenth longer
QUERY_PIECES_MAX = 65_536  # of queries, which have fewer different words; at most 20 MB
CHARACTERS_MAX = 128  # a longer piece is not stored: it is a blob of data

T = TypeVar("T")


class Memo(dict[str, T]):
    """Maps a piece to the value of `make`, which must be deterministic.

    A dict, so that a hit runs no Python code; once it has `pieces_max`, it is cleared.
    """

    def __init__(self, make: Callable[[str], T], pieces_max: int = PIECES_MAX) -> None:
        self._make = make
        self._pieces_max = pieces_max

    def __missing__(self, piece: str) -> T:
        value = self._make(piece)
        if len(piece) <= CHARACTERS_MAX:
            if len(self) >= self._pieces_max:
                self.clear()
            self[piece] = value
        return value
