"""Which rows hold a number: an inverted index that only grows when a row is filled.

A row that is emptied takes its next turn, and what was noted of an earlier one is read past, and
swept away by and by: looking for it in every list would take longer than all the rest.

Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Turns = NDArray[np.uint32]  # of each row, how often it was emptied

NOTE = np.dtype([("row", "<u4"), ("turn", "<u4")])
WEIGHED_NOTE = np.dtype([("row", "<u4"), ("turn", "<u4"), ("weight", "<f4")])

# Lists swept for each row that is emptied: a list then holds some 50 notes of what is no more, a
# hundred numbers a row divided by this. Many at once take half the time.
_SWEPT_LISTS = 2
_SWEPT_AT_ONCE = 64


class Postings:
    def __init__(self, kind: "np.dtype[Any]" = NOTE) -> None:
        self._kind = kind
        self._lists: dict[int, bytes | bytearray] = {}  # of one note there is no copy
        self._unswept: list[int] = []
        self._emptied = 0  # rows, since lists were last swept

    def add(self, numbers: Iterable[int], notes: Iterable[bytes]) -> None:
        """A note for each number."""
        lists = self._lists
        for number, note in zip(numbers, notes, strict=False):  # one note may do for all
            held = lists.setdefault(number, note)
            if isinstance(held, bytearray):
                held += note
            elif held is not note:
                lists[number] = bytearray(held + note)

    def rows(self, numbers: Iterable[int], turns: Turns) -> NDArray[np.uint32]:
        """The rows that hold any of the numbers; some may come twice."""
        lists = self._lists
        held = b"".join([lists[number] for number in numbers if number in lists])
        rows: NDArray[np.uint32] = _live(np.frombuffer(held, self._kind), turns)["row"]
        return rows

    def products(self, weights: Mapping[int, float], turns: Turns) -> NDArray[np.float64]:
        """For every row the sum over the numbers of both weights' products."""
        lists = self._lists
        held = [(lists[number], weight) for number, weight in weights.items() if number in lists]
        if not held:
            return np.zeros(len(turns))
        notes = np.frombuffer(b"".join([noted for noted, _ in held]), self._kind)
        counts = [len(noted) // self._kind.itemsize for noted, _ in held]
        products = notes["weight"] * np.repeat([weight for _, weight in held], counts)
        is_live = turns[notes["row"]] == notes["turn"]
        sums: NDArray[np.float64] = np.bincount(
            notes["row"][is_live], products[is_live], len(turns)
        ).astype(np.float64, copy=False)
        return sums

    def sweep(self, turns: Turns) -> None:
        """Forget some of what is no more, once enough rows have been emptied."""
        self._emptied += 1
        if self._emptied * _SWEPT_LISTS < _SWEPT_AT_ONCE:
            return
        self._emptied = 0
        if not self._unswept:
            self._unswept = list(self._lists)
        numbers = [one for one in self._unswept[-_SWEPT_AT_ONCE:] if one in self._lists]
        del self._unswept[-_SWEPT_AT_ONCE:]
        if numbers:
            self._sweep(numbers, turns)

    def _sweep(self, numbers: Sequence[int], turns: Turns) -> None:
        held = [self._lists[number] for number in numbers]
        notes = np.frombuffer(b"".join(held), self._kind)
        is_live = turns[notes["row"]] == notes["turn"]
        counts = np.array([len(noted) // self._kind.itemsize for noted in held])
        starts = np.cumsum(counts) - counts
        live_counts = np.add.reduceat(is_live, starts, dtype=np.intp)
        for place in np.flatnonzero(live_counts < counts).tolist():
            noted = slice(starts[place], starts[place] + counts[place])
            if live_counts[place]:
                self._lists[numbers[place]] = notes[noted][is_live[noted]].tobytes()
            else:
                del self._lists[numbers[place]]

    @property
    def size_bytes(self) -> int:
        """Of the notes, without what Python takes for keeping them."""
        return sum(map(len, self._lists.values()))


def _live(notes: NDArray[Any], turns: Turns) -> NDArray[Any]:
    live: NDArray[Any] = notes[turns[notes["row"]] == notes["turn"]]
    return live
