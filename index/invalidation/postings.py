"""An inverted index: which rows hold a number. Filling a row adds notes to it.

Emptying a row raises its turn. Notes of an earlier turn are skipped, and removed later in sweeps:
searching every list for them at once would take longer than all other work.

Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Turns = NDArray[np.uint32]  # by row, how often it was emptied

NOTE = np.dtype([("row", "<u4"), ("turn", "<u4")])
WEIGHTED_NOTE = np.dtype([("row", "<u4"), ("turn", "<u4"), ("weight", "<f4")])

# Lists swept for each emptied row: a list then holds some 50 outdated notes, a hundred numbers a
# row divided by this. Sweeping many lists at once takes half the time.
_LISTS_SWEPT_PER_ROW = 2
_LISTS_SWEPT_AT_ONCE = 64


class Postings:
    def __init__(self, kind: "np.dtype[Any]" = NOTE) -> None:
        self._kind = kind
        self._lists: dict[int, bytes | bytearray] = {}  # a list of one note shares its bytes
        self._unswept: list[int] = []
        self._emptied = 0  # rows, since lists were last swept

    def add(self, numbers: Iterable[int], notes: Iterable[bytes]) -> None:
        """Add a note for each number."""
        lists = self._lists
        for number, note in zip(numbers, notes, strict=False):  # `notes` may be endless
            notes_of_number = lists.setdefault(number, note)
            if isinstance(notes_of_number, bytearray):
                notes_of_number += note
            elif notes_of_number is not note:
                lists[number] = bytearray(notes_of_number + note)

    def rows(self, numbers: Iterable[int], turns: Turns) -> NDArray[np.uint32]:
        """The rows that hold any of the numbers; may contain duplicates."""
        lists = self._lists
        notes = b"".join([lists[number] for number in numbers if number in lists])
        rows: NDArray[np.uint32] = _live(np.frombuffer(notes, self._kind), turns)["row"]
        return rows

    def products(self, weights: Mapping[int, float], turns: Turns) -> NDArray[np.float64]:
        """For every row, the sum over the numbers of the products of both weights."""
        lists = self._lists
        lists_and_weights = [
            (lists[number], weight) for number, weight in weights.items() if number in lists
        ]
        if not lists_and_weights:
            return np.zeros(len(turns))
        notes = np.frombuffer(
            b"".join([note_list for note_list, _ in lists_and_weights]), self._kind
        )
        counts = [len(note_list) // self._kind.itemsize for note_list, _ in lists_and_weights]
        products = notes["weight"] * np.repeat([weight for _, weight in lists_and_weights], counts)
        is_live = turns[notes["row"]] == notes["turn"]
        sums: NDArray[np.float64] = np.bincount(
            notes["row"][is_live], products[is_live], len(turns)
        ).astype(np.float64, copy=False)
        return sums

    def sweep(self, turns: Turns) -> None:
        """Remove some outdated notes, once enough rows have been emptied."""
        self._emptied += 1
        if self._emptied * _LISTS_SWEPT_PER_ROW < _LISTS_SWEPT_AT_ONCE:
            return
        self._emptied = 0
        if not self._unswept:
            self._unswept = list(self._lists)
        numbers = [
            number for number in self._unswept[-_LISTS_SWEPT_AT_ONCE:] if number in self._lists
        ]
        del self._unswept[-_LISTS_SWEPT_AT_ONCE:]
        if numbers:
            self._sweep(numbers, turns)

    def _sweep(self, numbers: Sequence[int], turns: Turns) -> None:
        note_lists = [self._lists[number] for number in numbers]
        notes = np.frombuffer(b"".join(note_lists), self._kind)
        is_live = turns[notes["row"]] == notes["turn"]
        counts = np.array([len(note_list) // self._kind.itemsize for note_list in note_lists])
        starts = np.cumsum(counts) - counts
        live_counts = np.add.reduceat(is_live, starts, dtype=np.intp)
        for index in np.flatnonzero(live_counts < counts).tolist():
            note_list = slice(starts[index], starts[index] + counts[index])
            if live_counts[index]:
                self._lists[numbers[index]] = notes[note_list][is_live[note_list]].tobytes()
            else:
                del self._lists[numbers[index]]

    @property
    def size_bytes(self) -> int:
        """Size of the notes, without Python's overhead."""
        return sum(map(len, self._lists.values()))


def _live(notes: NDArray[Any], turns: Turns) -> NDArray[Any]:
    live: NDArray[Any] = notes[turns[notes["row"]] == notes["turn"]]
    return live
