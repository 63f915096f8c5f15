"""What was made of a piece of text, remembered for the next time that it comes."""

from collections.abc import Callable
from typing import TypeVar

PIECES_MAX = 262_144  # some 40 MB; reading 28,000 passages, half as many took a tenth longer
CHARACTERS_MAX = 128  # of a piece that comes again; a longer one is a blob of data

T = TypeVar("T")


class Memo(dict[str, T]):
    """Maps a piece to what `make` makes of it, which is always the same.

    A dict, so that looking up what is known takes no step of Python; once full, it begins anew.
    """

    def __init__(self, make: Callable[[str], T]) -> None:
        self._make = make

    def __missing__(self, piece: str) -> T:
        made = self._make(piece)
        if len(piece) <= CHARACTERS_MAX:
            if len(self) >= PIECES_MAX:
                self.clear()
            self[piece] = made
        return made
