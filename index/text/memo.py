"""A cache of values computed from pieces of text."""

from collections.abc import Callable
from typing import TypeVar

PIECES_MAX = 262_144  # about 40 MB; with half as many, 28,000 passages took a tenth longer
CHARACTERS_MAX = 128  # a longer piece is not stored: it is a blob of data

T = TypeVar("T")


class Memo(dict[str, T]):
    """Maps a piece to the value of `make`, which must be deterministic.

    A dict, so that a hit runs no Python code; once full, it is cleared.
    """

    def __init__(self, make: Callable[[str], T]) -> None:
        self._make = make

    def __missing__(self, piece: str) -> T:
        value = self._make(piece)
        if len(piece) <= CHARACTERS_MAX:
            if len(self) >= PIECES_MAX:
                self.clear()
            self[piece] = value
        return value
